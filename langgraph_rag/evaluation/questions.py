"""Questions with gold answers, from a file in this package's form or in that of a published question set."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, NotRequired

from pydantic import (
    AliasChoices,
    BeforeValidator,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
)
from typing_extensions import TypedDict

from langgraph_rag.arguments import expect_count
from langgraph_rag.evaluation.question_files import NumberedRow, QuestionFileError, rows_of
from langgraph_rag.naming import counted, expect_name, first_problems, wrong_field
from langgraph_rag.refusals import UNANSWERABLE
from langgraph_rag.tools.documents.rows import SETS, question_in

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def _as_text(answer: object) -> object:
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return str(answer) if isinstance(answer, int | float) else answer


def _as_list(given: object) -> list[object]:
    return given if isinstance(given, list) else [given]


Id = Annotated[str, Field(coerce_numbers_to_str=True)]
Answers = Annotated[
    list[Annotated[Text, BeforeValidator(_as_text)]],
    BeforeValidator(_as_list),
    Field(validation_alias=AliasChoices("answers", "answer")),
]


class Place(TypedDict):
    """A place in the documents that supports an answer, however they are split: at least one of these.

    `source` is the source of a passage, or its end, such as `ref/settings.rst`; `title` the title of a passage or of
    its document; `contains` a fragment of its text.
    """

    source: NotRequired[Text]
    title: NotRequired[Text]
    contains: NotRequired[Text]


class Question(TypedDict):
    """A question with its gold answers and, if known, its type and what supports its answer.

    The latter are the ids of passages (`supporting_ids`), or places in the documents (`gold`), for which `located`
    adds the ids of the passages at each place (`places`). With these alone, it measures retrieval only. The sentences
    that tell the answer (`supporting_sentences`) are for training. The gold answer `unanswerable` accepts any refusal.
    """

    id: Annotated[Text, Field(coerce_numbers_to_str=True)]
    question: Text
    answers: NotRequired[Answers]
    supporting_ids: NotRequired[list[Id]]
    supporting_sentences: NotRequired[list[Text]]
    gold: NotRequired[list[Place]]
    places: NotRequired[list[list[Id]]]
    type: NotRequired[str]


_FIELDS = [*(name for name in Question.__annotations__ if name != "places"), "answer", "answer_aliases", "answerable"]
_log = logging.getLogger(__name__)


def _as_question(fields: object, read: ValidationInfo) -> object:
    """Convert the row of a published set, or leave out null and NaN values and join the answers with their aliases.

    If `answerable` is false, the given answer is not in the passages, and the gold answer is `unanswerable`.

    The validation context may have the number of the question, as `line`, the name of its set, as `format`, and a
    counter of the fields that it leaves out, as `unknown`.
    """
    if not isinstance(fields, dict):
        return fields
    context = read.context or {}
    number = str(context.get("line", ""))
    if converted := question_in(fields, context.get("format", "")):
        return {"id": number, **converted}
    context.get("unknown", Counter()).update(name for name in fields if name not in _FIELDS)
    known = {name: value for name, value in fields.items() if value is not None and value == value}  # unlike NaN
    if "answers" in known or "answer" in known:
        given = [known[name] for name in ("answers", "answer", "answer_aliases") if name in known]
        known["answers"] = [answer for each in given for answer in _as_list(each)]
    if not _is_answerable(known):
        known = {**known, "answers": [UNANSWERABLE]}
    return {"id": number, **known}


def _is_answerable(fields: Mapping[str, object]) -> bool:
    answerable = fields.get("answerable", True)
    if not isinstance(answerable, bool):
        raise ValueError(f"answerable must be true or false, got {answerable!r:.80}")
    return answerable


_READER: TypeAdapter[Question] = TypeAdapter(Annotated[Question, BeforeValidator(_as_question)])


def load_questions(path: str | Path, limit: int | None = None, *, format: str = "") -> list[Question]:
    """Read questions from a file: this package's own JSON lines, or a published set as it comes.

    The rows of HotpotQA, 2WikiMultiHopQA, MuSiQue, HippoRAG's samples, FlashRAG, MultiHop-RAG and FRAMES are recognised
    by their fields, and so are a JSON array, an object of columns, and a table (CSV, TSV) of questions and answers. A
    folder of BEIR's has its queries and judgements. Other fields are left out; a warning says how many rows have them.

    Args:
        path: the file, in UTF-8; or a folder of BEIR's, or one of its files of judgements (qrels).
        limit: the maximum number of questions to return; all rows are checked.
        format: the name of the set, such as `musique`: rows of another form are then refused.

    Returns:
        The questions in the order of the file; the default id is the number of the line or element.

    Raises:
        QuestionFileError: when the file cannot be read or has no questions, or when rows, also beyond the limit, are
            not questions or repeat an id; the message lists the first twenty.
        UnknownNameError: when there is no such format.
        ValueError: when the limit is not a whole number of at least 1.
    """
    if limit is not None:
        expect_count(limit, "limit")
    if format:
        expect_name("format", format, SETS)
    questions: list[Question] = []
    places: dict[str, str] = {}
    unknown: Counter[str] = Counter()
    problems: list[str] = []
    for row in rows_of(Path(path)):
        try:
            questions.append(_question(row, format, places, unknown))
        except QuestionFileError as error:
            problems.append(f"{row.place}: {error}")
    if problems:
        raise QuestionFileError(first_problems(problems))
    if not questions:
        raise QuestionFileError(f"{path}: expected one question per line, got no line with text")
    _tell_unknown_fields(path, unknown)
    return questions[:limit]


def as_questions(given: Iterable[object]) -> list[Question]:
    """Read questions from dicts, in the same forms as lines of a file; those without an id are numbered.

    Raises:
        ValueError: when one is not a question, or two have the same id.
    """
    questions: dict[str, Question] = {}
    numbers: dict[str, int] = {}
    for number, fields in enumerate(given, start=1):
        try:
            question = _READER.validate_python(fields, context={"line": number})
        except ValidationError as error:
            raise ValueError(
                f"question {number}: expected a dict with question and answers (a list of strings); "
                f"{wrong_field(error, 'question')}; got {str(fields)[:200]}"
            ) from error
        if (first := numbers.setdefault(question["id"], number)) != number:
            raise ValueError(
                f"expected questions with ids that differ, got {question['id']!r} for questions {first} and {number}"
            )
        questions[question["id"]] = question
    return list(questions.values())


def _tell_unknown_fields(path: str | Path, fields: Counter[str]) -> None:
    """Warn once of each unknown field."""
    for name, number in fields.items():
        close = get_close_matches(name, _FIELDS, n=1)
        meant = f"did it mean {close[0]!r}?" if close else f"those of a question are {', '.join(_FIELDS)}"
        _log.warning("%s: left out the field %r of %s; %s", path, name, counted(number, "line"), meant)


def _question(row: NumberedRow, format: str, places: dict[str, str], unknown: Counter[str]) -> Question:
    """Read the question in a row; record the place of its id in `places`, and count the fields it leaves out."""
    wrong = row.problem
    if not wrong:
        try:
            context = {"line": row.number, "format": format, "unknown": unknown}
            question = _READER.validate_python(row.fields, context=context)
        except ValidationError as error:
            wrong = wrong_field(error, "line")
    if wrong:
        raise QuestionFileError(
            f"expected a JSON object with question and answers (a list of strings); {wrong}; got {row.written[:200]}"
        )
    if not (question.get("answers") or question.get("supporting_ids") or question.get("gold")):
        raise QuestionFileError(
            f"expected answers ({UNANSWERABLE!r} where there is none), supporting_ids or gold, got {row.written[:200]}"
        )
    if (there := places.setdefault(question["id"], row.place)) != row.place:
        raise QuestionFileError(f"expected an id of its own, got {question['id']!r} as on {there.rpartition(', ')[2]}")
    return question
