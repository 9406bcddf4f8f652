"""A spying bot: plays honestly, and at its first play request tries all that a bot must not be able to do.

    python spy.py [--tcp PORT] [--udp PORT] [--unix NAME] [--log FILE] [--secret FILE] [--target PID]
    python spy.py --list

When it has played the last card of the hand it writes one line to stderr, a JSON object with an entry for
each attempt: "GOT: evidence", "denied: why", or "broken: how" where the spy itself failed.
No attempt does harm: what is opened is not written to, what is read is not consumed, and what is left behind
is taken away at the end of input.

The options name what a test has set up: listeners on 127.0.0.1, an abstract socket, the match log (or
$ROGUE_LOG_HINT), a file that is none of the spy's business, a process to count among its rivals.
Rivals are the processes whose command line names spy.py or rogue.py, and those with the same parent.
Put their programs elsewhere than next to this one, for a bot may read its own directory.
Two copies at one table also try to meet.
"""

import json
import sys
from contextlib import suppress

import spy_files
import spy_rivals
import spy_world
from honest import Bot, Message, encode
from spy_kit import INHERITED, Scene, attempted
from spy_meet import MEETINGS

ATTEMPTS = {**spy_rivals.ATTEMPTS, **spy_files.ATTEMPTS, **spy_world.ATTEMPTS}


class Spy(Bot):
    """An honest bot with open eyes."""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__("spy")
        self.options = options
        self.start: Message = {}
        self.findings: dict[str, str] = {}
        self.scene: Scene | None = None

    def play(self) -> None:
        """Sit at the table until the referee closes our stdin."""
        for message in self.messages():
            if message["type"] == "start":
                self.start = message
            if message["type"] == "play" and self.scene is None:
                self.scene = Scene(self.options, self.start, message, INHERITED)
                self.spy(self.scene)
            if "id" in message:
                self.write(encode(self.answer(message)))
            if message["type"] == "play" and len(message["cards"]) == 1:
                self.report()
        self.report()

    def spy(self, scene: Scene) -> None:
        """Try everything."""
        for name, attempt in ATTEMPTS.items():
            self.findings[name] = attempted(attempt, scene)
        for name, meeting in MEETINGS.items():
            self.findings[name] = attempted(meeting.leave, scene)

    def report(self) -> None:
        """See who came to the meetings, and write the findings, once."""
        if not self.scene or not self.findings:
            return
        for name, meeting in MEETINGS.items():
            if self.findings[name].startswith("GOT"):
                self.findings[name] = attempted(meeting.look, self.scene)
        print(json.dumps(self.findings), file=sys.stderr, flush=True)
        self.findings = {}


def main(words: list[str]) -> None:
    """Read the command line, and play."""
    if words == ["--list"]:
        for name, attempt in ATTEMPTS.items():
            print(f"{name:28}{attempt.__doc__}")
        for name, meeting in MEETINGS.items():
            print(f"{name:28}Meet another copy: {meeting.__doc__}")
        return
    try:
        Spy(dict(zip(words[::2], words[1::2], strict=True))).play()
    finally:
        for meeting in MEETINGS.values():
            with suppress(OSError):
                meeting.clean()


if __name__ == "__main__":
    main(sys.argv[1:])
