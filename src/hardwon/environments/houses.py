"""A small household game, written down as places, things and a goal, and put into PDDL for ALFWorld's logic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

State = Literal["clean", "hot", "cool", "lit"]

_STATES = {"clean": "isClean", "hot": "isHot", "cool": "isCool"}
_CLOSED = {"cabinet", "drawer", "fridge", "microwave", "safe"}
_SHEDS_LIGHT = {"desklamp", "floorlamp"}
_NAMED_BY_THE_LOGIC = ("SinkBasinType", "MicrowaveType", "FridgeType"), ("KnifeType", "ButterKnifeType")


@dataclass(frozen=True, slots=True)
class Goal:
    """`count` things of kind `thing` in or on a place of kind `place`, each in `state`; or held by a lamp that is on.

    With the state `lit` there is no place: the thing is to be looked at under a lamp of kind `lamp`.
    """

    thing: str
    place: str = ""
    state: State | None = None
    count: int = 1
    lamp: str = "desklamp"


@dataclass(frozen=True, slots=True)
class House:
    """`places` are kinds, numbered from 1 in the order in which they stand; `things` puts kinds into "kind number"."""

    places: tuple[str, ...]
    things: Mapping[str, tuple[str, ...]]
    goal: Goal


def pddl(house: House) -> str:
    """The problem in PDDL. Raises ValueError for a thing in a place that is not there."""
    places = _numbered(house.places)
    objects = ["agent1 - agent", "loc_0 - location"]
    facts = ["(= (total-cost) 0)", "(atLocation agent1 loc_0)"]
    for number, (name, kind) in enumerate(places.items(), 1):
        here, place = f"loc_{number}", _id(name)
        objects += [f"{here} - location", f"{place} - receptacle"]
        facts += [f"(receptacleAtLocation {place} {here})", f"(receptacleType {place} {_type(kind)})"]
        facts += [f"(openable {place})"] if kind in _CLOSED else []
    counted: Counter[str] = Counter()
    kinds: set[str] = set()
    for name, inside in house.things.items():
        if name not in places:
            raise ValueError(f"things lie in {name!r}, and there is no such place; the places are {', '.join(places)}")
        here, place = f"loc_{list(places).index(name) + 1}", _id(name)
        for kind in inside:
            counted[kind] += 1
            kinds.add(kind)
            thing = _id(f"{kind} {counted[kind]}")
            objects.append(f"{thing} - object")
            facts += [f"(objectType {thing} {_type(kind)})", f"(inReceptacle {thing} {place})"]
            facts.append(f"(objectAtLocation {thing} {here})")
            facts += (
                [f"(toggleable {thing})"]
                if kind in _SHEDS_LIGHT
                else [f"({can} {thing})" for can in ("pickupable", "cleanable", "heatable", "coolable")]
            )
    place_kinds = {_type(kind) for kind in house.places} | set(_NAMED_BY_THE_LOGIC[0])
    thing_kinds = {_type(kind) for kind in kinds} | set(_NAMED_BY_THE_LOGIC[1])
    objects += [f"{kind} - rtype" for kind in sorted(place_kinds)] + [f"{kind} - otype" for kind in sorted(thing_kinds)]
    facts += [f"(canContain {p} {t})" for p in sorted(place_kinds) for t in sorted(thing_kinds)]
    return (
        f"(define (problem house)\n (:domain alfred)\n (:objects\n  {_lines(objects)})\n (:init\n  {_lines(facts)})\n"
        f" (:goal\n  {_goal(house.goal)})\n (:metric minimize (total-cost))\n)\n"  # the metric goes last
    )


def _goal(goal: Goal) -> str:
    kind = _type(goal.thing)
    if goal.state == "lit":
        return (
            f"(exists (?o - object ?lamp - object ?l - location) (and (objectType ?o {kind}) (holds agent1 ?o)"
            f" (objectType ?lamp {_type(goal.lamp)}) (isToggled ?lamp) (objectAtLocation ?lamp ?l)"
            f" (atLocation agent1 ?l)))"
        )
    names = [f"?o{n}" for n in range(goal.count)]
    wanted = [f"(receptacleType ?r {_type(goal.place)})"]
    for name in names:
        wanted += [f"(objectType {name} {kind})", f"(inReceptacle {name} ?r)"]
        wanted += [f"({_STATES[goal.state]} {name})"] if goal.state else []
    wanted += [f"(not (= {a} {b}))" for n, a in enumerate(names) for b in names[n + 1 :]]
    some = " ".join(f"{name} - object" for name in names)
    return f"(exists (?r - receptacle {some}) (and {' '.join(wanted)}))"


def _numbered(kinds: Iterable[str]) -> dict[str, str]:
    """Kind by name: "cabinet 1", "cabinet 2", …"""
    counted: Counter[str] = Counter()
    names = {}
    for kind in kinds:
        counted[kind] += 1
        names[f"{kind} {counted[kind]}"] = kind
    return names


def _id(name: str) -> str:
    """An id under which the world gives the thing this name: numbers are counted down over the sorted ids."""
    kind, number = name.rsplit(" ", 1)
    tail = f"bar_{100 - int(number)}"
    return f"sink_{tail}_bar_sinkbasin" if kind == "sinkbasin" else f"{kind}_{tail}"


def _type(kind: str) -> str:
    known = {name.lower(): name for names in _NAMED_BY_THE_LOGIC for name in names}
    return known.get(f"{kind}type", f"{kind.capitalize()}Type")


def _lines(parts: Iterable[str]) -> str:
    return "\n  ".join(parts)
