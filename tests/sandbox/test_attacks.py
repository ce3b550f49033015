"""Hostile candidates: none passes, none harms, and the next candidate on the same pool is judged rightly."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from hardwon.sandbox import FunctionTests, Limits, Sandbox

from .conftest import passes

WRONG = FunctionTests("f", "assert f(20) == 6765\nassert f(3) == 2\nassert f(1) == 1")
"""The tests of the Fibonacci numbers, which no attack computes."""

HONEST = "def f(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\n"

ATTACKS = {
    "exit at import": "import os\nos._exit(0)",
    "exit in the call": "import os\ndef f(n): os._exit(0)",
    "exit in a thread": """
import os, threading
def f(n):
    threading.Thread(target=lambda: os._exit(0)).start()
    threading.Event().wait()
""",
    "sys.exit at import": "import sys\nsys.exit(0)",
    "sys.exit in the call": "import sys\ndef f(n): sys.exit(0)",
    "raise SystemExit(True)": "def f(n): raise SystemExit(True)",
    "patched builtins": """
import builtins
class Yes(int):
    __eq__ = __ne__ = __lt__ = lambda self, other: True
builtins.int = builtins.float = Yes
builtins.AssertionError = Exception
builtins.all = builtins.any = builtins.isinstance = lambda *a: True
builtins.__build_class__ = None
def f(n): return Yes(0)
""",
    "patched ast and unittest": """
import ast, sys, types
ast.parse = ast.unparse = lambda *a, **k: None
for name in ("unittest", "pytest", "hardwon"):
    sys.modules[name] = types.ModuleType(name)
def f(n): return 0
""",
    "patched wire": """
import sys, json
for name, module in list(sys.modules.items()):
    if "wire" in name or "candidate" in name or "record" in name:
        for attribute in list(vars(module)):
            if callable(getattr(module, attribute)) and not attribute.startswith("__"):
                setattr(module, attribute, lambda *a, **k: {"pass": True})
json.dumps = lambda *a, **k: '{"status":"pass"}'
def f(n): return 0
""",
    "the pass byte to every descriptor": """
import os
for fd in range(0, 256):
    for word in (b"1", b"\\x01", b"pass\\n", b"."):
        try: os.write(fd, word)
        except OSError: pass
def f(n): return 0
""",
    "forged messages to every descriptor": """
import json, os, struct
def flood():
    for message in ({"checks": [{"name": "test 1", "status": "pass"}], "calls": 9}, {"done": True}, {"exit": 0},
                    {"ready": True}, {"entry": True}, {"id": 1, "value": 6765}, {"again": True}):
        body = json.dumps(message).encode()
        for fd in range(0, 64):
            try: os.write(fd, struct.pack(">I", len(body)) + body)
            except OSError: pass
def f(n):
    flood()
    return 0
""",
    "always equal": """
class Equal:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __bool__(self): return True
def f(n): return Equal()
""",
    "int that lies": """
class Liar(int):
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __index__(self): return 6765
    def __int__(self): return 6765
    def __add__(self, other): return 6765
def f(n): return Liar(0)
""",
    "str that lies": "class S(str):\n    __eq__ = lambda s, o: True\n    __hash__ = str.__hash__\n"
    "def f(n): return S('6765')",
    "list that lies": "class L(list):\n    __eq__ = lambda s, o: True\n    __iter__ = lambda s: iter([6765])\n"
    "def f(n): return L()",
    "float that lies": "class F(float):\n    __eq__ = lambda s, o: True\n    __sub__ = lambda s, o: 0.0\n"
    "def f(n): return F(0)",
    "frames": """
import sys, gc
def look():
    frame = sys._getframe()
    while frame:
        for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
            if "6765" in repr(value) and "look" not in repr(value):
                return 6765
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, str) and "assert f(20)" in thing and "look" not in thing:
            return 6765
    return 0
def f(n): return look() if n == 20 else 0
""",
    "own memory": """
def f(n):
    try:
        with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
            for line in maps:
                low, high = (int(x, 16) for x in line.split()[0].split("-"))
                memory.seek(low)
                if b"== 67" + b"65" in memory.read(high - low): return 6765
    except (OSError, ValueError): pass
    return 0
""",
    "other processes' memory": """
import ctypes, os
libc = ctypes.CDLL(None)
def f(n):
    for pid in range(1, 50):
        if pid != os.getpid() and libc.ptrace(16, pid, 0, 0) == 0: return 6765
        try:
            if open(f"/proc/{pid}/mem", "rb").read(1): return 6765
        except OSError: pass
    return 0
""",
    "a thread that outlives the answer": """
import os, threading, time
def flood():
    while True:
        for fd in range(3, 64):
            try: os.write(fd, b'\\0\\0\\0\\x14{"id":1,"value":6765}')
            except OSError: pass
def f(n):
    threading.Thread(target=flood, daemon=True).start()
    return 0
""",
    "a child that outlives the answer": """
import os
def f(n):
    if os.fork() == 0:
        os.setsid()
        while True: pass
    return 0
""",
    "fork bomb": """
import os
def f(n):
    while True:
        try: os.fork()
        except OSError: pass
""",
    "4 GiB": "def f(n):\n    return len(bytearray(4 << 30))",
    "4 GiB in children": """
import os
def f(n):
    for _ in range(8):
        if os.fork() == 0:
            held = [bytearray(400 << 20)]
            for i in range(0, 400 << 20, 4096): held[0][i] = 1
            while True: pass
    os.wait()
    return 0
""",
    "endless output": "def f(n):\n    while True: print('x' * 100000, flush=True)",
    "endless loop": "def f(n):\n    while True: pass",
    "endless loop at import": "while True: pass",
    "endless loop that swallows all": """
import signal
for s in range(1, 32):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
def f(n):
    while True:
        try:
            while True: pass
        except BaseException: pass
""",
    "recursion": "def f(n): return f(n + 1)",
    "recursion without limit": "import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return [f(n + 1)]",
    "recursion in C": """
import sys
sys.setrecursionlimit(10**9)
def f(n):
    x = []
    for _ in range(10**6): x = [x]
    return x == x or repr(x)
""",
    "huge value": "def f(n): return [0] * 20_000_000",
    "huge string": "def f(n): return 'x' * 50_000_000",
    "deep value": "def f(n):\n    x = 0\n    for _ in range(5000): x = [x]\n    return x",
    "cyclic value": "def f(n):\n    x = []\n    x.append(x)\n    return x",
    "10^6 digits": "def f(n): return 10 ** 10 ** 6",
    "endless iterator": "import itertools\ndef f(n): return itertools.count()",
    "exception that lies": """
class E(Exception):
    def __str__(self): return "6765"
    def __eq__(self, other): return True
def f(n): raise E()
""",
    "exception that hangs": """
class E(Exception):
    def __str__(self):
        while True: pass
def f(n): raise E()
""",
    "exception whose text exits": """
import os
class E(Exception):
    def __str__(self): os._exit(0)
def f(n): raise E()
""",
    "AssertionError of its own": "def f(n): raise AssertionError('passed')",
    "crash": "import ctypes\ndef f(n): return ctypes.string_at(0)",
    "abort": "import os\ndef f(n): os.abort()",
    "signals to all": """
import os, signal
def f(n):
    for pid in (-1, os.getppid(), 1, 2, 0):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP):
            if pid in (1, 0) and pid == os.getpid(): continue
            try: os.kill(pid, number)
            except OSError: pass
    return 0
""",
    "filling /tmp": """
def f(n):
    number = 0
    try:
        while True:
            number += 1
            with open(f"/tmp/fill{number}", "wb") as file: file.write(b"x" * (8 << 20))
    except OSError: return 0
""",
    "many files in /tmp": """
def f(n):
    try:
        for number in range(100_000): open(f"/tmp/many{number}", "w").close()
    except OSError: pass
    return 0
""",
    "closed descriptors": "import os\nos.closerange(0, 256)\ndef f(n): return 0",
    "a module of the tests' name": "import sys\nsys.modules['tests'] = sys.modules['random'] = None\n"
    "def f(n): return None",
    "no function": "g = 1",
    "f is no function": "f = 6765",
    "does not parse": "def f(n) return 6765",
    "entry point that changes": """
import sys
def f(n):
    sys.modules[__name__].f = lambda n: 0
    return 0
""",
}


def run(sandbox: Sandbox, program: str, tests: FunctionTests = WRONG, seconds: float = 0.6) -> tuple[bool, float, int]:
    limits = Limits(test_seconds=seconds, load_seconds=max(seconds, 1.0), total_seconds=8.0)
    start = time.monotonic()
    checks = asyncio.run(sandbox.run_function(program, tests, limits))
    return passes(checks), time.monotonic() - start, len(checks)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_does_not_pass_and_the_next_candidate_is_judged_rightly(sandbox: Sandbox, name: str) -> None:
    passed, seconds, count = run(sandbox, ATTACKS[name])
    assert not passed
    assert count > 0, "an attack must leave a failing check, not silence"
    assert seconds < 12, "an attack must not cost more than its limits"
    assert run(sandbox, HONEST, seconds=3.0)[0]
    assert not run(sandbox, "def f(n): return 0", seconds=3.0)[0]


@pytest.mark.parametrize("name", ["fork bomb", "4 GiB in children", "a child that outlives the answer"])
def test_nothing_of_an_attack_is_left_running(sandbox: Sandbox, name: str) -> None:
    before = _descendants()
    run(sandbox, ATTACKS[name])
    run(sandbox, HONEST, seconds=3.0)
    left = _descendants() - before
    # A worker that was started meanwhile: two fork servers, each four processes deep, and a child of each.
    assert len(left) <= 10, f"processes left over: {left}"


def _descendants() -> set[int]:
    """Every process whose command line is a sandboxed interpreter's, but those that another test process started."""
    found = {pid for entry in Path("/proc").iterdir() if entry.name.isdigit() and _sandboxed(pid := int(entry.name))}
    return {pid for pid in found if os.getpid() in (line := _line(pid)) or _sandboxed(line[-1])}


def _sandboxed(pid: int) -> bool:
    try:
        return b"inside.zygote" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _line(pid: int) -> list[int]:
    """A process and its ancestors, but the first of all."""
    line = [pid]
    while True:
        try:
            parent = int(Path(f"/proc/{line[-1]}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return line
        if parent <= 1:
            return line
        line.append(parent)
