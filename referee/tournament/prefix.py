"""Results as they arrive, in any order and some twice, put back into whole deals in deal order."""

from collections.abc import Iterator

from referee.tournament.results import DealSummary, Result


class Prefix:
    """The complete prefix of a tournament.  It keeps the deals in flight; those done are only counted."""

    def __init__(self, matches_per_deal: int, pack_points: int) -> None:
        self.deals = 0
        """How many deals are complete with no gap before them."""
        self._matches = matches_per_deal
        self._pack_points = pack_points
        self._waiting: dict[int, dict[str, Result]] = {}

    def add(self, deal: int, result: Result) -> Iterator[DealSummary]:
        """Take in a result of deal number `deal`, and give out the deals that it completes, in order.

        The first result of a match stands; a second is dropped, and so is one of a deal that is done.
        """
        if deal >= self.deals:
            self._waiting.setdefault(deal, {}).setdefault(result.match, result)
        while len(self._waiting.get(self.deals, ())) == self._matches:
            results = self._waiting.pop(self.deals)
            self.deals += 1
            yield DealSummary((results[match] for match in sorted(results)), self._pack_points)
