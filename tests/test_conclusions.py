"""The conclusion of a chain of thought, if there is one."""

import pytest

from langgraph_rag.conclusions import concluded, concludes


@pytest.mark.parametrize(
    ("thought", "answer"),
    [
        ("Orla was born there. So the answer is Skellby.", "Skellby"),
        ("So the answer is Skellby...", "Skellby"),
        ("So the answer to the question is Skellby.", "Skellby"),
        ("The answer to the first part is Skellby.", ""),
        ("The answer would be in the biography of Orla.", ""),
        ("So the answer is 4.5.", "4.5"),
        ("So the answer is group B.", "group B"),
        ("So the answer is 7 a.m.", "7 a.m."),
        ("Thus the answer is an office in the U.K.", "an office in the U.K."),
        ("So the answer is the capital (Skellby, N.D.).", "the capital (Skellby, N.D.)"),
        ("So the answer is Not Without Laughter.", "Not Without Laughter"),
        ("The answer is Unknown Pleasures, by Joy Division.", "Unknown Pleasures, by Joy Division"),
        ("So the answer is not in the passages.", ""),
        ("So the answer is Unknown.", ""),
        ("So the answer is unknown, as nobody says it.", ""),
        ("So the answer is still to be found.", ""),
        ("I have to look up what the answer is.", ""),
    ],
)
def test_a_thought_states_the_answer_or_none(thought: str, answer: str) -> None:
    assert concluded(thought) == answer


@pytest.mark.parametrize(
    ("thought", "last"),
    [
        ("So the answer is Skellby.", True),
        ("So the answer is: unknown.", True),
        ("So the answer is unknown, as nobody says it.", True),
        ("The answer is not in the passages; who designed Mill Bridge?", False),
        ("I have to find out what the answer is.", False),
        ("Orla was born in Skellby.", False),
    ],
)
def test_a_chain_ends_with_an_answer_or_where_there_is_none(thought: str, last: bool) -> None:
    assert concludes(thought) == last


def test_a_reply_of_nothing_but_spaces_and_dots_is_read_at_once() -> None:
    for padding in (" ", ".", ". ", "so "):
        assert concluded(f"The answer is{padding * 100_000}") == ""
