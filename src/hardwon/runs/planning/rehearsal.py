"""A rehearsal: every arm's own strategy on the real tasks and prompts, where nothing is paid and nothing is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hardwon.actors.choose import actor_for
from hardwon.calls import Common
from hardwon.environments.task import EpisodeTask
from hardwon.errors import HardwonError, UsageError
from hardwon.runs.learning import add
from hardwon.runs.planning.assumed import Assumed
from hardwon.runs.planning.checks import AskedTests, AssumedBehaviour, AssumedChecks
from hardwon.runs.planning.model import AssumedModel
from hardwon.runs.runner import Arm, solve
from hardwon.session import Session
from hardwon.task import Task
from hardwon.trial import Tally


@dataclass(frozen=True, slots=True)
class Spent:
    """What something takes: model calls, tokens, dollars and wall seconds (None where not known)."""

    calls: float = 0
    tokens_in: float = 0
    tokens_out: float = 0
    usd: float | None = 0.0
    seconds: float | None = 0.0

    def times(self, factor: float) -> Spent:
        """So many times as much."""
        return Spent(*(None if value is None else value * factor for value in self._values()))  # type: ignore[arg-type]

    def rounded(self) -> Spent:
        """Whole calls and tokens."""
        return replace(
            self, calls=round(self.calls), tokens_in=round(self.tokens_in), tokens_out=round(self.tokens_out)
        )

    def bound(self, by: Callable[[float, float], float], other: Spent) -> Spent:
        """Each value beside the other's: with `min` at most that, with `max` at least that."""
        pairs = zip(self._values(), other._values(), strict=True)
        return Spent(*(None if a is None or b is None else by(a, b) for a, b in pairs))  # type: ignore[arg-type]

    def _values(self) -> tuple[float | None, ...]:
        return self.calls, self.tokens_in, self.tokens_out, self.usd, self.seconds

    @classmethod
    def total(cls, parts: Iterable[Spent]) -> Spent:
        """The sum; what one part does not know is not known of the sum."""
        columns = zip(*(part._values() for part in parts), strict=True)
        return cls(*(None if None in column else sum(column) for column in columns))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What each arm would be charged, and what is paid in all: a call that arms share is paid once."""

    arms: Mapping[str, Spent]
    paid: Spent


async def rehearse(
    tasks: Sequence[Task], arms: Sequence[Arm], assumed: Assumed, draw: int, asked: AskedTests
) -> Rehearsed:
    """Works every task in every arm; `draw` numbers the chances.

    Raises UsageError where a strategy does not get through, and for tasks that are episodes in a world.
    """
    if any(task.problem.kind == "game" or isinstance(task, EpisodeTask) for task in tasks):
        raise UsageError(
            "these tasks are episodes in a world, whose length only a run shows; run a few (--limit) and see the report"
        )
    charged: dict[str, list[Spent]] = {arm.name: [] for arm in arms}
    known: dict[str, Mapping[str, Tally]] = {arm.name: {} for arm in arms}
    paid: list[Spent] = []
    for task in tasks:
        common, model = Common(), AssumedModel(task.problem, assumed)
        for arm in arms:
            session = _session(task, arm, model, common, assumed, draw, asked, known[arm.name])
            try:
                stop = (await solve(arm.strategy, session)).stop
            except HardwonError:
                raise
            except Exception as error:
                raise UsageError(
                    f"arm {arm.name}: breaks off in the rehearsal ({type(error).__name__}: {error}); mend its strategy"
                ) from error
            ledger = session.ledger
            known[arm.name] = add(known[arm.name], session.notes)
            spent = _spent(ledger.calls, ledger.tokens_in, ledger.tokens_out, assumed)
            if assumed.filled and stop == "budget":
                more = _more(session, model, assumed)
                paid.append(more)
                spent = Spent.total((spent, more))
                spent = replace(spent, calls=min(spent.calls, arm.budget.calls or spent.calls))
            charged[arm.name].append(spent)
        paid.append(_spent(model.calls, model.tokens_in, model.tokens_out, assumed))
    return Rehearsed({name: Spent.total(spent) for name, spent in charged.items()}, Spent.total(paid))


def _session(
    task: Task,
    arm: Arm,
    model: AssumedModel,
    common: Common,
    assumed: Assumed,
    draw: int,
    asked: AskedTests,
    experience: Mapping[str, Tally],
) -> Session:
    chances = assumed.first, assumed.retry_of.get(arm.name, assumed.retry)
    session = Session(
        task.problem,
        model,
        actor_for(task),
        None if task.feedback is None else AssumedChecks(task.feedback, chances, draw, asked),
        behaviour=None if task.behaviour is None else AssumedBehaviour(chances[0], draw),
        budget=arm.budget,
        sampling=arm.sampling,
        common=common,
        experience=experience,
    )
    taken = 0.0

    def pass_time(seconds: float) -> None:
        nonlocal taken
        taken += seconds
        session.ledger.spent_earlier(taken)

    model.pass_time = pass_time
    return session


def _more(session: Session, model: AssumedModel, assumed: Assumed) -> Spent:
    """What a budget that ended an arm might have held besides, had the replies been others: one call more, and text in
    the place of prompts."""
    limit, written = session.ledger.budget.tokens, session.ledger.tokens_out
    room = 0 if limit is None else max(0, limit - written - round(model.shortest / assumed.sparse))
    return _spent(1, round(model.longest / assumed.chars_a_token), room, assumed)


def _spent(calls: int, tokens_in: int, tokens_out: int, assumed: Assumed) -> Spent:
    seconds = None if assumed.seconds_a_token is None else tokens_out * assumed.seconds_a_token / assumed.workers
    return Spent(calls, tokens_in, tokens_out, assumed.price.of(tokens_in, tokens_out), seconds)
