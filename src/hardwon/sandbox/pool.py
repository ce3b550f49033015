"""`ForkServerSandbox`: warm fork servers, dispatched to from any event loop."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from hardwon.errors import SandboxError
from hardwon.sandbox import command as commands
from hardwon.sandbox.launch import ANSWER_SECONDS, WorkerLost
from hardwon.sandbox.probe import isolation_of
from hardwon.sandbox.protocol import CommandResult, FunctionTests, Isolation, Limits, StdioCase
from hardwon.sandbox.stdio import run_cases
from hardwon.sandbox.worker import GivenUp, Worker
from hardwon.trial import Check

_T = TypeVar("_T")
DEFAULT = Limits()


class ForkServerSandbox:
    """A pool of `workers` fork servers, under bubblewrap or, with `bubblewrap=False`, as bare processes.

    Each worker is started when it is first needed and serves one candidate at a time. The work itself is blocking and
    runs in threads of the pool's own, so that one sandbox serves several event loops, one after the other or at once.
    A worker that fails is replaced and its job tried once more; then SandboxError is raised. A call that is cancelled
    ends its candidate at once. A fork server that takes longer than `answer_seconds` to end a child is replaced.
    `trouble` says why bubblewrap is not used, for `isolation` to show.
    """

    def __init__(
        self,
        workers: int = 2,
        *,
        bubblewrap: bool = True,
        answer_seconds: float = ANSWER_SECONDS,
        trouble: str | None = None,
    ) -> None:
        if workers < 1:
            raise ValueError("a sandbox needs at least one worker")
        self._bubblewrap = bubblewrap
        self._answer_seconds = answer_seconds
        self._trouble = trouble
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="sandbox")
        self._idle: queue.LifoQueue[Worker] = queue.LifoQueue()
        self._all: set[Worker] = set()
        self._running: dict[object, Worker] = {}
        self._lock = threading.Lock()
        self._isolation: Isolation | None = None
        self._closed = threading.Event()

    @property
    def isolation(self) -> Isolation:
        """Which walls stand, found by probing from inside. Starts a worker if none was, so the first read blocks."""
        if self._isolation is None:
            self._isolation = self._threads.submit(
                self._do, lambda w: isolation_of(w, self._bubblewrap, self._trouble), object()
            ).result()
        return self._isolation

    async def run_function(self, program: str, tests: FunctionTests, limits: Limits = DEFAULT) -> tuple[Check, ...]:
        """See `Sandbox.run_function`."""
        return await self._run(lambda worker: worker.run_function(program, tests, limits))

    async def run_stdio(self, program: str, cases: Sequence[StdioCase], limits: Limits = DEFAULT) -> tuple[Check, ...]:
        """See `Sandbox.run_stdio`."""
        return await self._run(lambda worker: run_cases(worker, program, cases, limits))

    async def run_command(
        self,
        command: str,
        *,
        workdir: Path | None = None,
        files: Mapping[str, str] | None = None,
        limits: Limits = DEFAULT,
        network: bool = False,
    ) -> CommandResult:
        """See `Sandbox.run_command`."""
        return await commands.run_command(
            command, workdir, files or {}, limits, network=network, bubblewrap=self._bubblewrap
        )

    async def close(self) -> None:
        """Ends every worker and what runs in it. The sandbox can not be used again."""
        self._closed.set()
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        with self._lock:
            running = dict(self._running)
        for job, worker in running.items():
            worker.give_up(job)
        self._threads.shutdown(cancel_futures=True)
        for worker in list(self._all):
            worker.close()
        self._all.clear()

    async def _run(self, work: Callable[[Worker], _T]) -> _T:
        if self._closed.is_set():
            raise SandboxError("the sandbox was closed")
        job = object()
        future = self._threads.submit(self._do, work, job)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            with self._lock:
                worker = self._running.get(job)
            if worker is not None:
                worker.give_up(job)
            if self._closed.is_set() and future.cancelled():
                raise SandboxError("the sandbox was closed") from None
            raise
        except GivenUp:
            raise SandboxError("the sandbox was closed") from None

    def _do(self, work: Callable[[Worker], _T], job: object) -> _T:
        """Runs in a thread: at most as many at once as there are workers."""
        trouble = ""
        for _ in range(2):
            worker = self._take()
            worker.begin(job)
            with self._lock:
                self._running[job] = worker
            try:
                result = work(worker)
            except (WorkerLost, OSError) as lost:
                trouble = str(lost)
                self._discard(worker)
                continue
            except GivenUp:
                self._idle.put(worker)
                raise
            except BaseException:
                self._discard(worker)
                raise
            finally:
                worker.begin(None)
                with self._lock:
                    del self._running[job]
            self._idle.put(worker)
            return result
        raise SandboxError(f"the sandbox failed twice: {trouble}")

    def _take(self) -> Worker:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            worker = Worker(self._bubblewrap, self._answer_seconds)
        with self._lock:
            self._all.add(worker)
        return worker

    def _discard(self, worker: Worker) -> None:
        worker.begin(None)
        with self._lock:
            self._all.discard(worker)
        worker.close()
