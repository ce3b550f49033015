"""One item of the reasoning bank: a lesson that outlives its task, where it comes from, and how far it is trusted.

The three texts (title, one-sentence description, content) follow ReasoningBank (Ouyang et al. 2025, section 3.1).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, TypeVar, get_args

from hardwon.errors import UsageError

SCHEMA = 1
"""Of an item as JSON. A reader refuses what a later version wrote."""

Label = Literal["success", "failure", "unknown"]
Labeller = Literal["tests", "generated tests", "reward", "oracle", "user", "judge", "nobody"]
State = Literal["provisional", "active", "quarantined", "superseded", "pinned"]

RECALLED: tuple[State, ...] = ("provisional", "active", "pinned")
"""Items in these states are handed to tasks."""

_LONGEST = {"title": 120, "description": 400, "content": 2000, "applies": 400, "avoid": 400}
_ASKED = 600
"""Characters of a task's text that an item keeps."""
_LONGEST_NAME = 1000
"""Characters of any other text of scope and provenance."""
_ID = re.compile(r"[\w.:-]{1,64}")
_UNREADABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
"""Control signs, halves of pairs, signs without width, tag signs, and signs that reorder the text around them: a reader
would not see what a model sees."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an item belongs; an empty text is no limit. `kind` is that of the problem (`function`, `game`, …)."""

    suite: str = ""
    kind: str = ""
    repository: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Provenance:
    """What an item rests on: the run, arm, seed and task, the trial's number, the checks or steps it cites.

    `problem` is the digest of the task's text (`problem_digest`), by which the same task is known under another name;
    `asked` is how that text begins, by which tasks of the like are known (`asked_in`). No model is shown it.
    """

    run: str = ""
    task: str = ""
    arm: str = ""
    seed: int = 0
    trial: int | None = None
    evidence: tuple[str, ...] = ()
    problem: str = ""
    asked: str = ""


Part = TypeVar("Part", Scope, Provenance)


@dataclass(frozen=True, slots=True)
class Item:
    """A lesson of the bank. Raises UsageError for a text that is empty where it must not be, too long, or not text.

    `applies` and `avoid` say when to use it and when not. `label` is the outcome it was drawn from, `labelled_by` who
    said so. `supersedes` are the items that were merged into it.
    """

    title: str
    description: str
    content: str
    applies: str = ""
    avoid: str = ""
    label: Label = "unknown"
    labelled_by: Labeller = "nobody"
    state: State = "provisional"
    scope: Scope = field(default_factory=Scope)
    provenance: Provenance = field(default_factory=Provenance)
    supersedes: tuple[str, ...] = ()
    id: str = ""

    def __post_init__(self) -> None:
        for name, most in _LONGEST.items():
            _check_text(name, getattr(self, name), most, needed=name in ("title", "content"))
        _check_names("scope", self.scope, Scope)
        _check_names("provenance", self.provenance, Provenance)
        _check_text("provenance.asked", self.provenance.asked, _ASKED, needed=False)
        _check_whole("provenance.seed", self.provenance.seed)
        if self.provenance.trial is not None:
            _check_whole("provenance.trial", self.provenance.trial)
        _check_list("supersedes", self.supersedes)
        for name, text in (*(("supersedes", old) for old in self.supersedes), ("id", self.id)):
            if not isinstance(text, str) or (not _ID.fullmatch(text) and (name, text) != ("id", "")):
                raise UsageError(f"field {name}: want 1 to 64 letters, digits, dots, colons or dashes for an item's id")
        for name, kind in (("label", Label), ("labelled_by", Labeller), ("state", State)):
            if getattr(self, name) not in get_args(kind):
                raise UsageError(f"{name} {getattr(self, name)!r}: unknown; choose {', '.join(get_args(kind))}")
        if not self.id:
            object.__setattr__(self, "id", _identity(self))

    @property
    def said(self) -> str:
        """What the item says."""
        return "\n".join(part for part in (self.title, self.description, self.content, self.applies) if part)

    @property
    def text(self) -> str:
        """All that retrieval compares with a task: what the item says, and what was asked where it was learned.

        General advice is seldom like a task in its words; the task that it came from is (Ouyang et al. retrieve by
        the query of earlier tasks too).
        """
        return f"{self.said}\n{self.provenance.asked}" if self.provenance.asked else self.said

    @property
    def digest(self) -> str:
        """Of `text`: an embedding belongs to a text, so that an edited item never keeps the old one's."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]

    def as_json(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def from_json(cls, values: object) -> Item:
        """Reads `as_json`. Raises UsageError that names the field."""
        if not isinstance(values, Mapping):
            raise UsageError("want an object with title, description and content")
        if values.get("schema", SCHEMA) != SCHEMA:
            raise UsageError(f"schema {values['schema']!r}: this version reads {SCHEMA}; export it again with its own")
        given = {name: value for name, value in values.items() if name != "schema"}
        for name in ("title", "content"):
            if name not in given:
                raise UsageError(f"field {name} is missing")
        given.setdefault("description", "")
        _check_known("", given, cls)
        given["scope"] = _part("scope", Scope, given.get("scope", {}))
        given["provenance"] = _part("provenance", Provenance, given.get("provenance", {}))
        return cls(**_tupled(given))


def problem_digest(prompt: str) -> str:
    """The digest of a task's text, the same however it is spaced or cased."""
    return hashlib.sha256(" ".join(prompt.casefold().split()).encode("utf-8", "replace")).hexdigest()[:16]


def asked_in(prompt: str) -> str:
    """How a task's text begins, as an item keeps it."""
    return _UNREADABLE.sub(" ", prompt).strip()[:_ASKED]


def _identity(item: Item) -> str:
    said = (item.title, item.description, item.content, item.applies, item.avoid)
    origin = item.provenance
    whose = (origin.run, origin.task, origin.arm, str(origin.seed), str(origin.trial))
    return hashlib.sha256("\0".join((*said, *whose)).encode()).hexdigest()[:12]


def _check_text(name: str, text: object, most: int, *, needed: bool) -> None:
    if not isinstance(text, str):
        raise UsageError(f"field {name}: want a text, not {type(text).__name__}")
    if needed and not text.strip():
        raise UsageError(f"field {name} is empty; give it a text")
    if len(text) > most:
        raise UsageError(f"field {name} has {len(text)} characters; at most {most} are kept, so shorten it")
    if (found := _UNREADABLE.search(text)) is not None:
        raise UsageError(f"field {name} holds {found[0]!r}, which is no readable text; take it out")


def _check_names(part: str, value: object, kind: type[Scope | Provenance]) -> None:
    """Raises UsageError unless all texts of a scope or provenance, and those in its lists, are names of bounded length.

    `asked` has its own bound.
    """
    if not isinstance(value, kind):
        raise UsageError(f"field {part}: want an object, not {type(value).__name__}")
    for one in fields(kind):
        held, name = getattr(value, one.name), f"{part}.{one.name}"
        if isinstance(one.default, tuple):
            _check_list(name, held)
            for text in held:
                _check_text(name, text, _LONGEST_NAME, needed=False)
        elif isinstance(one.default, str):
            _check_text(name, held, _LONGEST_NAME, needed=False)


def _check_known(prefix: str, given: Iterable[str], kind: type[Item | Scope | Provenance]) -> None:
    known = [prefix + one.name for one in fields(kind)]
    for name in given:
        if prefix + name not in known:
            raise UsageError(f"field {prefix + name[:40]!a} is unknown; the fields are {', '.join(known)}")


def _check_list(name: str, values: object) -> None:
    if not isinstance(values, tuple):
        raise UsageError(f"field {name}: want a list of texts, not {type(values).__name__}")


def _check_whole(name: str, number: object) -> None:
    if type(number) is not int:
        raise UsageError(f"field {name}: want a whole number, not {type(number).__name__}")


def _part(name: str, kind: type[Part], values: object) -> Part:
    """A scope or provenance as JSON has it; a seed of null is as if it were not there."""
    if not isinstance(values, Mapping):
        raise UsageError(f"field {name}: want an object, not {type(values).__name__}")
    _check_known(f"{name}.", values, kind)
    return kind(**_tupled({key: value for key, value in values.items() if (key, value) != ("seed", None)}))


def _tupled(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
