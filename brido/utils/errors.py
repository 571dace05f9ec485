"""The one exception that a user of BRIDO meets, what it may quote, and how it is shown."""

import errno
import os
import reprlib
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, NoReturn

_LONGEST_REASON = 300


class BridoError(Exception):
    """What is wrong, where, and what to do about it, in sentences a user can act on.

    Raise it for anything a user can cause (settings, files, tables, a full disk, a server that is
    down). Programming errors keep Python's own exceptions and their traceback.
    """

    @classmethod
    def from_problems(
        cls, heading: str, problems: Iterable[str], limit: int | None = None
    ) -> "BridoError":
        """One error that lists every problem, so that a user fixes all of them in one go.

        Of more than `limit` problems the others are counted.
        """
        lines = [f"  - {problem}" for problem in problems]
        if limit is not None and len(lines) > limit:
            lines[limit:] = [f"  - and {len(lines) - limit:,} more"]
        return cls("\n".join([heading, *lines]))


class ArgumentError(BridoError, ValueError):
    """An argument of a public function that it cannot work on; to Python a ValueError too."""


class _Short(reprlib.Repr):
    """Values in messages: no longer than a line."""

    def repr_int(self, x: int, level: int) -> str:
        # Python itself refuses to write out thousands of digits.
        digits = int(x.bit_length() * 0.30103) + 1
        return super().repr_int(x, level) if digits < 1000 else f"a number of {digits:,} digits"


_SHORT = _Short()
_SHORT.maxstring = _SHORT.maxother = 80
_SHORT.maxlist = 20


def quoted(value: Any) -> str:
    """A value out of a user's file or call as messages show it: as Python writes it, cut.

    A text may be of any length and hold what a terminal obeys; both stay out of messages.
    """
    return _SHORT.repr(value).replace("\n", " ")


def short(text: str) -> str:
    """A text as `quoted`, without the quotes."""
    return quoted(text)[1:-1]


def some(items: Sequence[str], limit: int = 5) -> str:
    """`a, b, c`, each as `short`, with `, ...` where there are more than `limit`."""
    return ", ".join(map(short, items[:limit])) + (", ..." if len(items) > limit else "")


def first_line(error: BaseException) -> str:
    """What an error says, in a line: the first line of its message that says something."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, MemoryError):
        return "the memory does not suffice"
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    text = getattr(error, "strerror", None) or str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return _printable(lines[0][:_LONGEST_REASON]) if lines else type(error).__name__


@contextmanager
def parsing(sentence: Callable[[str], str]) -> Iterator[None]:
    """A block around a parser of somebody's file: whatever it raises is a BridoError.

    Parsers raise ValueError, RecursionError, UnicodeError, OSError, MemoryError and their own
    kinds. `sentence(reason)` is the message, `reason` a line of the parser's.
    """
    try:
        yield
    except BridoError:
        raise
    except Exception as error:
        raise BridoError(sentence(first_line(error))) from None


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and the errors behind it, nearest first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def is_disk_full(error: BaseException) -> bool:
    """Whether an error comes from a full disk."""
    return _says(error, {errno.ENOSPC, errno.EDQUOT}, "No space left on device")


def is_file_limit(error: BaseException) -> bool:
    """Whether an error comes from a limit on how large a file may grow (`ulimit -f`)."""
    return _says(error, {errno.EFBIG}, "File too large")


def _says(error: BaseException, numbers: set[int], words: str) -> bool:
    """Whether an error or one behind it has such a number; Rust and C++ give words alone."""
    return any(
        getattr(item, "errno", None) in numbers or words in str(item) for item in causes(error)
    )


class Stopped(KeyboardInterrupt):
    """SIGTERM or Ctrl-C reached a command: whatever cleans up at Ctrl-C does so at both."""

    number = signal.SIGINT


def end_at_signals() -> None:
    """From here on SIGTERM and Ctrl-C end the process at once, with a sentence.

    For the seconds in which a command imports what it needs: it has begun nothing yet.
    """

    def end(number: int, _: FrameType | None) -> None:
        os.write(2, b"stopped before anything was begun: run again\n")
        os._exit(128 + number)

    _answer(end)


def speak_plainly() -> None:
    """From here on a BridoError that ends the process is its sentence, without a traceback.

    For what a command imports before `run_command` can answer: a package may be missing.
    """
    former = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, BridoError):
            print(_printable(f"error: {error}"), file=sys.stderr)
        else:
            former(kind, error, trace)

    sys.excepthook = show


def _stop(number: int, _: FrameType | None) -> None:
    stop = Stopped()
    stop.number = number
    raise stop


def _stop_again(ignored: Any) -> None:
    """A `sys.unraisablehook`: C code that called Python loses its exceptions, a stop among them."""
    if isinstance(ignored.exc_value, Stopped):
        arguments = (os.getpid(), ignored.exc_value.number)
        threading.Timer(0.1, os.kill, arguments).start()
    else:
        sys.__unraisablehook__(ignored)


def _answer(handler: Any) -> dict[int, Any]:
    """Let `handler` answer both signals, if somebody did not have them ignored; the former ones."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    former = {number: old for number, old in former.items() if old != signal.SIG_IGN}
    for number in former:
        signal.signal(number, handler)
    return former


def run_command(main: Callable[[], None]) -> None:
    """Run a stage or command line: what a user can cause or do ends it with a sentence.

    A BridoError becomes a message on stderr and exit code 2; SIGTERM and Ctrl-C say what is kept
    and end with 128 and their number, as shells have it.
    """
    former, hook = _answer(_stop), sys.unraisablehook
    sys.unraisablehook = _stop_again
    try:
        main()
    except BridoError as error:
        _end(f"error: {error}", 2)
    except BrokenPipeError:
        # The reader of our output (`| head`) went away: not an error of ours.
        sys.stderr.close()
        raise SystemExit(0) from None
    except OSError as error:
        # Files that are not ours, such as a library's cache, grow as well.
        if not (is_disk_full(error) or is_file_limit(error)):
            raise
        name = error.filename or "a file"
        _end(
            f"error: {name} cannot be written ({error.strerror}): free some space, or lift "
            "`ulimit -f`; finished work is kept, run again to go on",
            2,
        )
    except KeyboardInterrupt as stop:
        kept = str(stop) or "finished work is kept, run again to go on"
        _end(f"interrupted; {kept}", 128 + getattr(stop, "number", signal.SIGINT))
    finally:
        sys.unraisablehook = hook
        for number, handler in former.items():
            signal.signal(number, handler)


def _end(message: str, code: int) -> NoReturn:
    print(_printable(message), file=sys.stderr, flush=True)
    raise SystemExit(code) from None


def _printable(message: str) -> str:
    """A message without what a terminal obeys: a parser's reason may quote a file."""
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else sign.encode("unicode_escape").decode()
        for sign in message
    )
