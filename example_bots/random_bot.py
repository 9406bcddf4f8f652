"""A bot that passes and plays any legal cards.

With `--seed N` it is a function of the request: the same question always gets the same answer, whatever came
before it, so a match against it can be played again.
"""

from argparse import ArgumentParser
from random import Random

from protocol.bot import CardName, PassRequest, PlayRequest, run


class RandomBot:
    """Two choices and the generator that makes them."""

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed
        self.random = Random()

    def choose_pass(self, request: PassRequest) -> list[CardName]:
        return self.generator(request).sample(request.cards, request.count)

    def choose_play(self, request: PlayRequest) -> CardName:
        return self.generator(request).choice(request.legal)

    def generator(self, request: PassRequest | PlayRequest) -> Random:
        """The bot's own generator, or one that depends on the seed and on where in the match we are."""
        if self.seed is None:
            return self.random
        return Random(f"{self.seed} {request.hand} {request.seat} {request.cards}")


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, help="answer the same question always in the same way")
    bot = RandomBot(parser.parse_args().seed)
    run("random", bot.choose_pass, bot.choose_play)


if __name__ == "__main__":
    main()
