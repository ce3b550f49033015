"""The placebo: a lesson of another task, as long as the one that it stands for."""

from hypothesis import given
from hypothesis import strategies as st

from hardwon.reflection.placebo import _bundled, placebo
from hardwon.trial import Lesson

IDS = [owner for owner, _ in _bundled()]


@given(st.sampled_from(IDS), st.text("abc def.", min_size=30, max_size=600))
def test_it_is_nearly_as_long_and_never_of_the_task_itself(task_id: str, text: str) -> None:
    lesson = Lesson(text, ("check 1",))
    shown = placebo(lesson, task_id)
    own = next(said for owner, said in _bundled() if owner == task_id)
    assert abs(len(shown.text) - len(text)) <= 12
    assert own[:40] not in shown.text
    assert (shown.origin, shown.checks) == ("placebo", ())
    assert placebo(lesson, task_id) == shown
