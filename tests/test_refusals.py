"""What says that there is no answer, and what only sounds like it."""

import pytest

from langgraph_rag.refusals import asks_nothing, is_refusal, may_become_refusal, states_refusal

REFUSALS = [
    "",
    "Unanswerable.",
    "Unanswerable (no founder is named)",
    "UNKNOWN",
    "unknown; the bridge was built in 1911",
    "None.",
    "N/A",
    "Undetermined",
    "It’s unclear which of the two is meant.",
    "It is unknown",
    "It isn't stated.",
    "The answer is not given.",
    "Not stated",
    "Not explicitly stated.",
    "Not stated explicitly in the passages",
    "Not applicable",
    "None mentioned",
    "None is given in the text",
    "Unknown based on the given passages",
    "Information not available",
    "The information is not provided.",
    "Not mentioned in the passages.",
    "Not in the given triples",
    "Not determinable",
    "The question cannot be answered",
    "It can't be determined from this.",
    "Cannot be inferred.",
    "I cannot answer that",
    "Cannot say",
    "Unable to determine.",
    "It is not possible to tell who built it.",
    "Impossible to say",
    "I don’t know who",
    "I do not know.",
    "We do not know whether it was",
    "not enough information is given",
    "Not enough info.",
    "There is not enough information",
    "There is no evidence of that.",
    "Insufficient evidence",
    "No answer at all",
    "The sources do not say who directed it.",
    "The context doesn't mention it.",
    "The facts do not state when the mill was sold.",
    "The triples don't contain that.",
    "These passages do not directly answer it",
    "The provided documents do not name an heir.",
    "Text does not say",
    "None of the sentences say so.",
    "Nothing in the text mentions a daughter",
    "null",
    "The documents provided do not contain this information.",
    "No new information.",
    "No useful information was found.",
    "None of the documents help.",
    "No document mentions it.",
    "Nothing in the documents helps.",
    "Nothing relevant was found.",
    "The documents contain no information about Ada Moss.",
    "Based on the provided documents, there is no information about it.",
    "According to the text, it is unknown.",
]
ANSWERS = [
    "Union",
    "Norland",
    "no",
    "No, both were cousins",
    "none of them",
    "None of the above",
    "Nothing Compares 2 U",
    "Unknown Pleasures",
    "Unknown Mortal Orchestra",
    "The Unknown Soldier",
    "the unanswerable question",
    "Canno",
    "Not Fade Away",
    "Not Known at This Address",
    "Unknown Basin",
    "None Found Guilty",
    "Information Society",
    "The Data",
    "The Question",
    "The Information",
    "Evidence",
    "The documents do not exist",
    "The sources of the Tarn",
    "I Don't Know How to Love Him",
    "I Can't Tell You Why",
    "It Is What It Is",
    "It is not Ada Moss",
    "There is no ferry",
    "There is no link between the two",
    "The answer is not 1911 but 1912",
    "Nothing",
    "Nothing More",
    "Null Island",
    "In the documents of 1911 she is called Ada.",
    "The documents name Ada Moss",
]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_is_one_and_may_become_one_from_its_first_letter_on(refusal: str) -> None:
    assert is_refusal(refusal)
    assert all(may_become_refusal(refusal[:end]) for end in range(len(refusal) + 1))


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_sounds_like_a_refusal_is_none(answer: str) -> None:
    assert not is_refusal(answer)
    assert not states_refusal(answer)


@pytest.mark.parametrize(
    ("sentence", "refuses"),
    [
        ("The director of The Salt Road is unknown.", True),
        ("The date when Orla Vint was born is not stated; she lived in Pellworth", True),
        ("Casper Holm's birthplace is not mentioned in the passages.", True),
        ("When it opened is not given in the facts.", True),
        ("Casper Holm's birthplace is not explicitly stated in any of the numbered sources.", True),
        ("Its owner was not mentioned in the provided passages", True),
        ("unknown; Orla Vint wrote it", True),
        ("The birthplace of Orla Vint was not found.", True),
        ("The answer is not Pellworth.", True),
        ("Orla Vint", False),
        ("It was The Unknown.", False),
        ("The film is Unknown", False),
        ("It was Orla Vint, whose birthplace is unknown.", False),
        ("Orla Vint directed it and her birthplace is unknown.", False),
        ("Orla Vint is unknown to most.", False),
        ("The answer is not Pellworth but Kell.", False),
    ],
)
def test_an_answer_that_is_a_sentence_can_say_that_there_is_none(sentence: str, refuses: bool) -> None:
    assert states_refusal(sentence) == refuses


@pytest.mark.parametrize(
    ("question", "nothing"),
    [
        ("", True),
        ("null", True),
        ("None", True),
        ("N/A", True),
        ("No question needed.", True),
        ("No next query", True),
        ("no new question", True),
        ("None needed", True),
        ("Not applicable", True),
        ("Nothing more is needed.", True),
        ("No additional information needed", True),
        ("No question (the facts are enough)", True),
        ("Who designed Mill Bridge?", False),
        ("birthplace of Ada Moss", False),
        ("No. 5 Mill Street architect", False),
        ("Unknown Pleasures, who recorded it?", False),
    ],
)
def test_what_stands_in_the_place_of_a_question_may_say_that_there_is_none(question: str, nothing: bool) -> None:
    assert asks_nothing(question) == nothing
