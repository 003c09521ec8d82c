"""Questions with gold answers, from a file of JSON lines."""

import json
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
from langgraph_rag.characters import decoded
from langgraph_rag.errors import RagError
from langgraph_rag.evaluation.forms import other_form
from langgraph_rag.naming import counted, first_problems, wrong_field
from langgraph_rag.refusals import UNANSWERABLE

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


class Question(TypedDict):
    """A question with its gold answers and, if known, its type and the ids of its supporting passages.

    With `supporting_ids` alone, it measures retrieval only. The gold answer `unanswerable` accepts any refusal.
    """

    id: Annotated[Text, Field(coerce_numbers_to_str=True)]
    question: Text
    answers: NotRequired[Answers]
    supporting_ids: NotRequired[list[Id]]
    type: NotRequired[str]


class QuestionFileError(RagError):
    """A file of questions cannot be used."""


_FIELDS = [*Question.__annotations__, "answer", "answer_aliases", "answerable"]
_FOR_READERS = "supporting_sentences"  # in the sample; they show readers why an answer is right
_log = logging.getLogger(__name__)


def _as_question(fields: object, read: ValidationInfo) -> object:
    """Leave out null and NaN values, convert MuSiQue's fields, and number a question without an id.

    MuSiQue's fields are `answer_aliases`, further gold answers, and `answerable`. If `answerable` is false, the given
    answer is not in the passages, and the gold answer is `unanswerable`.

    The validation context may have the number of the question, as `line`, and a counter of the fields, as `fields`.
    """
    if not isinstance(fields, dict):
        return fields
    context = read.context or {}
    context.get("fields", Counter()).update(fields.keys())
    known = {name: value for name, value in fields.items() if value is not None and value == value}  # unlike NaN
    if "answers" in known or "answer" in known:
        given = [known[name] for name in ("answers", "answer", "answer_aliases") if name in known]
        known["answers"] = [answer for each in given for answer in _as_list(each)]
    if not _is_answerable(known):
        known = {**known, "answers": [UNANSWERABLE]}
    return {"id": str(context.get("line", "")), **known}


def _is_answerable(fields: Mapping[str, object]) -> bool:
    answerable = fields.get("answerable", True)
    if not isinstance(answerable, bool):
        raise ValueError(f"answerable must be true or false, got {answerable!r:.80}")
    return answerable


_READER: TypeAdapter[Question] = TypeAdapter(Annotated[Question, BeforeValidator(_as_question)])


def load_questions(path: str | Path, limit: int | None = None) -> list[Question]:
    """Read questions from a file, one JSON object per line.

    Unknown fields are left out; a warning says how many lines have them.

    Args:
        path: a file of JSON lines, in UTF-8.
        limit: the maximum number of questions to return; all lines are checked.

    Returns:
        The questions in the order of the file; the default id is the line number.

    Raises:
        QuestionFileError: when the file cannot be read or has no questions, or when lines, also beyond the limit, are
            not questions or repeat an id; the message lists the first twenty.
        ValueError: when the limit is not a whole number of at least 1.
    """
    if limit is not None:
        expect_count(limit, "limit")
    questions: list[Question] = []
    lines: dict[str, int] = {}
    fields: Counter[str] = Counter()
    problems: list[str] = []
    # Not splitlines(): JSON strings may contain characters such as U+2028.
    for number, line in enumerate(_lines_of(path).split("\n"), start=1):
        if line.strip():
            try:
                questions.append(_question(line, number, lines, fields))
            except QuestionFileError as error:
                problems.append(f"{path}, line {number}: {error}")
    if problems:
        raise QuestionFileError(first_problems(problems))
    if not questions:
        raise QuestionFileError(f"{path}: expected one question per line, got no line with text")
    _tell_unknown_fields(path, fields)
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


def _lines_of(path: str | Path) -> str:
    text = _text(path)
    if form := other_form(text):
        raise QuestionFileError(
            f"{path}: expected JSON lines, which is an object with question and answers on each line, got {form}; "
            "docs/evaluation.md has scripts that convert such files, under 'Questions from elsewhere'"
        )
    return text


def _text(path: str | Path) -> str:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise QuestionFileError(f"{path}: expected a file of questions, got {error.strerror}") from error
    try:
        return decoded(content)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise QuestionFileError(
            f"{path}, line {line}: expected UTF-8, got the byte 0x{error.object[error.start]:02x}"
        ) from error


def _tell_unknown_fields(path: str | Path, fields: Counter[str]) -> None:
    """Warn once of each unknown field."""
    for name, number in fields.items():
        if name not in (*_FIELDS, _FOR_READERS):
            close = get_close_matches(name, _FIELDS, n=1)
            meant = f"did it mean {close[0]!r}?" if close else f"those of a question are {', '.join(_FIELDS)}"
            _log.warning("%s: left out the field %r of %s; %s", path, name, counted(number, "line"), meant)


def _question(line: str, number: int, lines: dict[str, int], fields: Counter[str]) -> Question:
    """Read the question on a line; record the line of its id in `lines`, and count its fields."""
    try:
        found = json.loads(line, parse_float=str)  # "3.10" is not 3.1
        question = _READER.validate_python(found, context={"line": number, "fields": fields})
    except (ValueError, RecursionError) as error:
        wrong = wrong_field(error, "line") if isinstance(error, ValidationError) else f"Invalid JSON: {error}"
        raise QuestionFileError(
            f"expected a JSON object with question and answers (a list of strings); {wrong}; got {line.strip()[:200]}"
        ) from error
    if not question.get("answers") and not question.get("supporting_ids"):
        raise QuestionFileError(
            f"expected answers ({UNANSWERABLE!r} where there is none) or supporting_ids, got {line.strip()[:200]}"
        )
    if lines.setdefault(question["id"], number) != number:
        raise QuestionFileError(f"expected an id of its own, got {question['id']!r} as on line {lines[question['id']]}")
    return question
