"""The embedded model: llama.cpp inside this process, several requests in flight at once through its slots.

At temperature 0 decoding is greedy. Two runs may still differ in rare near-ties: how requests share a batch, and
how much of a prompt was already in a slot's cache, changes the order of floating-point sums. With `parallel=1` the
same sequence of requests gives the same replies.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

from hardwon.errors import ModelError, UsageError
from hardwon.models.local_reply import Reply, request_body
from hardwon.models.protocol import Completion, Request
from hardwon.models.weights import weights_named, weights_path, weights_present

Progress = Callable[[int, int], None]
"""Bytes done, bytes in all."""

_MOST_PROMPT_CACHE_MIB = 2048


class LocalModel:
    """Runs a catalogue model in this process; loads on first use, off the event loop.

    `parallel` slots answer at once; each has room for `context` tokens, prompt and completion together.
    `threads` defaults to the processors this process may use. `weights` points at another GGUF file. Missing
    weights of the catalogue are pulled on load, reporting bytes to `progress`.
    """

    price_known = True

    def __init__(
        self,
        name: str,
        *,
        parallel: int = 4,
        context: int = 8192,
        threads: int | None = None,
        weights: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Raises UsageError for a name that is not in the catalogue, or a number that makes no sense."""
        if parallel < 1 or context < 512:
            raise UsageError(f"local: want parallel >= 1 and context >= 512, not {parallel} and {context}")
        self._short = weights_named(name).name if weights is None else name.removeprefix("local:")
        self.name = f"local:{self._short}"
        self.parallel = parallel
        self.context = context
        self._threads = threads or _processors()
        self._weights = weights
        self._progress = progress
        self._lock = threading.Lock()
        self._server: Any = None
        self._pool: ThreadPoolExecutor | None = None
        self._stopping = threading.Event()

    def load(self) -> None:
        """Loads the weights (seconds; pulls them first if they are missing). Does nothing when loaded.

        Raises UsageError for a missing extra, ModelError when the weights cannot be fetched or loaded.
        """
        with self._lock:
            if self._server is None:
                self._server = self._start()

    def _start(self) -> Any:
        try:
            xllamacpp = _import_library()
        except ImportError:
            raise UsageError(f'{self.name}: needs an extra; run: pip install "hardwon[local]"') from None
        path = self._weights or self._catalogue_weights()
        if not path.is_file():
            raise UsageError(f"{self.name}: {path}: no such file; give the path of a GGUF file")
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_parallel = self.parallel
        params.n_ctx = self.context * self.parallel
        params.cpuparams.n_threads = self._threads
        params.cpuparams_batch.n_threads = self._threads
        params.verbosity = 0
        params.cache_ram_mib = _prompt_cache_mib()
        # The library also listens on a loopback port. Nobody is given this key, so nobody else can use it.
        params.api_keys = [secrets.token_hex(32)]
        params.ui = False
        params.endpoint_slots = False
        try:
            return xllamacpp.Server(params)
        except RuntimeError as error:
            raise ModelError(
                f"{self.name}: {path} could not be loaded ({error}); check the file with `hardwon models pull"
                f" {self._short}` and the free memory"
            ) from error

    def _catalogue_weights(self) -> Path:
        if not weights_present(self._short):
            from hardwon.models.fetch import pull

            return pull(self._short, progress=self._progress)
        return weights_path(self._short)

    async def generate(self, request: Request) -> Completion:
        """Raises ModelRefused when the prompt is longer than a slot's context, ModelError for a fault inside.

        Cancelling the caller stops the generation at its next token.
        """
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.parallel, thread_name_prefix="hardwon-local")
        cancelled = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._answer, request, cancelled)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def _answer(self, request: Request, cancelled: threading.Event) -> Completion:
        self.load()
        reply = Reply(cancelled, self._stopping)
        body = request_body(request)
        try:
            # Streamed only so that an abandoned call can be stopped: there is no other way to cancel one.
            self._server.handle_chat_completions(body, reply.take)
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"{self.name}: task {request.task_id}: {error}") from error
        return reply.completion(self.name, request, self.context)

    async def close(self) -> None:
        """Stops what is running and frees the weights; a later `generate` loads them again."""
        pool, self._pool = self._pool, None
        self._stopping.set()
        try:
            await asyncio.to_thread(self._free, pool)
        finally:
            self._stopping.clear()

    def _free(self, pool: ThreadPoolExecutor | None) -> None:
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            self._server = None

    def __repr__(self) -> str:
        return f"LocalModel({self.name!r}, parallel={self.parallel}, context={self.context})"


def _import_library() -> Any:
    """Imports xllamacpp with its threads told to spin only briefly while they wait for each other, then to sleep.

    OpenMP reads the setting once, when the library is loaded. Its default, to spin for long, is as fast on an idle
    machine and many times slower when sandboxed candidates or another model want the same processors; never to spin
    leaves an idle machine's processors idle too.
    """
    if "OMP_WAIT_POLICY" in os.environ or "GOMP_SPINCOUNT" in os.environ:
        return import_module("xllamacpp")
    os.environ["GOMP_SPINCOUNT"] = "2000"
    try:
        return import_module("xllamacpp")
    finally:
        del os.environ["GOMP_SPINCOUNT"]


def _prompt_cache_mib() -> int:
    """Bound of the prompts kept in memory for reuse: an eighth of the machine's, at most 2 GiB.

    An actor and a reflector speak of one task in turns, while other tasks have the slots in between. What is kept need
    not be read again: of a 1.5B model some 37,000 tokens fit into 1 GiB.
    """
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    return max(64, min(memory // 8, _MOST_PROMPT_CACHE_MIB))


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
