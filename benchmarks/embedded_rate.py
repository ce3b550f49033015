"""Is the embedded model kept busy? Tokens a second through Hardwon against a bare loop on the same server.

Both sides answer the same prompts with 4 at a time: Hardwon through `LocalModel.generate`, the bare loop through 4
threads that call the llama.cpp server directly. Rounds alternate, so that both meet the same machine. Exit code 1 when
Hardwon reaches less than 0.9 of the bare loop (ratio of the medians).

    python benchmarks/embedded_rate.py [--model qwen2.5-coder-0.5b] [--rounds 4] [--tokens 64]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from hardwon.models import LocalModel, Message, Request

PARALLEL = 4
PROMPTS = 8
TARGET = 0.9


def requests(label: str, tokens: int) -> list[Request]:
    """`PROMPTS` requests that share no prompt with another round, so that no cache favours one side."""
    return [
        Request(
            f"{label}/{number}",
            "act",
            0,
            (Message("user", f"{label}{number}: write a Python class for a bank account, with comments."),),
            max_tokens=tokens,
        )
        for number in range(PROMPTS)
    ]


def through_hardwon(model: LocalModel, wanted: list[Request]) -> int:
    """Answers all requests; returns the number of completion tokens."""

    async def run() -> int:
        return sum(c.usage.tokens_out for c in await asyncio.gather(*(model.generate(r) for r in wanted)))

    return asyncio.run(run())


def bare_loop(model: LocalModel, wanted: list[Request]) -> int:
    """The same without Hardwon: 4 threads on the server itself."""
    server = vars(model)["_server"]

    def answer(request: Request) -> int:
        reply = server.handle_chat_completions(
            {
                "messages": [{"role": m.role, "content": m.content} for m in request.messages],
                "max_tokens": request.max_tokens,
                "temperature": request.temperature,
            }
        )
        return int(reply["usage"]["completion_tokens"])

    with ThreadPoolExecutor(PARALLEL) as pool:
        return sum(pool.map(answer, wanted))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of each side")
    parser.add_argument("--tokens", type=int, default=64, help="completion tokens for each prompt")
    parser.add_argument("--json", action="store_true", help="print one JSON object at the end")
    options = parser.parse_args()

    model = LocalModel(options.model, parallel=PARALLEL, context=2048)
    model.load()
    through_hardwon(model, requests("warm", 8))
    print(f"{options.model}, {PARALLEL} at a time, {PROMPTS} prompts of {options.tokens} tokens a round")
    rates = f"{'round':>6}  {'bare tok/s':>10}  {'hardwon tok/s':>13}  {'ratio':>5}"
    print(f"{rates}  bare cpu ms/tok  hardwon cpu ms/tok")
    rounds: dict[str, list[tuple[float, float]]] = {"hardwon": [], "bare": []}
    for number in range(options.rounds):
        sides = [("bare", bare_loop), ("hardwon", through_hardwon)]
        for side, answer in sides if number % 2 == 0 else reversed(sides):
            wanted = requests(f"{side}{number}-", options.tokens)
            started, cpu = time.perf_counter(), time.process_time()
            tokens = answer(model, wanted)
            spent = time.process_time() - cpu
            rounds[side].append((tokens / (time.perf_counter() - started), 1000 * spent / tokens))
        show(str(number + 1), rounds["bare"][-1], rounds["hardwon"][-1])
    asyncio.run(model.close())
    bare, ours = median(rounds["bare"]), median(rounds["hardwon"])
    show("median", bare, ours)
    met = ours[0] >= TARGET * bare[0]
    print(f"target: ratio of the medians at least {TARGET}: {'met' if met else 'MISSED'}")
    if options.json:
        print(json.dumps({"ratio": ours[0] / bare[0], "ours": ours[0], "bare": bare[0]}))
    return 0 if met else 1


def median(measured: list[tuple[float, float]]) -> tuple[float, float]:
    """The median rate and the median processor time, each on its own."""
    return statistics.median(rate for rate, _ in measured), statistics.median(cpu for _, cpu in measured)


def show(label: str, bare: tuple[float, float], ours: tuple[float, float]) -> None:
    """One row. Processor time tells the two apart even on a machine that others use as well."""
    rates = f"{label:>6}  {bare[0]:>10.1f}  {ours[0]:>13.1f}  {ours[0] / bare[0]:>5.2f}"
    print(f"{rates}  {bare[1]:>15.1f}  {ours[1]:>18.1f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
