"""The prompt of our own method: answers from numbered sentences, or says what to look up."""

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from langgraph_rag.prompts.answering import JSON_ONLY, Answer
from langgraph_rag.prompts.mgranrag import known_lines, numbered_texts
from langgraph_rag.prompts.prompt import Prompt, name_list, with_plain_schema


def _several(given: object) -> object:
    """Read what some models write instead of a list: one number or one text."""
    return given if isinstance(given, list) or given is None else [given]


def _answer_last(schema: dict[str, Any]) -> None:
    """Have servers that follow the schema write the answer after what it depends on."""
    with_plain_schema(schema)
    schema["properties"]["answer"] = schema["properties"].pop("answer")


class Reading(Answer):
    """The answer, the numbers of the sentences that it rests on, and what has to be looked up before it can be told."""

    model_config = ConfigDict(json_schema_extra=_answer_last)

    sentences: Annotated[
        list[int | str],
        BeforeValidator(_several),
        WithJsonSchema({"type": "array", "items": {"type": "integer"}}),
    ] = Field(default_factory=list)
    missing: Annotated[list[str], BeforeValidator(_several)] = Field(default_factory=list)
    unasked = {"thought": "", "sentences": [], "missing": [], "answer": ""}


def looked_up_text(queries: list[str]) -> str:
    """Show what was searched for, if anything."""
    return f"\nLooked up: {name_list(queries)}" if queries else ""


def last_text(last: bool) -> str:
    """Say that there is no further search, if so, and what that means for the answer."""
    told = "what the sentences make likely is the answer now; unanswerable, if they tell nothing of the kind"
    return f"\nNothing more can be looked up: {told}." if last else ""


ANSWER_OR_LOOK_UP = Prompt(
    name="answer_or_look_up",
    instructions=f"""\
Answer the question from the sentences of the passages and nothing else, or say what has to be looked up first; infer, \
but do not guess. {JSON_ONLY}
- thought: briefly, the steps to the answer, or what is known and exactly what is missing, with the names found in \
place of descriptions; compare dates and numbers spelled out; where passages differ, say so
- sentences: the numbers of all that these steps rest on, also of those that only name what leads on; at least one for \
each thing compared
- missing: none if the answer can be told or no search could help. Else what to search for now, three at most: each a \
name, as found or asked, and what to find out about it. What depends on a name not found yet has to wait; what was \
looked up already is asked for in another way
- answer: unanswerable while something is missing. Else the answer alone, as short as possible and as exact as asked: \
a name, date, number with its unit, yes or no, or a short phrase for what happened

Example
# Mill Bridge
1. It was designed by Ada Moss in 1905.

# Mill
2. Mill is a town.

Question: Who is older, the architect of Mill Bridge or Jon Hale?
Reply: {{"thought": "The architect is Ada Moss. When she and Jon Hale were born is missing.", "sentences": [1], \
"missing": ["Ada Moss birth date", "Jon Hale birth date"], "answer": "unanswerable"}}

If sentence 3 said "Ada Moss was born in 1882." and 4 "Jon Hale was born in 1870.":
Reply: {{"thought": "The architect is Ada Moss, born in 1882. Jon Hale was born in 1870, which is earlier.", \
"sentences": [1, 3, 4], "missing": [], "answer": "Jon Hale"}}""",
    request="{known}{passages}\n\nQuestion: {question}{looked_up}{last}",
    reply=Reading,
    shortens="passages",
    show={"known": known_lines, "passages": numbered_texts, "looked_up": looked_up_text, "last": last_text},
)
