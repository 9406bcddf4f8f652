"""Every match that follows from a plan, made when it is asked for: who sits where, on which cards.

A tournament is a row of deals.  For each deal a group of bots is drawn (`draw`), and the same cards are
played once in every cyclic seating of the group, so that each bot holds each hand once.  The relative order
of the bots and the pass direction come from the deal's cell: one step on for each deal of a group, the
direction changing at every step and the order when the directions have gone round, so that the two are never
confounded.  For four bots at four seats the cell is the number of the deal.

What makes an id.  A deal belongs to its group: its cards come from the tournament's seed, the labels of the
group and how many deals the group had before, and from nothing else.  So a bot that is added or withdrawn
changes which deals are played, not what they are, and whatever of the new plan has been played before has the
id that it had.  With the same number of deals a newcomer takes part in its share of them, and the others lie
among those already played; `deals_to_keep` is the number at which nothing played is left out.

Fewer bots than seats: all of them sit down, and each in turn is given all the spare seats, on the same
cards.  For two bots at four seats that is one against three and three against one.  A gauntlet is this for
the hero and each bot of the field by turns.
"""

from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from itertools import permutations
from typing import Final

import msgspec
from msgspec import Struct

from referee.tournament.draw import order, place_among, rank
from referee.tournament.plan import Plan

DEALS_IN_BATCH: Final = 50


class Chair(Struct, frozen=True):
    """One player at a table: a bot, and which of its copies when it sits there more than once."""

    bot: str
    copy: int = 1


class PlannedMatch(Struct, frozen=True, kw_only=True):
    """One match to be played.

    `deal` is the number of its deal in this plan, from 0.  `seed` is what its cards come from; it is the
    lasting name of the deal, the same in every plan that has it.  `block` counts the ways to fill the seats,
    `rotation` the cyclic seatings.
    """

    id: str
    deal: int
    seed: str
    first_hand: int
    seats: tuple[Chair, ...]
    block: int
    rotation: int

    @property
    def labels(self) -> tuple[str, ...]:
        """The bot in each seat."""
        return tuple(chair.bot for chair in self.seats)


class Batch(Struct, frozen=True):
    """Matches that one set of processes may play: no two of them have the same deal.

    Processes may be kept from one batch to the next of the same `lane`, and never taken to another lane,
    where the same deals come again. In a batch, and in its lane, there is one process for each chair.
    """

    lane: int
    matches: tuple[PlannedMatch, ...]


class Schedule:
    """The matches of a plan, in deal order; none is kept, so a million deals cost nothing."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        rules = plan.match_rules
        self._active = plan.active
        self._rules = sha256(msgspec.json.encode(rules)).hexdigest()
        self._fingerprints = {bot.name: bot.fingerprint for bot in plan.bots}
        self._number = {name: number for number, name in enumerate(plan.labels)}
        self._players = rules.players
        cycle = rules.pass_cycle
        assert cycle is not None
        self._directions = len(cycle) if rules.pass_count else 1
        self._field = tuple(name for name in self._active if name != plan.hero)
        group_size = 2 if plan.hero else min(len(self._active), self._players)
        self._groups = order(len(self._active), self._players) if group_size == self._players else None
        self.blocks = group_size if group_size < self._players else 1
        self.lanes = self.blocks * self._players
        """How many matches each deal has: one in each lane."""

    def __len__(self) -> int:
        """How many matches there are."""
        return self.plan.deals * self.lanes

    def __iter__(self) -> Iterator[PlannedMatch]:
        """All matches, deal after deal."""
        for deal in range(self.plan.deals):
            yield from self.of_deal(deal)

    def of_deal(self, deal: int) -> tuple[PlannedMatch, ...]:
        """The matches of one deal, in the order of their lanes.  It may lie beyond the plan's last."""
        group, before = self.group(deal)
        seed = deal_seed(self.plan.seed, group, before)
        cell = self._cell(group, before)
        first_hand = 1 if self.plan.format == "match" else 1 + cell % self._directions
        return tuple(
            self._match(deal, seed, first_hand, chairs, block, rotation)
            for block in range(self.blocks)
            for chairs in (self._circle(group, block, cell // self._directions),)
            for rotation in range(self._players)
        )

    def group(self, deal: int) -> tuple[tuple[str, ...], int]:
        """The bots of one deal in the order in which they entered, and how many deals they had before."""
        if self.plan.hero:
            before, turn = divmod(deal, len(self._field))
            both = (self.plan.hero, self._field[turn])
            return tuple(sorted(both, key=self._number.__getitem__)), before
        if self._groups is None:
            return self._active, deal
        before, place = divmod(deal, len(self._groups))
        return tuple(self._active[bot] for bot in self._groups[place]), before

    def batches(self, deals: int = DEALS_IN_BATCH) -> Iterator[Batch]:
        """All matches in batches: for each run of so many deals, one lane after the other."""
        for start in range(0, self.plan.deals, deals):
            run = [self.of_deal(deal) for deal in range(start, min(start + deals, self.plan.deals))]
            for lane in range(self.lanes):
                yield Batch(lane, tuple(matches[lane] for matches in run))

    def _cell(self, group: tuple[str, ...], before: int) -> int:
        """Where a deal stands among the directions and orders: groups start apart and walk through all."""
        if self.plan.hero:
            return before + max(self._number[name] for name in group if name != self.plan.hero)
        return before + rank(tuple(self._number[name] for name in group))

    def _circle(self, group: tuple[str, ...], block: int, turn: int) -> tuple[Chair, ...]:
        """The chairs around the table: the first bot's stands, the others change places from turn to turn."""
        chairs = [Chair(name) for name in group]
        chairs += [Chair(group[block], copy) for copy in range(2, self._players - len(group) + 2)]
        orders = _orders(self._players)
        return (chairs[0], *(chairs[at] for at in orders[turn % len(orders)]))

    def _match(
        self, deal: int, seed: str, first_hand: int, circle: tuple[Chair, ...], block: int, rotation: int
    ) -> PlannedMatch:
        seats = circle[-rotation:] + circle[:-rotation]
        return PlannedMatch(
            id=self._id(seed, first_hand, seats),
            deal=deal,
            seed=seed,
            first_hand=first_hand,
            seats=seats,
            block=block,
            rotation=rotation,
        )

    def _id(self, seed: str, first_hand: int, seats: tuple[Chair, ...]) -> str:
        """What is played and by whom, hashed: the deal, the rules, and the label and content in each seat."""
        bots = (f"{chair.bot}={self._fingerprints[chair.bot]}" for chair in seats)
        return _hash(seed, str(first_hand), self._rules, *bots)


def deal_seed(seed: str, group: tuple[str, ...], before: int) -> str:
    """The seed of a deal; the tournament's seed cannot be found from it, nor one deal's from another's."""
    return _hash(seed, str(before), *sorted(group))


def deals_to_keep(old: Plan, new: Plan) -> int:
    """The least number of deals with which `new`, `old` with more bots, plays all that `old` planned.

    It is more than the newcomers' own deals would be in any other draw: pairs of old bots go on meeting at
    the newcomers' tables, and to have met as often as they have, a newcomer needs so many.
    """
    before, after = len(old.active), len(new.active)
    if old.hero:
        rounds, turn = divmod(old.deals - 1, before - 1)
        return rounds * (after - 1) + turn + 1
    seats = old.rules.players
    return old.deals if before < seats else place_among(old.deals - 1, before, after, seats) + 1


@lru_cache(maxsize=8)
def _orders(players: int) -> tuple[tuple[int, ...], ...]:
    """The orders in which all chairs but the first may follow each other around the table."""
    return tuple(permutations(range(1, players)))


def _hash(*parts: str) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()[:32]
