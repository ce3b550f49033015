"""How recalled items reach a model: as a marked block of advice before the task, never as instructions.

Every line of an item is quoted, so that no text of an item can pose as what stands around it. Advice is words in a
prompt and nothing else: tools, budget, evaluator and bank are not reached by way of it.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Sequence
from dataclasses import replace

from hardwon.actors.protocol import Generate
from hardwon.memory.bank.item import Item
from hardwon.models.protocol import Completion, Message
from hardwon.models.tools import Tool
from hardwon.prompts import render


def block(items: Sequence[Item]) -> str:
    """The block of advice; empty where there is none."""
    return render("memory/advice", notes=[_quoted(item) for item in items]) if items else ""


def advised(generate: Generate, advice: str) -> Generate:
    """A door to the model on which the block stands before the task: in front of the first message that is no system's.

    Without advice it is the same door.
    """
    if not advice:
        return generate

    def asked(
        messages: tuple[Message, ...],
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        stop: tuple[str, ...] = (),
        tools: tuple[Tool, ...] = (),
    ) -> Awaitable[Completion]:
        place = next((n for n, message in enumerate(messages) if message.role != "system"), None)
        if place is not None:
            opening = replace(messages[place], content=f"{advice}\n\n{messages[place].content}")
            messages = (*messages[:place], opening, *messages[place + 1 :])
        return generate(messages, temperature=temperature, max_tokens=max_tokens, stop=stop, tools=tools)

    return asked


def withheld(draw: str, task: str, item: str, share: float) -> bool:
    """Whether an item is held back from a task by chance; the same in every sitting and arm of one `draw`."""
    return random.Random(f"{draw} {task} {item} withhold").random() < share


def _quoted(item: Item) -> str:
    parts = [f"{item.title}: {item.description}" if item.description else item.title, item.content]
    parts += [f"{word}: {text}" for word, text in (("Applies", item.applies), ("Not for", item.avoid)) if text]
    return "\n".join(f"> {line}".rstrip() for part in parts for line in part.splitlines())
