"""Questions with gold answers, read from a file of JSON lines."""

from pathlib import Path
from typing import Annotated, NotRequired

from pydantic import AliasChoices, BeforeValidator, Field, StringConstraints, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from langgraph_rag.errors import RagError

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


Id = Annotated[str, Field(coerce_numbers_to_str=True)]
Answers = Annotated[
    list[Text],
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    Field(min_length=1, validation_alias=AliasChoices("answers", "answer")),
]


class Question(TypedDict):
    """A question, its accepted answers, and where known its kind and the ids of the passages that support it."""

    id: Annotated[Text, Field(coerce_numbers_to_str=True)]
    question: Text
    answers: Answers
    supporting_ids: NotRequired[list[Id]]
    type: NotRequired[str]


class QuestionFileError(RagError):
    """A file of questions cannot be taken as it is."""


_READER = TypeAdapter(Question)


def load_questions(path: str | Path, limit: int | None = None) -> list[Question]:
    """Read the first questions of a file, one JSON object per line; other fields than a question's are left out.

    Raises:
        QuestionFileError: when the file cannot be read or holds no question, or a line of it, also beyond the limit,
            is no question or repeats an id.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit must be at least 1, got {limit}")
    questions: list[Question] = []
    lines: dict[str, int] = {}
    # Not splitlines(): JSON strings may hold U+2028 and the like.
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if line.strip():
            question = _question(line, f"{path}, line {number}")
            if question["id"] in lines:
                raise QuestionFileError(
                    f"{path}, line {number}: expected an id of its own, got {question['id']!r} "
                    f"as on line {lines[question['id']]}"
                )
            lines[question["id"]] = number
            questions.append(question)
    if not questions:
        raise QuestionFileError(f"{path}: expected one question per line, got no line with text")
    return questions[:limit]


def _text(path: str | Path) -> str:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise QuestionFileError(f"{path}: expected a file of questions, got {error.strerror}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise QuestionFileError(
            f"{path}, line {line}: expected UTF-8, got the byte 0x{error.object[error.start]:02x}"
        ) from error


def _question(line: str, place: str) -> Question:
    try:
        return _READER.validate_json(line)
    except ValidationError as error:
        wrong = error.errors()[0]
        field = ".".join(map(str, wrong["loc"])) or "line"
        raise QuestionFileError(
            f"{place}: expected a JSON object with id, question and answers (a list of strings); "
            f"{field}: {wrong['msg']}; got {line.strip()[:200]}"
        ) from error
