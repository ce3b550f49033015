"""Examples as people write them in prose: `f(x) == y`, `f(x) => y`, "f(x) should return y", Input and Output."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterator

from hardwon.evaluators.literals import Signature, bracket_end, expression, is_literal, literal_at

_ARROW = re.compile(r"[ \t]*(?:\#[ \t]*)?(?:={1,3}>|-{1,2}>|➞|→|⇒|⟹|➔|==)[ \t]*")
_EQUALS = re.compile(r"[ \t]*(?:\#[ \t]*)?=[ \t]*(?![=>])")
_WORDS = re.compile(
    r"\s*(?:\#[ \t]*)?\b(?:(?:should|will|must|would|shall)\s+(?:return|be|give|output|equal|evaluate\s+to)"
    r"|returns?|gives|equals|evaluates\s+to|outputs|yields|produces|is)\b(?:\s+equal\s+to\b)?:?\s+"
)
# What may follow a value in running text without changing it; after anything else the value is in doubt.
_END = re.compile(
    r"[ \t]*(?:$|\n|\#|[.;](?:\s|$)|,(?=\s*(?:[A-Za-z]|$))|[ \t]\("
    r"|[ \t](?:and|because|since|as|but|while|where)\b)"
)
_SUM = re.compile(r"[-+*/%().\d \t]+=[ \t]*")
_NAMED = re.compile(r"(?![Oo]utputs?\b)([A-Za-z_]\w*)[ \t]*[=:][ \t]*(?!=)")
_BETWEEN = re.compile(r"\s*(?:,|;|\band\b)?\s*")
_FOR = re.compile(r"\b[Ff]or[ \t]+(?=[A-Za-z_]\w*[ \t]*=)")
_OUTCOME = re.compile(r"[^\n=]{0,80}?[ \t](?:should|will|must)[ \t]+be[ \t]+(?=[-+\d'\"\[({TFN])")
_INPUT = re.compile(r"\b[Ii]nputs?[ \t]*:\s*")
_OUTPUT = re.compile(r"\s*\b[Oo]utputs?[ \t]*:\s*")
_ANY_CALL = re.compile(r"(?<![\w.])([A-Za-z_]\w*)[ \t]*\(")

Found = Iterator[tuple[int, str, str]]


def calls(text: str, entry_point: str) -> Found:
    """Calls of the entry point on literals, followed by an arrow, an equals sign or a verb, and a literal.

    Yields position, call and expected value, the latter two as source.
    """
    separators = (_ARROW, _WORDS) if _is_recurrence(text, entry_point) else (_ARROW, _EQUALS, _WORDS)
    for match in _calls_of(text, entry_point):
        if _stands_alone(text, match.start()) and (call := _call_at(text, match)):
            source, end = call
            value = next((v for s in separators if (m := s.match(text, end)) and (v := _value(text, m.end()))), None)
            if value is not None:
                yield match.start(), source, value


def misnamed(text: str, entry_point: str) -> Found:
    """Examples of one other function that the text does not define, taken as slips of the entry point's name.

    Prompts are edited by people who rename the function and forget its examples.
    """
    names = {match[1] for match in _ANY_CALL.finditer(text)}
    strangers = {
        name
        for name in names
        if not hasattr(builtins, name) and not keyword.iskeyword(name) and not re.search(rf"\bdef\s+{name}\b", text)
    }
    found = [(name, example) for name in sorted(strangers) for example in calls(text, name)]
    if len({name for name, _ in found}) == 1:
        for name, (position, call, value) in found:
            yield position, entry_point + call.removeprefix(name), value


def inputs(text: str, entry_point: str, header: Signature | None) -> Found:
    """`For x = 1 … the output should be 2` and `Input: x = 1`, `Output: 2`, if the parameters are certain."""
    if header is None:
        return
    for opening, closing in ((_FOR, _OUTCOME), (_INPUT, _OUTPUT)):
        for match in opening.finditer(text):
            arguments, end = _arguments(text, match.end())
            outcome = closing.match(text, end)
            if arguments and outcome and (value := _value(text, outcome.end())):
                ordered = _in_order(arguments, header)
                if ordered is not None:
                    yield match.start(), f"{entry_point}({', '.join(ordered)})", value


def _calls_of(text: str, function: str) -> Iterator[re.Match[str]]:
    return re.finditer(rf"(?<![\w.])(?<!def ){re.escape(function)}[ \t]*\(", text)


def _is_recurrence(text: str, entry_point: str) -> bool:
    """Whether `f(n) = …` defines a sequence: then `f(2) = 2` states a member, not what the call returns."""
    for match in _calls_of(text, entry_point):
        end = bracket_end(text, match.end() - 1)
        if end is not None and _EQUALS.match(text, end) and not _call_at(text, match):
            return True
    return False


def _stands_alone(text: str, start: int) -> bool:
    """Whether nothing before the call on its line makes it part of a doctest or of a larger expression."""
    before = text[text.rfind("\n", 0, start) + 1 : start].rstrip()
    if ">>>" in before:
        return False
    is_operand = before.endswith(("+", "-", "*", "/", "%", "~", "(", "[", ",", " not")) and len(before.strip()) > 1
    return not is_operand or (before.endswith(",") and not before.strip().startswith("("))


def _call_at(text: str, match: re.Match[str]) -> tuple[str, int] | None:
    end = bracket_end(text, match.end() - 1)
    if end is None:
        return None
    call = expression(text[match.start() : end])
    if not isinstance(call, ast.Call):
        return None
    literal = all(map(is_literal, (*call.args, *(k.value for k in call.keywords))))
    return (ast.unparse(call), end) if literal else None


def _value(text: str, position: int) -> str | None:
    """The literal at `position` if the text ends or pauses after it; a worked sum gives its result."""
    while (literal := literal_at(text, position)) is not None:
        source, end = literal
        if _END.match(text, end):
            return source
        worked = _SUM.match(text, position)
        if worked is None:
            return None
        position = worked.end()
    return None


def _arguments(text: str, position: int) -> tuple[list[tuple[str | None, str]], int]:
    """`x = 1, y = 2` or `1, 2` as (name, literal) pairs, and where they end."""
    arguments: list[tuple[str | None, str]] = []
    while True:
        start = _BETWEEN.match(text, position).end() if arguments else position  # type: ignore[union-attr]
        name = _NAMED.match(text, start)
        literal = literal_at(text, name.end() if name else start)
        if literal is None:
            return arguments, position
        arguments.append((name[1] if name else None, literal[0]))
        position = literal[1]


def _in_order(arguments: list[tuple[str | None, str]], header: Signature) -> list[str] | None:
    """The literals in the order of the parameters; None when it is not certain which belongs where."""
    named = {name: value for name, value in arguments if name is not None}
    if len(arguments) != len(header.names) or (named and len(named) != len(arguments)):
        return None
    if set(named) == set(header.names):
        return [named[name] for name in header.names]
    misplaced = any(name in header.names and name != at for (name, _), at in zip(arguments, header.names, strict=True))
    return None if misplaced else [value for _, value in arguments]
