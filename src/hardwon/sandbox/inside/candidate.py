"""The candidate's process: loads one program and answers calls of its functions, or runs it as a script.

This process has never held a test or an expected value. Whatever the program does to it (patched builtins, frames read,
descriptors written to) it can only change which data is sent back, and data is what the checker judges.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable, Mapping
from types import CoroutineType, ModuleType, TracebackType
from typing import Any

from . import wire
from .line import Closed, Line
from .shown import shown_line

FILE = "<program>"
_MUTABLE = (list, dict, set, bytearray)


def serve(channel: Line) -> None:
    """Answers the checker until it hangs up: first one `load`, then any number of `call`s."""
    request = channel.receive()
    module = ModuleType("program")
    entry = request["entry"]
    reply = load(request["program"], module)
    if "error" not in reply:
        reply["entry"] = callable(getattr(module, entry, None))
    channel.send(reply)
    while True:
        request = channel.receive()
        answer = _answer(getattr(module, entry), request)
        answer["id"] = request["id"]
        try:
            channel.send(answer)
        except wire.CannotCross as refusal:
            channel.send({"id": request["id"], "cannot": str(refusal)})


def load(source: str, module: ModuleType) -> dict[str, Any]:
    """Runs the program's text as `module`; what went wrong is in the reply's `error`, in one line."""
    module.__file__ = FILE
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, FILE, "exec"), module.__dict__)
    except BaseException as error:
        return {"error": _line_of(error, source)[:600]}
    return {}


def _answer(function: Callable[..., Any], request: Mapping[str, Any]) -> dict[str, Any]:
    args = wire.unpack(request["args"], _from_tests)
    kwargs = wire.unpack(request["kwargs"], _from_tests) if "kwargs" in request else {}
    try:
        result = function(*args, **kwargs)
        coroutine = type(result) is CoroutineType
        if coroutine:
            import asyncio

            result = asyncio.run(result)
        answer = _value(result, args)
        if coroutine:
            answer["coroutine"] = True
    except wire.CannotCross as refusal:
        answer = {"cannot": str(refusal)}
    except BaseException as error:
        answer = {"raise": _exception(error)}
    if "mutable" in request:
        try:
            after = wire.pack(args, _opaque)
            if after != request["args"]:
                answer["after"] = after
            if kwargs and (after := wire.pack(kwargs, _opaque)) != request["kwargs"]:
                answer["after_named"] = after
        except wire.CannotCross as refusal:
            answer = {"cannot": f"an argument changed in place into {refusal}"}
    return answer


def _value(result: Any, args: list[Any]) -> dict[str, Any]:
    if isinstance(result, _MUTABLE):
        for position, argument in enumerate(args):
            if result is argument:
                return {"same": position}
    iterated = wire.pack_iterator(result, _opaque)
    return {"value": wire.pack(result, _opaque) if iterated is None else iterated}


def _opaque(value: Any) -> Any:
    return {"o": type(value).__name__[:80]}


def _from_tests(tag: str, content: Any) -> Any:
    if tag == "g":
        return getattr(builtins, content)
    raise wire.Violation(f"an argument of tag {tag!r}")


def _exception(error: BaseException) -> dict[str, Any]:
    """The exception as data: its type's name, the built-in exceptions it descends from, arguments, text, place."""
    kind = type(error)
    try:
        args = wire.pack(list(error.args), _opaque)
    except Exception:
        args = []
    known = [t.__name__ for t in kind.__mro__ if getattr(builtins, t.__name__, None) is t]
    return {
        "type": kind.__name__[:80],
        "known": known,
        "args": args,
        "text": _text(error),
        "line": _line_number(error.__traceback__),
    }


def _text(error: BaseException) -> str:
    try:
        return str(error)[:2000]
    except BaseException:
        return "<its message can not be shown>"


def _headline(error: BaseException) -> str:
    text = _text(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _line_of(error: BaseException, source: str) -> str:
    """The headline with the program's line, as `NameError: ... (line 3: return x)`."""
    if isinstance(error, SyntaxError) and error.filename == FILE:
        shown = (error.text or "").strip()[:120]
        return f"{type(error).__name__}: {error.msg} (line {error.lineno}: {shown})"
    return _headline(error) + shown_line(source, _line_number(error.__traceback__))


def _line_number(trace: TracebackType | None) -> int:
    """The last line of the program's own text that the exception passed through, 0 for none."""
    number = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            number = trace.tb_lineno
        trace = trace.tb_next
    return number


def run_script(source: str) -> int:
    """Runs the program as `__main__` on this process's own standard streams; returns its exit status."""
    module = ModuleType("__main__")
    module.__file__ = FILE
    sys.modules["__main__"] = module
    status = 0
    try:
        exec(compile(source, FILE, "exec"), module.__dict__)
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
    except SystemExit as leaving:
        code = leaving.code
        if code is not None and not isinstance(code, int):
            print(code, file=sys.stderr)
        status = 0 if code is None else code & 0xFF if isinstance(code, int) else 1
    except BaseException as error:
        import traceback

        trace = error.__traceback__
        traceback.print_exception(type(error), error, trace.tb_next if trace else None)
        status = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            status = status or 1
    return status


def main(role: str, fds: list[int]) -> None:
    """Entered by the fork of a zygote, confined already; never returns."""
    status = 0
    try:
        if role == "program":
            with os.fdopen(fds[0], encoding="utf-8", errors="surrogatepass") as file:
                source = file.read()
            status = run_script(source)
        else:
            serve(Line(fds[0]))
    except (Closed, wire.Violation):
        status = 0
    except BaseException:
        status = 1
    finally:
        os._exit(status)
