"""Self-written tests on trial: agreement of programs speaks against them, a later pass for them."""

from hardwon.evaluators.reliability import only_generated_fails, upheld
from hardwon.trial import Check, Feedback, Source, Trajectory, Trial, Verdict


def trial(
    number: int, program: str, observed: str | None, *, verdict: Verdict = "fail", source: Source = "generated"
) -> Trial:
    checks = (Check("a", verdict, "f(1)", "2", observed, source=source),)
    return Trial(number, Trajectory(program), Feedback(verdict, 0.5, "", checks, source))


def test_two_different_programs_with_the_same_answer_speak_against_the_test() -> None:
    assert upheld([trial(1, "one", "3"), trial(2, "other", "3")]) is False


def test_the_same_program_twice_is_one_voice() -> None:
    assert upheld([trial(1, "one", "3"), trial(2, "one", "3")]) is None


def test_programs_that_differ_in_their_answers_say_nothing() -> None:
    assert upheld([trial(1, "one", "3"), trial(2, "other", "4")]) is None


def test_a_later_pass_of_everything_speaks_for_the_test() -> None:
    assert upheld([trial(1, "one", "3"), trial(2, "other", "2", verdict="pass")]) is True


def test_what_the_task_itself_refuses_says_nothing_about_self_written_tests() -> None:
    refused = trial(1, "one", "3", source="grounded")
    assert not only_generated_fails(refused)
    assert upheld([refused, trial(2, "other", "2", verdict="pass")]) is None
