"""OpenSpiel's parameters as rules of ours, and a hand of ours played beside one of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

from protocol.cards import CardSet
from protocol.rules import Rules, rules_from
from referee.game.rulebook import Rulebook


def rules_of(params: Mapping[str, bool]) -> Rules:
    """The rules that an OpenSpiel game with these parameters plays by."""
    fields: dict[str, Any] = {
        "pass_count": 3 if params["pass_cards"] else 0,
        "first_trick": "strict" if params["no_pts_on_first_trick"] else "free",
        "opening": "any_club" if params["can_lead_any_club"] else "lowest_club",
        "jack_points": -10 if params["jd_bonus"] else 0,
        "no_trick_bonus": -5 if params["avoid_all_tricks_bonus"] else 0,
        "must_break": params["must_break_hearts"],
        "queen_breaks": params["qs_breaks_hearts"],
        "forced_lead": "points" if params["can_lead_hearts_instead_of_qs"] else "hearts",
        "target": None,
        "max_hands": 1,
        "tie": "shared",
    }
    return rules_from(fields)


def after_pass(
    book: Rulebook, dealt: Sequence[CardSet], passes: Sequence[CardSet] | None, direction: str
) -> list[CardSet]:
    """The hands once each seat has passed these cards in that direction."""
    held = list(dealt)
    for seat, cards in enumerate(passes or ()):
        held[seat] &= ~cards
    for seat, cards in enumerate(passes or ()):
        held[book.receiver(seat, direction)] |= cards  # type: ignore[arg-type]
    return held
