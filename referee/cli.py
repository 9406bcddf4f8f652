"""The command line: options in, one call, words out.  No logic stands here.

Heavy modules are imported by the command that needs them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from referee import __version__
from referee.errors import ArenaError


class _Duration(click.ParamType[int]):
    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from referee.table.settings import milliseconds

        if isinstance(value, int):
            return value
        try:
            return milliseconds(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


DURATION = _Duration()


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="arena")
def cli() -> None:
    """The referee for programs that play Hearts."""


def rules_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--rules` and `--set`, for every command that plays."""
    command = click.option(
        "--set", "changes", metavar="KEY=VALUE", multiple=True, help="Change one house rule; may be repeated."
    )(command)
    return click.option(
        "--rules",
        "rules_name",
        metavar="NAME|FILE",
        default="standard",
        show_default=True,
        help="A rule set or a TOML file.",
    )(command)


def _limit_option(name: str, field: str, default: int, help_: str) -> Callable[..., Any]:
    return click.option(
        name,
        field,
        type=click.IntRange(0),
        default=default,
        show_default=True,
        help=f"{help_}; 0 is no limit.",
    )


def bot_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Time, confinement and limits, for every command that starts a bot."""
    for option in reversed(
        (
            click.option(
                "--turn-time",
                "turn_ms",
                type=DURATION,
                default="2s",
                show_default=True,
                help="Time for one answer.",
            ),
            click.option(
                "--start-time",
                "start_ms",
                type=DURATION,
                default="10s",
                show_default=True,
                help="Time to get ready.",
            ),
            click.option(
                "--bank-time",
                "bank_ms",
                type=DURATION,
                default="0s",
                show_default=True,
                help="Spare time for a match.",
            ),
            click.option(
                "--sandbox",
                type=click.Choice(["auto", "none", "bwrap"]),
                default="auto",
                show_default=True,
                help="Confinement.",
            ),
            _limit_option("--memory", "memory_mb", 1024, "Memory of a bot, in MB"),
            _limit_option("--scratch", "scratch_mb", 256, "Size of its scratch directory, in MB"),
            _limit_option("--file-size", "file_mb", 128, "Size of a file that it writes, in MB"),
            _limit_option("--processes", "processes", 256, "Its processes and threads"),
            _limit_option("--open-files", "open_files", 256, "Its open files"),
        )
    ):
        command = option(command)
    return command


def condition_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """These, and what a match makes of them, for every command that plays matches."""
    for option in reversed(
        (
            click.option(
                "--on-fault",
                type=click.Choice(["retire", "substitute", "hand", "match"]),
                default="retire",
                show_default=True,
                help="What a fault costs.",
            ),
            click.option(
                "--strikes",
                type=click.IntRange(0),
                default=0,
                show_default=True,
                help="Faults that are forgiven first.",
            ),
            click.option(
                "--anonymous/--no-anonymous",
                default=False,
                help="Tell the bots who the others are, or do not (the default in tournaments).",
            ),
            click.option("--freeze", is_flag=True, help="Stop each bot while it is not its turn."),
        )
    ):
        command = option(command)
    return bot_options(command)


@cli.command()
@click.argument("bots", metavar="BOT...", nargs=-1)
@click.option(
    "--resume",
    "resume_log",
    metavar="LOG",
    type=click.Path(path_type=Path),
    help="Go on with an interrupted match.",
)
@rules_options
@condition_options
@click.option(
    "--seed", metavar="TEXT", help="Make the deals from this; only for debugging, for a bot could guess it."
)
@click.option(
    "--log", "log_path", metavar="FILE", type=click.Path(path_type=Path), help="Where to write the match log."
)
@click.option("--quiet", "-q", is_flag=True, help="Show only faults.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object on stdout.")
@click.pass_context
def run(
    context: click.Context,
    /,
    bots: tuple[str, ...],
    resume_log: Path | None,
    rules_name: str,
    changes: tuple[str, ...],
    seed: str | None,
    log_path: Path | None,
    quiet: bool,
    as_json: bool,
    **conditions: Any,
) -> None:
    """Play one match between BOTs.

    A BOT is an executable, a script, a quoted command line, a directory with a bot.toml, or a bundled bot:
    random, duck, heuristic.  NAME=BOT gives it a label.
    """
    from referee.show import running

    if resume_log:
        if bots:
            raise click.UsageError("--resume takes the bots from the log; name none.")
        for option in context.command.params:
            if option.name not in ("bots", "resume_log", "quiet", "as_json") and _is_given(
                context, option.name
            ):
                raise click.UsageError(f"--resume takes all from the log; {option.opts[0]} has no effect.")
        running.resume(resume_log, quiet=quiet, as_json=as_json)
    else:
        running.run(
            bots, rules_name, changes, conditions, seed=seed, log_path=log_path, quiet=quiet, as_json=as_json
        )


@cli.command()
@click.argument("log", metavar="LOG", type=click.Path(path_type=Path))
@click.option(
    "--verify", is_flag=True, help="Only check that every line follows and that the seed gives the deals."
)
@click.option("--hand", type=click.IntRange(1), help="Tell only this hand.")
@click.option(
    "--as",
    "view",
    metavar="SEAT|spectator",
    help="Tell only what this seat, or who watches the table, could see.",
)
@click.option("--step", is_flag=True, help="Wait for a key after each line.")
def replay(log: Path, verify: bool, hand: int | None, view: str | None, step: bool) -> None:
    """Tell a match from its log, hand by hand."""
    from referee.show import replaying

    if verify:
        for option, given in (("--hand", hand), ("--as", view), ("--step", step)):
            if given:
                raise click.UsageError(f"--verify looks at the whole log; {option} has no effect.")
        replaying.verify(log)
    else:
        replaying.tell(log, hand=hand, view=view, step=step)


@cli.command()
@click.argument("name", metavar="[NAME|FILE]", required=False)
@click.option(
    "--set", "changes", metavar="KEY=VALUE", multiple=True, help="Change one house rule; may be repeated."
)
@click.option("--json", "as_json", is_flag=True, help="Print the rules as one JSON object.")
def rules(name: str | None, changes: tuple[str, ...], as_json: bool) -> None:
    """List the rule sets, or tell one in plain words."""
    from referee.show import rules_page

    rules_page.show(name, changes, as_json=as_json)


@cli.command()
@click.argument("bot", metavar="BOT")
@rules_options
@bot_options
@click.option("--verbose", "-v", is_flag=True, help="Show every line that is sent and that comes, whole.")
def check(bot: str, rules_name: str, changes: tuple[str, ...], verbose: bool, **conditions: Any) -> None:
    """Play scripted situations with one BOT.

    Says at each step what was sent, what came back, and what was wrong.
    """
    from referee.show import checking

    if not checking.check(bot, rules_name, changes, conditions, verbose=verbose):
        sys.exit(1)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON object.")
def doctor(as_json: bool) -> None:
    """Say what this machine offers to confine bots, and what each level stops here."""
    from referee.show import doctor as page

    page.show(as_json=as_json)


@cli.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("bots", metavar="[BOT]...", nargs=-1)
@click.option("--format", type=click.Choice(["duplicate", "match", "gauntlet"]), help="Default: duplicate.")
@click.option("--hero", metavar="BOT", help="The bot that meets each other one in a gauntlet.")
@click.option("--deals", type=click.IntRange(1), help="How many deals, at most; default: 1000.")
@click.option(
    "--stop-when", metavar="POINTS", type=float, help="Stop when every two bots are told apart or closer."
)
@click.option("--withdraw", metavar="NAME", multiple=True, help="Take a bot out; may be repeated.")
@click.option("--accept-changes", is_flag=True, help="Go on although bots or the plan have changed.")
@click.option(
    "--plan", "file", metavar="FILE", type=click.Path(path_type=Path), help="Read the plan from TOML."
)
@rules_options
@condition_options
@click.option(
    "--seed", metavar="TEXT", help="Make the deals from this; only for debugging, for a bot could guess it."
)
@click.option("--jobs", type=click.IntRange(1), help="Worker processes; default: one a core.")
@click.option(
    "--cluster", metavar="ADDRESS", help="Play on the workers of a Dask scheduler, as tcp://HOST:8786."
)
@click.option(
    "--batch-time",
    "batch_ms",
    type=DURATION,
    default="4s",
    show_default=True,
    help="What a kill may lose of each worker.",
)
@click.pass_context
def tournament(
    context: click.Context,
    /,
    folder: Path,
    bots: tuple[str, ...],
    jobs: int | None,
    cluster: str | None,
    batch_ms: int,
    **options: Any,
) -> None:
    """Play a tournament of BOTs into DIR, or go on with the one that is there.

    The same command, or only its DIR, plays what is missing.  Bots named beside those that are there join in.
    """
    from referee.show import contest

    given = {name: options[name] for name in options if _is_given(context, name)}
    wanted = contest.wanted(bots, given)
    contest.tournament(folder, wanted, jobs=jobs, cluster=cluster, batch_s=batch_ms / 1000)


def _is_given(context: click.Context, name: str | None) -> bool:
    source = context.get_parameter_source(name or "")
    return source not in (None, click.core.ParameterSource.DEFAULT, click.core.ParameterSource.DEFAULT_MAP)


@cli.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
@click.option("--csv", "as_csv", is_flag=True, help="Print one line a bot on stdout.")
@click.option("--html", metavar="FILE", type=click.Path(path_type=Path), help="Write a page with plots.")
@click.option(
    "--log", "match", metavar="MATCH", help="Print the log of one match, by the beginning of its id."
)
@click.option("--logs", "list_logs", is_flag=True, help="Print the id, deal and seats of each match.")
def standings(
    folder: Path, as_json: bool, as_csv: bool, html: Path | None, match: str | None, list_logs: bool
) -> None:
    """Tell how a tournament stands, also while it is being played."""
    from referee.show import standings as page

    logs = {"--log": match is not None, "--logs": list_logs}
    given = {"--json": as_json, "--csv": as_csv, **logs, "--html": html is not None and any(logs.values())}
    wanted = [option for option in given if given[option]]
    if len(wanted) > 1:
        raise click.UsageError(f"{wanted[0]} and {wanted[1]} do not go together; give one of them.")
    if match is not None:
        page.tell_log(folder, match)
    elif list_logs:
        page.list_logs(folder)
    else:
        page.standings(folder, as_json=as_json, as_csv=as_csv, html=html)


def _check_text(words: list[str]) -> None:
    """Refuse arguments that are not text: logs and results, which are JSON, could not hold them."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ArenaError(f"The argument {word!r} is not UTF-8; rename what it names.") from None


def main() -> NoReturn:
    """The console script: ArenaError becomes one sentence and status 1, wrong usage status 2."""
    from referee.show.output import complain, finish, prepare

    prepare()
    status = 1
    try:
        _check_text(sys.argv[1:])
        status = cli.main(standalone_mode=False) or 0
    except click.UsageError as error:
        error.show()
        status = error.exit_code
    except click.exceptions.Abort:
        status = 130
    except (ArenaError, click.ClickException) as error:
        complain(str(error))
    except BrokenPipeError:
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    sys.exit(status if finish() else status or 1)
