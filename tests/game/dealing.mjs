// The dealing algorithm once more, in another language and from spec/dealing.md alone.
// Reads vectors like those of spec/vectors/dealing.json on stdin and writes its own answer to each on stdout.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const sha = (...parts) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

const block = (seed, word, ...numbers) => {
  const tail = Buffer.alloc(4 * numbers.length);
  numbers.forEach((number, k) => tail.writeUInt32BE(number, 4 * k));
  return sha(sha(Buffer.from(seed, "utf8")), Buffer.from(word, "ascii"), tail);
};

const PACK = [..."CDSH"].flatMap((suit) => [..."23456789TJQKA"].map((rank) => rank + suit));
const sorted = (cards) => PACK.filter((card) => cards.includes(card));

function* stream(seed, hand) {
  for (let k = 0; ; k++) yield* block(seed, "deal", hand, k);
}

function deal({ seed, hand, players, removed }) {
  const deck = PACK.filter((card) => !removed.includes(card));
  const bytes = stream(seed, hand);
  for (let i = deck.length - 1; i > 0; i--) {
    const fair = Math.floor(256 / (i + 1)) * (i + 1);
    let byte;
    do byte = bytes.next().value; while (byte >= fair);
    const j = byte % (i + 1);
    [deck[i], deck[j]] = [deck[j], deck[i]];
  }
  const size = deck.length / players;
  return Array.from({ length: players }, (_, seat) => sorted(deck.slice(seat * size, (seat + 1) * size)));
}

const number = ({ seed, hand, seat }, trick) => BigInt("0x" + block(seed, "care", hand, seat, trick).toString("hex"));

function caretakerCard(vector) {
  const cards = sorted(vector.legal);
  return cards[Number(number(vector, vector.trick) % BigInt(cards.length))];
}

function caretakerPass(vector) {
  const left = sorted(vector.cards);
  let rest = number(vector, 0);
  const passed = [];
  for (let k = 0; k < vector.count; k++) {
    const many = BigInt(left.length);
    passed.push(...left.splice(Number(rest % many), 1));
    rest /= many;
  }
  return sorted(passed);
}

const answer = { deal, caretaker_card: caretakerCard, caretaker_pass: caretakerPass };
const { vectors } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(vectors.map((vector) => answer[vector.kind](vector))));
