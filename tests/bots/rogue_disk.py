"""Rogue modes that misuse the working directory: they fill it, or leave in it what is hard to remove."""

import os
from contextlib import suppress

from misdeed import Catalogue, Turn, offspring

DISK = Catalogue()

MB = 1_000_000


def scratch() -> list[str]:
    """The working directory and $TMPDIR, unless they are somebody's sources or the whole machine's."""
    from pathlib import Path

    places = {Path.cwd(), Path(os.environ.get("TMPDIR", ".")).resolve()}
    sources = ("rogue.py", "pyproject.toml", ".git")
    return [
        str(place)
        for place in places
        if not any((place / name).exists() for name in sources) and place not in (Path("/"), Path.home())
    ]


@DISK.does
def fill_disk(turn: Turn) -> None:
    """Plays honestly while a child writes files of 100 MB to its scratch, N MB (2,000) at most."""
    limit_mb = turn.argument or 2_000

    def fill() -> None:
        left = limit_mb * MB
        for place in scratch():
            for number in range(10_000):
                before = left
                with suppress(OSError):  # the file is as large as it may be, or the disk is full
                    file = os.open(f"{place}/rogue-{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                    for _ in range(min(100, left // MB)):
                        left -= os.write(file, b"d" * MB)
                    os.close(file)
                if left == before:
                    break

    offspring(fill)


@DISK.does
def awkward_scratch(_: Turn) -> None:
    """Plays honestly while a child leaves locked, looping, nameless and 2,000 deep things in its scratch."""

    def litter() -> None:
        from pathlib import Path

        for place in scratch()[:1]:
            os.chdir(place)
            Path("root-of-all").symlink_to("/")
            Path("loop").symlink_to("loop")
            os.mkfifo("pipe")
            Path(os.fsdecode(b"\xff\n\\ .txt")).write_text("a name that is not UTF-8")
            Path("locked/inside").mkdir(parents=True)
            Path("locked").chmod(0)
            for _ in range(2_000):
                Path("deeper").mkdir()
                os.chdir("deeper")

    offspring(litter)
