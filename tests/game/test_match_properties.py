"""Laws of a match under any rule set, with random legal players and with faulty ones."""

import copy
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from protocol.cards import CARD, DECK, NAMES, each, set_of
from protocol.codec import encode
from protocol.messages import Pass, PassRequest, Play, PlayRequest, Request, StartRequest
from protocol.presets import PRESETS, preset
from protocol.rules import Conditions, Rules
from referee.game.events import (
    RECOVERABLE,
    Answered,
    Ask,
    DealRecord,
    Dealt,
    Failed,
    FaultRecord,
    HandOverRecord,
    Input,
    MatchOverRecord,
    PassRecord,
    PlayRecord,
    Tell,
)
from referee.game.match import Match, OutOfTurn
from referee.game.rulebook import rulebook
from tests.game import plain
from tests.game.driver import Driver, at_random, give, header, play, ready, seen_cards
from tests.game.strategies import cards_of, conditions, rules

SETTINGS = settings(max_examples=150, deadline=None)


def dealt_from(house: Rules, number: int):
    """Deals for a whole match, some of them crowded."""
    return lambda hand: cards_of(rulebook(house), number * 1000 + hand)


# --- a sound match ---------------------------------------------------------------------------------------


@SETTINGS
@given(rules(max_hands=4), st.integers(1, 7), st.integers(0, 2**32))
def test_a_match_is_what_the_rulebook_says(house: Rules, first_hand: int, number: int):
    lot = Random(number)
    driver = Driver(header(house, first_hand=first_hand), dealt_from(house, number), watch=[1])
    driver.sit()
    driver.play(at_random(lot), lot)
    seats = range(house.players)
    end = driver.match.end
    assert end is not None
    totals = [0] * house.players
    overs = driver.records(HandOverRecord)
    assert len(overs) <= house.max_hands
    for hand, over in enumerate(overs, start=1):
        won, tricks_won = play_hand(driver, hand)
        points, moon = plain.score(house, won, tricks_won, totals, hand - 1)
        assert (list(over.points), over.moon) == (points, moon)
        totals = [total + more for total, more in zip(totals, points, strict=True)]
        assert list(over.scores) == totals
        reason = plain.end(house, totals, hand)
        assert (reason is not None) == (hand == len(overs))
    assert end == MatchOverRecord(reason, tuple(plain.ranks(totals)), tuple(totals), ())
    assert driver.records()[-1] == end
    assert all(driver.told(seat)[-1].ranks == end.ranks for seat in seats)
    check_what_was_asked(driver)


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset_is_played_to_its_end(name: str):
    house = preset(name)
    lot = Random(name)
    driver = Driver(header(house, seed=name))
    driver.sit()
    driver.play(at_random(lot))
    end = driver.match.end
    hands = len(driver.records(HandOverRecord))
    assert end.reason == plain.end(house, end.scores, hands)
    assert end.ranks == tuple(plain.ranks(end.scores))
    totals = [0] * house.players
    for hand, over in enumerate(driver.records(HandOverRecord), start=1):
        won, tricks_won = play_hand(driver, hand)
        assert (list(over.points), over.moon) == plain.score(house, won, tricks_won, totals, hand - 1)
        totals = list(over.scores)


def play_hand(driver: Driver, hand: int):
    """Follow the records of a finished hand; the cards and the number of tricks that each seat won."""
    house, first_hand = driver.match.header.rules, driver.match.header.first_hand
    seats = range(house.players)
    dealt = next(record for record in driver.records(DealRecord) if record.hand == hand)
    passes = [record for record in driver.records(PassRecord) if record.hand == hand]
    plays = [record for record in driver.records(PlayRecord) if record.hand == hand]
    assert dealt.dealer == (hand - 1) % house.players
    held = [set(cards) for cards in dealt.cards]
    receivers = {seat: plain.receiver(house, seat, hand, first_hand) for seat in seats}
    assert sorted(record.seat for record in passes) == [seat for seat in seats if receivers[seat] is not None]
    for record in passes:
        assert len(record.cards) == house.pass_count
        held[record.seat] -= set(record.cards)
    for record in passes:
        held[receivers[record.seat]] |= set(record.cards)
    return play_out(house, held, plays, dealt.dealer)


def play_out(house: Rules, held: list[set[str]], plays: list[PlayRecord], dealer: int):
    """Follow the plays of a hand by the plain rulebook; the cards and the number of tricks each seat won."""
    won: list[list[str]] = [[] for _ in held]
    tricks_won = [0] * len(held)
    lead = plain.opener(house, held, dealer)
    broken = not house.must_break
    for start in range(0, len(plays), house.players):
        trick: list[str] = []
        for place, record in enumerate(plays[start : start + house.players]):
            seat = (lead + place) % house.players
            number = start // house.players + 1
            assert (record.seat, record.trick) == (seat, number)
            hand = [card for card in plain.PACK if card in held[seat]]
            assert record.card in plain.legal(house, hand, trick, number, broken)
            trick.append(record.card)
            held[seat].remove(record.card)
            broken = plain.broken_after(house, broken, trick)
        lead = plain.winner(house, trick, lead)
        won[lead] += trick
        tricks_won[lead] += 1
    assert not any(held)
    return won, tricks_won


def check_what_was_asked(driver: Driver) -> None:
    """No seat was shown a card that it did not hold, give, get, or see played."""
    head = driver.match.header
    public: set[str] = set()
    hand = 0
    dealt: list[set[str]] = []
    got: list[set[str]] = []
    waiting = [iter(lines) for lines in driver.requests]
    for effect in driver.effects:
        event = getattr(effect, "event", None)
        if isinstance(event, DealRecord):
            hand, public = event.hand, set()
            dealt = [set(cards) for cards in event.cards]
            got = [set() for _ in dealt]
        elif isinstance(event, PassRecord):
            receiver = plain.receiver(head.rules, event.seat, hand, head.first_hand)
            got[receiver] |= set(event.cards)
        elif isinstance(event, PlayRecord):
            public.add(event.card)
        elif isinstance(effect, Ask):
            line = next(waiting[effect.seat])
            if b'"type":"pass"' in line:
                assert seen_cards(line) == dealt[effect.seat]
            elif b'"type":"play"' in line:
                assert seen_cards(line) <= dealt[effect.seat] | got[effect.seat] | public


@SETTINGS
@given(rules(max_hands=2, hand_size=9), st.integers(0, 2**32))
def test_the_same_inputs_give_the_same_effects(house: Rules, number: int):
    lot = Random(number)
    first = Driver(header(house), dealt_from(house, number))
    first.sit()
    first.play(at_random(lot), lot)
    second = Driver(header(house), dealt_from(house, number))
    second.begin()
    for what in [what for what in first.inputs if not isinstance(what, Dealt)]:
        second.put(what)
    assert second.effects == first.effects


# --- what a seat may see ---------------------------------------------------------------------------------


@SETTINGS
@given(rules(max_hands=1), st.integers(1, 6), st.integers(0, 2**32))
def test_a_request_does_not_depend_on_what_the_others_hold(house: Rules, first_hand: int, number: int):
    """Exchange cards that two others hold and have not shown: a third seat is sent the same bytes."""
    lot = Random(number)
    book = rulebook(house)
    assume(book.hand_size > 1)
    cards = cards_of(book, number)
    first = Driver(header(house, first_hand=first_hand), lambda _: cards, watch=[0, 1])
    first.sit()
    first.play(at_random(lot), lot)
    stop = lot.randrange(len(first.inputs))
    passed = {card for what in first.inputs for card in getattr(getattr(what, "message", None), "cards", ())}
    shown = passed | {getattr(getattr(what, "message", None), "card", None) for what in first.inputs[:stop]}
    seat, *others = lot.sample(range(house.players), house.players)
    hidden = {other: [card for card in each(cards[other]) if NAMES[card] not in shown] for other in others}
    one, two = others[:2]
    assume(hidden[one] and hidden[two])
    swapped = list(cards)
    for _ in range(lot.randrange(1, 4)):
        here, there = lot.choice(hidden[one]), lot.choice(hidden[two])
        alike = [card for card in hidden[two] if card // 13 == here // 13]
        if alike and lot.random() < 0.8:
            there = lot.choice(alike)
        swapped[one] ^= 1 << here | 1 << there
        swapped[two] ^= 1 << here | 1 << there
        hidden[one].remove(here)
        hidden[two].remove(there)
        if not (hidden[one] and hidden[two]):
            break
    again = Driver(header(house, first_hand=first_hand), lambda _: swapped, watch=[0, 1])
    again.begin()
    asked = []
    for what in first.inputs[:stop]:
        if isinstance(what, Dealt):
            continue
        assume(what.seat in again.asked)
        if what.seat == seat:
            asked.append(encode(again.match.request(seat, id=7, ms=1000)))
        again.put(what)
        assume(not again.records(FaultRecord))
    assert asked == first.requests[seat][: len(asked)]
    told = again.told(seat)
    assert told == first.told(seat)[: len(told)]


# --- what is not awaited ---------------------------------------------------------------------------------


def state(match: Match) -> dict[str, object]:
    """Everything a match is made of, copied."""
    values = dict(vars(match))
    hand = values.pop("hand", None)
    values["hand"] = hand and {name: getattr(hand, name) for name in type(hand).__slots__}
    del values["book"]
    values["hand"] = values["hand"] and {key: value for key, value in values["hand"].items() if key != "book"}
    return copy.deepcopy(values)


def junk(match: Match, lot: Random) -> list[Input]:
    """Inputs that the match does not await now."""
    seats = match.book.seats
    size, deck = match.book.hand_size, list(each(match.book.deck))
    due = match.awaiting
    wrong: list[Input] = []
    for seat in range(-1, seats + 1):
        if seat not in due:
            wrong += [ready(seat), give(seat, "2C 3C 4C"), play(seat, "2C"), Failed(seat, "timeout", "late")]
    for seat in due:
        messages: dict[type, Input] = {PassRequest: give(seat, "2C"), PlayRequest: play(seat, "2C")}
        asked = type(match.request(seat, id=7, ms=1000))
        wrong += [message for kind, message in messages.items() if kind is not asked]
        wrong += [ready(seat)] if asked in messages else []
    lot.shuffle(deck)
    sound = [sum(1 << card for card in deck[seat * size : (seat + 1) * size]) for seat in range(seats)]
    if not match.wants_deal:
        wrong.append(Dealt(tuple(sound)))
    wrong += [
        Dealt(()),
        Dealt(tuple(sound[1:])),
        Dealt((*sound, sound[0])),
        Dealt((sound[0], *sound[:-1])),
        Dealt((0, *sound[1:])),
        Dealt((sound[0] | sound[1], 0, *sound[2:])),
        Dealt((sound[0] & sound[0] - 1, *sound[1:])),
    ]
    outside = DECK & ~match.book.deck
    if outside:
        wrong.append(Dealt((sound[0] & sound[0] - 1 | outside & -outside, *sound[1:])))
    return wrong


@settings(max_examples=80, deadline=None)
@given(rules(max_hands=2, hand_size=6), conditions(), st.integers(0, 2**32))
def test_what_is_not_awaited_is_refused_and_changes_nothing(house: Rules, terms: Conditions, number: int):
    lot = Random(number)
    undisturbed = Driver(header(house, terms), dealt_from(house, number))
    undisturbed.begin()
    undisturbed.play(clumsy(lot, 0.1), lot)

    match = Match(header(house, terms))
    effects = match.begin()
    for what in [*undisturbed.inputs, None]:
        if lot.random() < 0.3 or what is None:
            before = state(match)
            for wrong in junk(match, lot):
                with pytest.raises(OutOfTurn):
                    match.advance(wrong)
            assert state(match) == before
        if what is not None:
            effects += match.advance(what)
    assert effects == undisturbed.effects
    assert match.end is not None


# --- faults ----------------------------------------------------------------------------------------------

KINDS = sorted(RECOVERABLE | {"exit", "closed", "too_long", "launch"})


def clumsy(lot: Random, often: float):
    """Legal answers, but every so often a fault of any kind, or an answer that is no legal one."""
    sound = at_random(lot)

    def choose(seat: int, request: Request) -> Answered | Failed:
        if lot.random() >= often * (0.2 if isinstance(request, StartRequest) else 1):
            return sound(seat, request)
        if lot.random() < 0.5:
            return Failed(seat, lot.choice(KINDS), "it broke", us=5)
        if isinstance(request, PassRequest):
            wrong = [
                request.cards[:1] * request.count,
                request.cards[: request.count - 1],
                tuple(plain.PACK[:3]),
            ]
            return Answered(seat, Pass(7, lot.choice(wrong)))
        if isinstance(request, PlayRequest):
            return Answered(seat, Play(7, lot.choice(plain.PACK)))
        return ready(seat, protocol=2)

    return choose


@settings(max_examples=250, deadline=None)
@given(rules(max_hands=4, hand_size=8), conditions(), st.integers(0, 2**32))
def test_a_match_ends_whatever_its_bots_do(house: Rules, terms: Conditions, number: int):
    lot = Random(number)
    driver = Driver(header(house, terms), dealt_from(house, number))
    driver.begin()
    driver.play(clumsy(lot, lot.choice([0.02, 0.1, 0.4, 1])), lot)
    end = driver.match.end
    assert end is not None
    assert driver.records()[-1] == end
    assert not driver.match.awaiting
    assert not driver.match.wants_deal
    assert len(driver.records(DealRecord)) <= house.max_hands
    faults = driver.records(FaultRecord)
    out = {record.seat for record in faults if record.then in ("retire", "match", "void")}
    assert end.retired == tuple(sorted(out))
    seats = range(house.players)
    sound = [seat for seat in seats if seat not in out]
    if end.reason == "void":
        assert end.ranks == ()
        assert not sound or not driver.records(DealRecord)
    else:
        assert end.ranks == tuple(plain.ranks(end.scores, sorted(out)))
        assert sound
        assert all(end.ranks[seat] <= len(sound) for seat in sound)
    for seat in seats:
        notices = [notice for notice in driver.told(seat) if type(notice).__name__ == "MatchOverNotice"]
        assert len(notices) == 1
        assert driver.told(seat)[-1] is notices[0]
    check_strikes(terms, faults)
    check_caretaker(driver, faults)
    check_scores(house, driver, faults)


def check_strikes(terms: Conditions, faults: list[FaultRecord]) -> None:
    """Each seat's first recoverable faults, as many as there are strikes, cost a substitution and no more."""
    for seat in {record.seat for record in faults}:
        mine = [record for record in faults if record.seat == seat and record.hand]
        recoverable = [record for record in mine if record.kind in RECOVERABLE]
        forgiven = recoverable[: terms.strikes]
        for record in mine:
            wanted = "substitute" if record in forgiven else terms.on_fault
            if record.kind == "launch" and wanted in ("substitute", "hand"):
                wanted = "retire"
            assert record.then == wanted


def check_caretaker(driver: Driver, faults: list[FaultRecord]) -> None:
    """The caretaker acts for a seat that has retired and for a request that was substituted, never else."""
    away: set[int] = set()
    substituted: dict[tuple[int, int], int] = {}
    for event in driver.records():
        if isinstance(event, FaultRecord):
            if event.then in ("retire", "match"):
                away.add(event.seat)
            elif event.then == "substitute":
                substituted[event.hand, event.seat] = event.trick
        elif isinstance(event, PlayRecord):
            stands_in = substituted.get((event.hand, event.seat)) == event.trick
            assert (event.by == "referee") == (event.seat in away or stands_in)
        elif isinstance(event, PassRecord):
            stands_in = substituted.get((event.hand, event.seat)) == 0
            assert (event.by == "referee") == (event.seat in away or stands_in)


def check_scores(house: Rules, driver: Driver, faults: list[FaultRecord]) -> None:
    """A hand ended by a fault costs its offenders the pack's sum; any other is scored as it was played."""
    totals = [0] * house.players
    pack = sum(plain.worth(house, card) for card in plain.deck(house))
    for over in driver.records(HandOverRecord):
        guilty = {record.seat for record in faults if record.hand == over.hand and record.then == "hand"}
        away = [record.seat for record in faults if record.hand <= over.hand and record.then == "retire"]
        if guilty:
            assert over.points == tuple(pack if seat in guilty else 0 for seat in range(house.players))
        else:
            won, tricks_won = play_hand(driver, over.hand)
            points, moon = plain.score(house, won, tricks_won, totals, over.hand - 1, away)
            assert (list(over.points), over.moon) == (points, moon)
        totals = [total + more for total, more in zip(totals, over.points, strict=True)]
        assert list(over.scores) == totals


def test_the_helpers_see_what_they_should():
    """A check that finds nothing would pass in silence."""
    line = b'{"type":"play","cards":["2C","QS"],"trick":[]}'
    assert seen_cards(line) == {"2C", "QS"}
    assert set_of(["2C", "QS"]) == 1 << CARD["2C"] | 1 << CARD["QS"]
    assert Tell(0, None) == Tell(0, None)  # type: ignore[arg-type]
