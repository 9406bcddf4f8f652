"""The rule sets that people play, by name: what each sets apart from the standard game.  [rules 9]"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

from protocol.rules import Rules, RulesError, rules_from

PRESETS: Final[dict[str, dict[str, Any]]] = {
    "standard": {},
    "black_lady": {},
    "complete": {"forced_lead": "points"},
    "parlour": {"breaks": "discard"},
    "nowplay": {"breaks": "discard", "first_trick": "strict_heart", "tie": "shared"},
    "household": {"breaks": "discard", "tie": "shared"},
    "microsoft": {"tie": "shared"},
    "pagat": {"first_trick": "free", "moon": "safe", "tie": "shared"},
    "bicycle": {"breaks": "discard", "queen_breaks": True, "tie": "shared"},
    "openspiel": {"queen_breaks": True, "target": None, "max_hands": 1, "tie": "shared"},
    "first_trick_blood": {"first_trick": "free"},
    "queen_breaks": {"queen_breaks": True},
    "omnibus": {"jack_points": -10},
    "omnibus_full": {"jack_points": -10, "ten_clubs_doubles": True},
    "spot": {"heart_points": "pips", "queen_points": 25, "target": 500, "moon": "subtract", "sun": "double"},
    "three": {"players": 3},
    "five": {"players": 5},
    "six": {"players": 6},
    "black_maria": {
        "players": 3,
        "removed": ("2C",),
        "pass_cycle": ("right",),
        "opening": "eldest",
        "first_trick": "free",
        "must_break": False,
        "king_points": 10,
        "ace_points": 7,
        "moon": "off",
    },
    "duplicate": {"target": None, "max_hands": 1, "tie": "shared"},
    "short": {"target": 50},
}


def preset(name: str, changes: Mapping[str, Any] | None = None) -> Rules:
    """The rules of a preset, with `changes` on top.  [rules 9]

    Raises RulesError for a name or a change that cannot be.
    """
    if name not in PRESETS:
        close = get_close_matches(name, PRESETS, 1)
        hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(PRESETS)}."
        raise RulesError(f"There is no rule set {name!r}; {hint}")
    return rules_from(PRESETS[name] | dict(changes or {}))
