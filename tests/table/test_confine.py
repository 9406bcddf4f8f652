"""What surrounds a bot at every level of confinement: what it finds, what it may use, what is left of it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from protocol.rules import conditions_from
from referee.errors import ArenaError
from referee.game.events import SeatRecord
from referee.table import bubblewrap, confine
from referee.table.confine import Confinement
from referee.table.keep import landlock
from referee.table.keep.launch import Exited, Failed, Launch, Started

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines")

ROOT = Path(__file__).parents[2]
FOUND = bubblewrap.find()
NO_BWRAP = pytest.mark.skipif(isinstance(FOUND, str), reason=str(FOUND))
NO_LANDLOCK = pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")
LEVELS = ["none", pytest.param("auto", marks=NO_LANDLOCK), pytest.param("bwrap", marks=NO_BWRAP)]
CONFINED = LEVELS[1:]
every_level = pytest.mark.parametrize("level", LEVELS)

Start = Callable[..., Any]


class Cell:
    """A confinement at one level, a keeper, and a directory for bots."""

    def __init__(self, bench, folder: Path, level: str, **conditions: Any) -> None:
        self.bench = bench
        self.folder = folder
        self.confinement = Confinement(
            conditions_from({"sandbox": level, **conditions}), private=[folder / "log"]
        )

    def write(self, name: str, text: str, mode: int = 0o755) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        path.chmod(mode)
        return path

    def launch(self, *command: str) -> Launch:
        seat = SeatRecord(
            seat=0, name="bot", command=command, cwd=str(self.folder), files=(str(self.folder),)
        )
        return self.confinement.launch(seat)

    def start(self, *command: str):
        spawned = self.bench.keeper.spawn(self.launch(*command))
        self.bench.spawned.append(spawned)
        return spawned

    def python(self, code: str):
        """A script of this text, run by the arena's interpreter."""
        return self.start(sys.executable, "-S", "-E", str(self.write("bot.py", code)))

    def hears(self, code: str) -> str:
        """All that a script prints, the traceback that ends it included."""
        spawned = self.python(code)
        said = self.bench.read_all(spawned.stdout) + self.bench.read_all(spawned.stderr)
        return said.decode()


@pytest.fixture
def cell(bench, tmp_path: Path) -> Iterator[Callable[..., Cell]]:
    cells: list[Cell] = []
    place = tmp_path / "bots"
    place.mkdir()

    def make(level: str, **conditions: Any) -> Cell:
        cells.append(Cell(bench, place, level, **conditions))
        cells[-1].confinement.__enter__()
        return cells[-1]

    yield make
    for each in cells:
        each.confinement.__exit__(None, None, None)


# --- what it finds ---------------------------------------------------------------------------------------


@every_level
def test_it_finds_a_clean_world(cell, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    heard = cell(level).hears("""
        import os
        print(sorted(os.environ))
        print(os.listdir("."))
        open("file", "w").write("mine")
        home = os.environ["HOME"]
        print(open(home + "/file").read(), home == os.environ["TMPDIR"] == os.getcwd())
        print(os.getsid(0) <= os.getpid(), sorted(os.listdir("/proc/self/fd"))[:3])
        try:
            os.fstat(4)
        except OSError:
            print("nothing else open")
    """)
    names, listing, mine, session, rest = heard.splitlines()
    assert set(eval(names)) - {"LC_CTYPE", "PWD"} == {"HOME", "LANG", "PATH", "TMPDIR"}
    assert (mine, session, rest) == ("mine True", "True ['0', '1', '2']", "nothing else open")
    # In bubblewrap's /tmp the way to the bot's own files can be seen.
    assert listing == "[]" or level == "bwrap"


@every_level
def test_a_new_process_finds_nothing_of_the_one_before(cell, level: str) -> None:
    here = cell(level)
    path = here.write("bot.sh", "#!/bin/sh\nls | grep left; echo > left; echo done\n")
    launch = here.launch(str(path))
    for _ in range(2):
        spawned = here.bench.keeper.spawn(launch)
        here.bench.spawned.append(spawned)
        assert here.bench.read_all(spawned.stdout) == b"done\n"


@every_level
@pytest.mark.parametrize(
    "language",
    [
        pytest.param(("sh", "-c", "echo through"), id="sh"),
        pytest.param(("perl", "-e", 'print "through\n"'), id="perl"),
        pytest.param(("node", "-e", "console.log('through')"), id="node"),
        pytest.param((sys.executable, "-c", "import ssl, json; print('through')"), id="python"),
        pytest.param(("java", "{}/Hello.java"), id="java"),
        pytest.param(("{}/hello",), id="c"),
    ],
)
def test_languages_run(cell, level: str, language: tuple[str, ...]) -> None:
    here = cell(level)
    if shutil.which(language[0]) is None and not language[0].startswith("{"):
        pytest.skip(f"{language[0]} is not installed")
    if language[0] == "{}/hello":
        source = here.write("hello.c", '#include <stdio.h>\nint main(void) { puts("through"); }\n')
        if not shutil.which("cc"):
            pytest.skip("cc is not installed")
        subprocess.run(["cc", "-o", here.folder / "hello", source], check=True)
    here.write(
        "Hello.java",
        'class Hello { public static void main(String[] a) { System.out.println("through"); } }',
    )
    if language[0] == "java" and not shutil.which("javac"):
        pytest.skip("only a JDK runs sources")
    spawned = here.start(*(word.format(here.folder) if "{}" in word else word for word in language))
    heard = here.bench.read_all(spawned.stdout)
    assert heard == b"through\n", here.bench.read_all(spawned.stderr)


@every_level
def test_paths_of_its_command_are_found_from_elsewhere(cell, level: str) -> None:
    here = cell(level)
    here.write("data.txt", "known\n")
    spawned = here.start("sh", "-c", 'cat "$1" "${2#--book=}"; ls "$0"', ".", "data.txt", "--book=data.txt")
    assert here.bench.read_all(spawned.stdout) == b"known\nknown\ndata.txt\n"


@every_level
def test_a_module_beside_it_is_found(cell, level: str) -> None:
    here = cell(level)
    here.write("helper.py", "WORD = 'helped'\n")
    here.write("package/__init__.py", "from package.inner import INNER\n")
    here.write("package/inner.py", "INNER = 'within'\n")
    assert here.hears("import helper, package; print(helper.WORD, package.INNER)") == "helped within\n"


@every_level
@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(None, "does not exist", id="missing"),
        pytest.param("mkdir", "is a directory", id="directory"),
        pytest.param(("echo hello\n", 0o755), "neither a program", id="no-shebang"),
        pytest.param(("#!/no/such/thing\n", 0o755), "interpreter that does not exist", id="bad-interpreter"),
        pytest.param(("#!/bin/sh\r\n", 0o755), "Windows line ends", id="windows-line-ends"),
        pytest.param(("#!/bin/sh\n", 0o644), "not executable", id="not-executable"),
        pytest.param(("", 0o755), "is empty", id="empty"),
    ],
)
def test_what_cannot_be_started_is_told_in_words(cell, level: str, make: Any, words: str) -> None:
    here = cell(level)
    path = here.folder / "bot"
    if make == "mkdir":
        path.mkdir()
    elif make:
        here.write("bot", *make)
    failed = here.bench.wait(Failed, here.start(str(path)).key)
    assert words in failed.why


@NO_BWRAP
def test_a_nul_is_told_in_words_inside_too(cell) -> None:
    here = cell("bwrap")
    assert "NUL" in here.bench.wait(Failed, here.start("/bin/echo", "a\0b").key).why


def test_a_level_that_is_not_offered_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "find", lambda: "bubblewrap is not installed")
    with pytest.raises(ArenaError, match=r"not possible: bubblewrap is not installed; `arena doctor`"):
        Confinement(conditions_from({"sandbox": "bwrap"})).__enter__()


def test_the_level_is_said() -> None:
    assert confine.describe("none").startswith("none")
    assert "Landlock" in confine.describe("auto")


# --- its own files and nobody else's ---------------------------------------------------------------------


@pytest.mark.parametrize("level", CONFINED)
def test_the_log_beside_it_cannot_be_read(cell, level: str) -> None:
    here = cell(level)
    here.write("log", '{"type":"match"}\n')
    here.write("old.jsonl", '{"type":"match"}\n')
    here.write("old.rival.stderr.txt", "my cards")
    here.write(".ssh/id", "key")
    here.write("known.txt", "mine")
    heard = here.hears(f"""
        for name in ("log", "old.jsonl", "old.rival.stderr.txt", ".ssh/id", "known.txt"):
            try:
                print(name, len(open({str(here.folder)!r} + "/" + name).read()))
            except OSError as error:
                print(name, "no")
    """)
    assert heard.splitlines() == [
        "log no",
        "old.jsonl no",
        "old.rival.stderr.txt no",
        ".ssh/id no",
        "known.txt 4",
    ]


@pytest.mark.parametrize("level", CONFINED)
def test_a_large_directory_with_a_log_in_it(cell, level: str) -> None:
    here = cell(level)
    here.write("old.jsonl", "")
    for number in range(2_000):
        here.write(f"data-{number}", "x")
    where = str(here.folder / "data-")
    assert here.hears(f"print(sum(len(open({where!r} + str(n)).read()) for n in range(2_000)))") == "2000\n"


@pytest.mark.parametrize("level", CONFINED)
def test_a_log_made_later_cannot_be_read_either(cell, level: str) -> None:
    here = cell(level)
    spawned = here.python(f"""
        input()
        try:
            print(open({str(here.folder / "log")!r}).read())
        except OSError:
            print("no")
    """)
    here.bench.wait(Started, spawned.key)
    here.write("log", "all hands")
    os.write(spawned.stdin, b"go\n")
    assert here.bench.read_all(spawned.stdout) == b"no\n"


@pytest.mark.parametrize("level", CONFINED)
def test_a_rival_in_the_same_directory_cannot_be_read(bench, tmp_path: Path, level: str) -> None:
    """A bot is what its text names, but never what is another's."""
    (tmp_path / "helper.py").write_text("HELP = 1\n")
    (tmp_path / "rival.py").write_text("SECRET = 1\n")
    (tmp_path / "other.py").write_text("NOT_NAMED = 1\n")
    (tmp_path / "bot.py").write_text(
        "import sys\nimport helper\nprint('helped')\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n        print(open(name).read())\n"
        "    except OSError:\n        print('no')\n"
        "try:\n    open(__file__.replace('bot.py', 'ot' 'her.py'))\n"
        "except OSError:\n    print('no')\n"
        "# rival rival.py\n"
    )
    seats = [
        SeatRecord(
            seat=seat,
            name=name,
            command=(sys.executable, "-S", "-E", str(tmp_path / name), *words),
            cwd=str(tmp_path),
            files=(str(tmp_path),),
        )
        for seat, (name, words) in enumerate([("bot.py", [str(tmp_path / "rival.py")]), ("rival.py", [])])
    ]
    with Confinement(conditions_from({"sandbox": level}), seats) as confinement:
        spawned = bench.keeper.spawn(confinement.launch(seats[0]))
        bench.spawned.append(spawned)
        heard = bench.read_all(spawned.stdout)
        assert heard == b"helped\nno\nno\n", bench.read_all(spawned.stderr)


# --- what it may use -------------------------------------------------------------------------------------

FORK_AND_FILL = """
import os, time
for number in range(4):
    if os.fork() == 0:
        held = bytearray(30_000_000)
        for place in range(0, len(held), 4096):
            held[place] = 1
        time.sleep(60)
time.sleep(60)
"""

FILES_IN_MEMORY = """
import os, time
files = [os.memfd_create("") for _ in range(5)]
for file in files:
    os.write(file, b"x" * 40_000_000)
time.sleep(60)
"""
WITHOUT_ITS_FIRST_THREAD = """
import ctypes, os, threading, time
def work():
    while state() != "Z":
        pass
{work}
    time.sleep(60)
def state():
    return open("/proc/self/stat").read().rpartition(")")[2].split()[0]
threading.Thread(target=work).start()
ctypes.CDLL(None).syscall({{"x86_64": 60, "aarch64": 93}}[os.uname().machine], 0)
"""


def without_its_first_thread(work: str) -> str:
    return WITHOUT_ITS_FIRST_THREAD.format(work=textwrap.indent(textwrap.dedent(work), "    "))


@every_level
@pytest.mark.parametrize(
    "code",
    [
        pytest.param("held = b'x' * 200_000_000\nimport time; time.sleep(60)", id="one-process"),
        pytest.param(FORK_AND_FILL, id="four-processes"),
        pytest.param(FILES_IN_MEMORY, id="files-in-memory"),
        pytest.param(without_its_first_thread("held = b'x' * 200_000_000"), id="without-its-first-thread"),
    ],
)
def test_memory(cell, level: str, code: str) -> None:
    here = cell(level, memory_mb=96)
    exited = here.bench.wait(Exited, here.python(code).key)
    assert (exited.status, exited.why) == (-signal.SIGKILL, "it used more than 96 MB of memory")


@pytest.mark.parametrize("level", CONFINED)
def test_it_cannot_hide_what_it_holds(cell, level: str) -> None:
    """What is not dumpable is root's in /proc; files in memory are seen by descriptors alone."""
    here = cell(level, memory_mb=96)
    code = "import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)" + FILES_IN_MEMORY
    exited = here.bench.wait(Exited, here.python(code).key)
    assert exited.why == "it used more than 96 MB of memory"


@every_level
def test_memory_that_processes_share_counts_once(cell, level: str) -> None:
    here = cell(level, memory_mb=120)
    exited = here.bench.wait(
        Exited,
        here.python("""
            import os, time
            held = b"x" * 60_000_000
            pids = []
            for _ in range(4):
                pids.append(os.fork())
                if not pids[-1]:
                    time.sleep(0.8)
                    os._exit(0)
            for pid in pids:
                os.waitpid(pid, 0)
        """).key,
    )
    assert (exited.status, exited.why) == (0, "")


@every_level
def test_a_file_in_memory_counts_once(cell, level: str) -> None:
    """It is open in two processes, and mapped into both."""
    here = cell(level, memory_mb=120)
    exited = here.bench.wait(
        Exited,
        here.python("""
            import mmap, os, time
            file = os.memfd_create("")
            os.write(file, b"x" * 60_000_000)
            again = os.dup(file)
            child = os.fork()
            held = mmap.mmap(file, 60_000_000)
            assert held[::4096] == b"x" * len(range(0, 60_000_000, 4096))
            time.sleep(0.8)
            if child:
                os.waitpid(child, 0)
        """).key,
    )
    assert (exited.status, exited.why) == (0, "")
    assert exited.peak_kb > 60_000


@every_level
def test_the_size_of_a_file(cell, level: str) -> None:
    heard = cell(level, file_mb=1).hears("""
        import signal
        file = open("large", "wb", buffering=0)
        try:
            for _ in range(3):
                print(file.write(b"x" * 1_000_000), flush=True)
        except OSError as error:
            print(error.strerror)
    """)
    assert heard.splitlines()[0] == "1000000"
    assert "File too large" in heard


@pytest.mark.parametrize("level", LEVELS[:2])
@pytest.mark.parametrize("kind", ["files", "nameless"])
def test_the_size_of_the_scratch_is_watched(cell, level: str, kind: str) -> None:
    here = cell(level, scratch_mb=5)
    exited = here.bench.wait(
        Exited,
        here.python(f"""
            import os, time
            files = []
            for number in range(20):
                files.append(open(f"file-{{number}}", "wb", buffering=0))
                files[-1].write(b"x" * 1_000_000)
                if {kind!r} == "nameless":
                    os.unlink(f"file-{{number}}")
            time.sleep(60)
        """).key,
    )
    assert exited.why == "it put more than 5 MB into its scratch directory"


@every_level
@pytest.mark.parametrize("place", [".", "/dev/shm"])
def test_the_number_of_files_is_watched(cell, level: str, place: str) -> None:
    if place != "." and level != "bwrap":
        pytest.skip("only inside it has one of its own")
    here = cell(level)
    exited = here.bench.wait(
        Exited,
        here.python(f"""
            import time
            for number in range(10_050):
                open(f"{place}/file-{{number}}", "wb").close()
            time.sleep(60)
        """).key,
    )
    assert exited.why == "it made more than 10000 files in its scratch directory"


@NO_BWRAP
def test_as_many_files_as_are_allowed_inside(cell) -> None:
    """Those of the machine, from which a sandbox begins, are not counted."""
    heard = cell("bwrap").hears("""
        import time
        for number in range(9_000):
            open(f"file-{number}", "wb").close()
        time.sleep(0.6)
        print("here")
    """)
    assert heard == "here\n"


@pytest.mark.parametrize("level", LEVELS[:2])
def test_what_another_thread_has_open_is_seen_when_the_first_has_ended(cell, level: str) -> None:
    here = cell(level, scratch_mb=5)
    code = without_its_first_thread("""
        files = [open("file", "wb", buffering=0)]
        os.unlink("file")
        files[0].write(b"x" * 20_000_000)
    """)
    exited = here.bench.wait(Exited, here.python(code).key)
    assert exited.why == "it put more than 5 MB into its scratch directory"


@NO_BWRAP
@pytest.mark.parametrize("place", ["/tmp", "/dev/shm", "/dev", "/"])
def test_the_size_of_the_scratch_is_fixed_inside(cell, place: str) -> None:
    heard = cell("bwrap", scratch_mb=5, file_mb=0).hears(f"""
        try:
            with open("{place}/file", "wb", buffering=0) as file:
                for _ in range(100):
                    file.write(b"x" * 1_000_000)
        except OSError as error:
            print(error.strerror)
    """)
    assert heard in ("No space left on device\n", "Read-only file system\n", "Permission denied\n")


@every_level
def test_open_files(cell, level: str) -> None:
    heard = cell(level, open_files=20).hears("""
        files = []
        try:
            while True:
                files.append(open("/dev/null"))
        except OSError as error:
            print(len(files) < 20, error.strerror)
    """)
    assert heard == "True Too many open files\n"


@pytest.mark.parametrize("level", CONFINED)
def test_processes_where_they_can_be_counted(cell, level: str) -> None:
    if level == "auto" and os.geteuid():
        pytest.skip("all processes of an ordinary user count together")
    heard = cell(level, processes=20).hears("""
        import os, time
        started = 0
        try:
            while started < 100:
                if os.fork() == 0:
                    time.sleep(60)
                started += 1
        except OSError as error:
            print(started < 21, error.strerror, flush=True)
        os.kill(0, 9)
    """)
    assert heard == "True Resource temporarily unavailable\n"


@every_level
def test_no_limits_where_none_are_wanted(cell, level: str) -> None:
    none = dict.fromkeys(("memory_mb", "scratch_mb", "file_mb", "processes", "open_files"), 0)
    assert cell(level, **none).hears("print(len(b'x' * 300_000_000))") == "300000000\n"


@every_level
def test_what_was_used_is_measured(cell, level: str) -> None:
    """Half a second of work in a child that is not waited for, and 80 MB for a second."""
    here = cell(level)
    exited = here.bench.wait(
        Exited,
        here.python("""
            import os, time
            done, tell = os.pipe()
            if os.fork() == 0:
                while time.process_time() < 0.5:
                    pass
                os.write(tell, b"x")
                time.sleep(60)
            held = b"x" * 80_000_000
            os.read(done, 1)
            time.sleep(0.6)
        """).key,
    )
    assert exited.cpu_ms >= 480
    assert 80_000 < exited.peak_kb < 160_000


@every_level
def test_a_closed_stdout_is_seen_while_it_lives(cell, level: str) -> None:
    here = cell(level)
    spawned = here.python("""
        import os
        os.write(1, b"a word")
        os.close(1)
        os.write(2, os.read(0, 100))
    """)
    assert here.bench.read_all(spawned.stdout) == b"a word"
    os.write(spawned.stdin, b"alive")
    assert here.bench.read_all(spawned.stderr) == b"alive"


@every_level
@pytest.mark.parametrize(("end", "status"), [("sys.exit(3)", 3), ("os.kill(os.getpid(), 11)", -11)])
def test_how_it_ended(cell, level: str, end: str, status: int) -> None:
    here = cell(level)
    assert here.bench.wait(Exited, here.python(f"import os, sys; {end}").key).status == status


@every_level
def test_frozen_it_does_nothing_and_thawed_it_goes_on(cell, level: str) -> None:
    """With what it has started, in sessions of their own too."""
    here = cell(level)
    spawned = here.python("""
        import os, time
        if os.fork() == 0:
            os.setsid()
        while True:
            os.write(1, b"x")
            time.sleep(0.002)
    """)
    here.bench.read_some(spawned.stdout)
    here.bench.keeper.freeze(spawned.key)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        _drain(spawned.stdout)
        time.sleep(0.1)
        if not _drain(spawned.stdout):
            break
    else:
        pytest.fail("it never stops")
    here.bench.keeper.thaw(spawned.key)
    assert here.bench.read_some(spawned.stdout)
    here.bench.keeper.freeze(spawned.key)
    here.bench.keeper.kill(spawned.key)
    assert here.bench.wait(Exited, spawned.key).status == -signal.SIGKILL


def _drain(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except BlockingIOError:
        return b""


# --- what is left of it ----------------------------------------------------------------------------------

AWKWARD = """
import os, time
os.mkdir("locked"); os.mkdir("locked/inside"); open("locked/inside/file", "w").close()
os.chmod("locked/inside", 0); os.chmod("locked", 0)
os.symlink("/", "root-of-all"); os.symlink("loop", "loop"); os.mkfifo("pipe")
open(os.fsdecode(b"\\xff\\n"), "w").close()
here = os.getcwd()
for _ in range(2000):
    os.mkdir("deeper")
    os.chdir("deeper")
open("bottom", "w").close()
os.write(1, here.encode() + b"\\n")
time.sleep(60)
"""


@every_level
def test_nothing_is_left_of_an_awkward_scratch(
    cell, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    here = cell(level)
    code = AWKWARD
    if level == "auto" and os.geteuid():  # there it may not set modes, which could be the operator's files'
        code = code.replace("os.chmod(", "os.path.join(str(").replace(", 0)", "))")
    spawned = here.python(code)
    said = here.bench.read_some(spawned.stdout)
    here.bench.keeper.kill(spawned.key)
    here.bench.wait(Exited, spawned.key)
    here.bench.keeper.close()
    if level != "bwrap":
        assert not Path(os.fsdecode(said).strip()).exists()
    here.confinement.__exit__(None, None, None)
    assert not list(tmp_path.glob("hearts-*"))


REFEREE = """
import os, sys, time
from protocol.rules import conditions_from
from referee.game.events import SeatRecord
from referee.table.confine import Confinement
from referee.table.keep.launch import Keeper
level, folder = sys.argv[1:]
with Confinement(conditions_from({"sandbox": level})) as confinement, Keeper.start() as keeper:
    words = "(setsid sleep 1000 &) ; echo here; sleep 1000"
    seat = SeatRecord(seat=0, name="bot", command=("sh", "-c", words), cwd=folder, files=(folder,))
    spawned = [keeper.spawn(confinement.launch(seat)) for _ in range(3)]
    for each in spawned:
        os.set_blocking(each.stdout, True)
        assert os.read(each.stdout, 100) == b"here\\n"
    print(keeper.pid, flush=True)
    time.sleep(1000)
"""


@every_level
def test_nothing_is_left_of_a_referee_that_was_killed(tmp_path: Path, level: str) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path), "HEARTS_MARK": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", REFEREE, level, str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env=environment,
    ) as referee:
        assert referee.stdout
        keeper = int(referee.stdout.readline())
        pidfd = os.pidfd_open(keeper)
        family = _descendants(keeper)
        assert len(family) >= 3
        referee.kill()
    import select

    assert select.select([pidfd], [], [], 30)[0]
    os.close(pidfd)
    deadline = time.monotonic() + 5
    while any(_lives(pid) for pid in family) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not [pid for pid in family if _lives(pid)]
    assert not list(tmp_path.glob("hearts-*"))


def _descendants(pid: int) -> list[int]:
    from referee.table.keep.usage import tree

    return tree(pid)[1:]


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
