//! A Hearts bot that ducks: it tries to lose every trick, and throws its worst cards while it does.
//!
//! It reads one JSON object per line on stdin and answers each request with one line on stdout.
//! Each request carries all that the seat may know, so the bot remembers nothing between lines.
//!
//! Build it with `rustc --edition 2021 -O -o bot bot.rs`, run it with `./bot`.
//!
//! There is no JSON parser here: the referee promises compact ASCII, `type` first, and plain values,
//! `cards` and `legal` before anything nested. So the first `"key":` in a line is the one we mean.

use std::cmp::Reverse;
use std::io::{self, BufRead, BufReader, BufWriter, Write};

fn rank(card: &str) -> Option<usize> {
    "23456789TJQKA".find(&card[..1])
}

fn suit(card: &str) -> &str {
    &card[1..]
}

/// How gladly a card is thrown away: the queen of spades, then hearts from the top, then high cards.
fn danger(card: &str) -> (u8, Option<usize>) {
    let class = match card {
        "QS" => 2,
        _ if suit(card) == "H" => 1,
        _ => 0,
    };
    (class, rank(card))
}

/// How gladly a card is passed: the queen of spades, the spades above her, then high cards.
fn pass_danger(card: &str) -> (u8, Option<usize>) {
    let class = match card {
        "QS" => 2,
        "KS" | "AS" => 1,
        _ => 0,
    };
    (class, rank(card))
}

/// The text after `"key":`, up to the first of the characters in `end`.
fn field<'a>(line: &'a str, key: &str, end: &[char]) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("\"{key}\":"))?;
    rest.split(end).next()
}

fn number<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    field(line, key, &[',', '}'])
}

/// A list such as `["2C","QS"]`, as `2C` and `QS`.
fn cards<'a>(line: &'a str, key: &str) -> Option<Vec<&'a str>> {
    let list = field(line, key, &[']'])?;
    Some(list.split('"').filter(|piece| piece.len() == 2).collect())
}

fn choose_pass(line: &str) -> Option<Vec<&str>> {
    let mut hand = cards(line, "cards")?;
    hand.sort_by_key(|card| Reverse(pass_danger(card)));
    hand.truncate(number(line, "count")?.parse().ok()?);
    Some(hand)
}

fn choose_play(line: &str) -> Option<&str> {
    let legal = cards(line, "legal")?;
    let trick = cards(line, "trick")?;
    let Some(first) = trick.first() else {
        return legal.into_iter().min_by_key(|card| rank(card));
    };
    let led = suit(first);
    let best = trick
        .iter()
        .filter(|card| suit(card) == led)
        .map(|card| rank(card))
        .max()?;
    let losers = legal
        .iter()
        .filter(|card| suit(card) != led || rank(card) < best);
    losers
        .min_by_key(|card| Reverse(danger(card)))
        .or_else(|| legal.iter().min_by_key(|card| danger(card)))
        .copied()
}

/// The reply to a line, or `None`: notices, and types we do not know, get no answer.
fn answer(line: &str) -> Option<String> {
    let id = number(line, "id")?;
    match field(line, "type", &[','])? {
        "\"start\"" => Some(format!(
            r#"{{"type":"ready","id":{id},"name":"duck-rust","version":"1","tables":64}}"#
        )),
        "\"pass\"" => {
            let cards = choose_pass(line)?;
            Some(format!(r#"{{"type":"pass","id":{id},"cards":{cards:?}}}"#))
        }
        "\"play\"" => {
            let card = choose_play(line)?;
            Some(format!(r#"{{"type":"play","id":{id},"card":"{card}"}}"#))
        }
        _ => None,
    }
}

fn main() -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut output = BufWriter::new(io::stdout().lock());
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        if let Some(reply) = answer(line.trim_end()) {
            writeln!(output, "{reply}")?;
        }
        line.clear();
        // The next read may wait, and nobody may be left waiting for what we have already answered.
        if !input.buffer().contains(&b'\n') {
            output.flush()?;
        }
    }
    Ok(())
}
