"""Seeds of a comparison: no two of them draw the same samples."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from tests.strategies.watched import PROBLEM, Watched, programs

from hardwon.actors.program import ProgramActor
from hardwon.calls import Sampling
from hardwon.session import Session


def asked(seed: int, attempts: int = 40) -> list[int | None]:
    """The seeds that the model is given in the attempts of one session."""
    model = Watched({"act": programs(1)})
    session = Session(PROBLEM, model, ProgramActor(), None, sampling=Sampling(seed=seed))

    async def attempt() -> None:
        for _ in range(attempts):
            await session.attempt()

    asyncio.run(attempt())
    return [request.seed for request in model.requests]


@given(st.integers(0, 50), st.integers(0, 50))
def test_the_samples_of_two_seeds_have_no_seed_in_common(one: int, other: int) -> None:
    assert one == other or set(asked(one)).isdisjoint(asked(other))


def test_seed_0_counts_on_from_0_and_the_largest_stays_within_32_bits() -> None:
    assert asked(0)[:3] == [0, 1, 2]
    assert all(seed is not None and 0 <= seed < 2**31 for seed in asked(2**31 - 1))
