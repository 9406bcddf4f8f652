#!/usr/bin/env node
// A Hearts bot that ducks: it tries to lose every trick, and throws its worst cards while it does.
//
// It reads one JSON object per line on stdin and answers each request with one line on stdout.
// Each request carries all that the seat may know, so the bot remembers nothing between lines.
//
// Run it with `node bot.js`. No packages are needed.

"use strict";

const readline = require("node:readline");

const RANKS = "23456789TJQKA";
const rank = (card) => RANKS.indexOf(card[0]);
const suit = (card) => card[1];

/** How gladly a card is thrown away: the queen of spades, then hearts from the top, then high cards. */
function danger(card) {
  if (card === "QS") return 200;
  return suit(card) === "H" ? 100 + rank(card) : rank(card);
}

/** How gladly a card is passed: the queen of spades, the spades above her, then high cards. */
function passDanger(card) {
  if (card === "QS") return 200;
  return card === "AS" || card === "KS" ? 100 + rank(card) : rank(card);
}

const least = (cards, measure) => cards.reduce((a, b) => (measure(b) < measure(a) ? b : a));
const most = (cards, measure) => cards.reduce((a, b) => (measure(b) > measure(a) ? b : a));

function choosePass({ cards, count }) {
  return [...cards].sort((a, b) => passDanger(b) - passDanger(a)).slice(0, count);
}

function choosePlay({ legal, trick }) {
  if (trick.length === 0) return least(legal, rank);

  const led = suit(trick[0]);
  const best = most(trick.filter((card) => suit(card) === led), rank);
  const losers = legal.filter((card) => suit(card) !== led || rank(card) < rank(best));
  return losers.length > 0 ? most(losers, danger) : least(legal, danger);
}

/** The reply to a message, or null: notices, and types we do not know, get no answer. */
function answer(message) {
  const { type, id } = message;
  switch (type) {
    case "start":
      return { type: "ready", id, name: "duck-js", version: "1", tables: 64 };
    case "pass":
      return { type: "pass", id, cards: choosePass(message) };
    case "play":
      return { type: "play", id, card: choosePlay(message) };
    default:
      return null;
  }
}

// When stdin closes, nothing is left to wait for and node exits with status 0.
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const reply = answer(JSON.parse(line));
  if (reply !== null) process.stdout.write(JSON.stringify(reply) + "\n");
});
