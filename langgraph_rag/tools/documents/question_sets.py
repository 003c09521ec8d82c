"""Reads rows of published question sets: their paragraphs as documents, their questions in this package's form.

A row is recognised by its fields. Data hubs write lists of objects as columns, put JSON into strings, and wrap rows;
`plain` undoes that first.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from langgraph_rag.naming import expect_name
from langgraph_rag.refusals import UNANSWERABLE

Row = Mapping[str, Any]

_QUESTIONS = {
    "hotpotqa": ("question", "context"),
    "2wikimultihopqa": ("question", "context"),
    "musique": ("question", "paragraphs"),
    "hipporag": ("question", "contexts"),
    "flashrag": ("question", "golden_answers"),
    "multihop-rag": ("query", "answer", "evidence_list"),
    "frames": ("Prompt", "Answer", "wiki_links"),
    "beir": ("_id", "text", "supporting_ids"),  # the last are read from its judgements
}
_CORPORA = {
    "flashrag": ("id", "contents"),
    "multihop-rag": ("title", "body", "published_at"),
    "hipporag": ("passage", "extracted_triples"),
    "beir": ("_id", "text"),
}
SETS = sorted(_QUESTIONS)
"""The names of the sets: the values of `--format`."""
_IN_STRINGS = ("context", "contexts", "supporting_facts", "paragraphs", "metadata", "evidence_list", "possible_answers")
_SENTENCES = ("sentences", "content", "text", "paragraph_text")  # fields of a paragraph with its text
_ANSWERS = ("answers", "answer", "golden_answers", "Answer", "gold_ans", "reference", "answer_aliases")
_OF_POPQA = ("obj", "o_wiki_title", "possible_answers", "o_aliases")  # answers in HippoRAG's copy of it
_TYPES = ("type", "question_type", "reasoning_types")
_OF_BEIR = {"_id", "title", "text", "metadata"}
_LINK = "wikipedia_link"  # begins the names of FRAMES' columns
_ADDRESS = re.compile(r"https?://(?:[^\s'\",]|,(?!\s|http)|'(?=\w))+")  # may contain commas and apostrophes


class _Paragraph(NamedTuple):
    title: str
    text: str
    supports: bool | None  # None where only titles tell

    @property
    def id(self) -> str:
        return sha256(f"{self.title}\n{self.text}".encode()).hexdigest()[:16]


def rows_in(value: object) -> object:
    """Return the list of rows in a JSON value of another form: an object of columns, a hub's page, OpenIE results.

    >>> rows_in({"question": ["Who?", "When?"], "answer": ["Ann", "1902"]})
    [{'question': 'Who?', 'answer': 'Ann'}, {'question': 'When?', 'answer': '1902'}]
    >>> rows_in({"rows": [{"row_idx": 0, "row": {"question": "Who?"}}]})
    [{'question': 'Who?'}]
    """
    if not isinstance(value, dict):
        return value
    if _are_objects(value.get("docs"), "passage"):
        return value["docs"]
    if _are_objects(value.get("rows"), "row"):
        return [one["row"] for one in value["rows"]]
    if any(isinstance(value.get(name), list) for name in ("question", "query", "contents")):
        return _transposed(value)
    return value


def documents_in(row: Row, name: str = "") -> list[dict[str, object]] | None:
    """Return the documents in a row: the paragraphs of a question, or the passage of a corpus.

    Args:
        row: the fields of a row.
        name: the name of the set, where it is known.

    Returns:
        Documents with title, text and mostly an id; none in a question without paragraphs. None if the row is of no
            such set: it is a document of its own.

    Raises:
        ValueError: when the row is not of the set of that name, or a field has another form than the set's.
    """
    fields = plain(row)
    found = _corpus_of(fields, name)
    if found:
        return [_passage_of(fields, found)]
    if not (found := _question_set(fields, name)):
        if name:
            raise _not_of(name, fields)
        return None
    return [{"id": one.id, "title": one.title, "text": one.text} for one in _paragraphs(fields) if one.text]


def question_in(row: Row, name: str = "") -> dict[str, object] | None:
    """Return the question in a row: `id`, `question`, `answers`, `type`, and what supports the answer.

    `supporting_ids` are the ids that `documents_in` gives to the paragraphs. `gold` has their places, by which they
    are found in a knowledge base that got them from elsewhere.

    Args:
        row: the fields of a row.
        name: the name of the set, where it is known.

    Returns:
        The fields, or None if the row is of no such set.

    Raises:
        ValueError: when the row is not of the set of that name, or a field has another form than the set's.
    """
    fields = plain(row)
    if not (found := _question_set(fields, name)):
        if name:
            raise _not_of(name, fields)
        return None
    asked = fields[_first(fields, ("question", "query", "Prompt", "text"))]
    answerable = fields.get("answerable", True) and fields.get("question_type") != "null_query"
    id_ = fields.get("id", fields.get("_id"))
    question = {
        "id": f"{id_}, unanswerable" if fields.get("answerable") is False else id_,  # its twin has the same id
        "question": asked,
        "answers": _answers(fields) if answerable else [UNANSWERABLE],
        "type": fields.get(_first(fields, _TYPES)),
        **(_support(fields, found) if answerable else {}),
    }
    return {key: value for key, value in question.items() if value not in (None, [])}


def plain(row: Row) -> dict[str, Any]:
    """Return the fields of a row as its authors wrote them, with those that FlashRAG keeps in its `metadata`.

    Raises:
        ValueError: when a string that should be JSON is not.
    """
    fields = {key: value for key, value in row.items() if value is not None and value == value}  # unlike NaN
    for key in _IN_STRINGS:
        if isinstance(value := fields.get(key), str):
            fields[key] = _loaded(key, value)
    if isinstance(inner := fields.get("metadata"), dict) and "golden_answers" in fields:
        fields = {**plain(inner), **fields}
    return fields


def _question_set(fields: Row, name: str) -> str:
    """Return the name of the set of a question, or "" if it is of none."""
    if name:
        return name if _has(fields, _QUESTIONS[_known(name)]) else ""
    if isinstance(fields.get("context"), str) or not fields.get("context", True):
        return ""  # a field of that name that holds no paragraphs
    return next((one for one, needed in _QUESTIONS.items() if _has(fields, needed)), "")


def _corpus_of(fields: Row, name: str) -> str:
    """Return the name of the set of a passage, or "" if it is of none."""
    if name:
        return name if (needed := _CORPORA.get(_known(name))) and _has(fields, needed) else ""
    found = next((one for one, needed in _CORPORA.items() if _has(fields, needed) and "question" not in fields), "")
    return "" if found == "beir" and not _OF_BEIR.issuperset(fields) else found  # others have fields of that name, too


def _known(name: str) -> str:
    expect_name("format", name, SETS)
    return name


def _has(fields: Row, needed: Sequence[str]) -> bool:
    return all(key in fields for key in needed)


def _not_of(name: str, fields: Row) -> ValueError:
    wanted = " or ".join(", ".join(needed) for kind in (_QUESTIONS, _CORPORA) if (needed := kind.get(name)))
    return ValueError(f"expected a row of {name} with the fields {wanted}, got {', '.join(fields) or 'none'}")


def _passage_of(fields: Row, name: str) -> dict[str, object]:
    if name == "flashrag":
        first, _, text = str(fields["contents"]).partition("\n")
        title = first.strip().removeprefix('"').removesuffix('"')
        rest = {key: value for key, value in fields.items() if key != "contents"}
        if not text.strip() or fields.get("title", title) != title:
            return {**rest, "text": fields["contents"]}
        return {**rest, "title": title, "text": text.strip()}
    if name == "multihop-rag":
        rest = {key: value for key, value in fields.items() if key not in ("body", "source", "url")}
        return {**rest, "text": fields["body"], "publisher": fields.get("source"), "source": fields.get("url")}
    if name == "hipporag":
        title, _, text = str(fields["passage"]).partition("\n")
        return {"id": fields.get("idx"), "title": title if text else "", "text": text or title}
    rest = {key: value for key, value in fields.items() if key not in ("_id", "metadata")}
    return {**rest, "id": fields["_id"]}


def _paragraphs(fields: Row) -> Iterator[_Paragraph]:
    """Yield the paragraphs of a question: pairs of title and sentences, or objects."""
    if (key := _first(fields, ("paragraphs", "contexts", "context"))) or "question_decomposition" not in fields:
        given = fields.get(key, [])
        parts = _transposed(given) if isinstance(given, dict) else given
    else:  # FlashRAG's MuSiQue
        steps = _objects(fields, "question_decomposition", "support_paragraph")
        parts = [{**one["support_paragraph"], "is_supporting": True} for one in steps]
    if not isinstance(parts, list):
        raise ValueError(f"expected a list of paragraphs, got {parts!r:.80}")
    for part in parts:
        if isinstance(part, list) and len(part) == 2:
            part = {"title": part[0], "sentences": part[1]}
        if not isinstance(part, dict) or "title" not in part or not (key := _first(part, _SENTENCES)):
            raise ValueError(f"expected paragraphs with a title and a text, got {part!r:.80}")
        written = part[key]
        text = " ".join(str(one).strip() for one in written) if isinstance(written, list) else str(written)
        yield _Paragraph(str(part["title"]), text.strip(), part.get("is_supporting"))


def _support(fields: Row, name: str) -> dict[str, object]:
    """Return the ids and places of what supports an answer; only places where a text is not in the file."""
    match name:
        case "frames":
            return {"gold": [{"title": title} for title in dict.fromkeys(map(_page_title, _links(fields)))]}
        case "multihop-rag":
            facts = _objects(fields, "evidence_list", "title", "fact")
            return {"gold": [{"title": one["title"], "contains": one["fact"]} for one in facts]}
        case "beir":
            return {"supporting_ids": fields["supporting_ids"]}
    titles = _supporting_titles(fields)
    paragraphs = list(_paragraphs(fields))
    gold = [one for one in paragraphs if one.text and (one.title in titles if one.supports is None else one.supports)]
    missing = [title for title in titles if title not in {one.title for one in gold}]
    places = [{"title": one.title, "contains": one.text} for one in gold] + [{"title": title} for title in missing]
    ids = [] if missing else [one.id for one in gold]
    return {"supporting_ids": list(dict.fromkeys(ids)), "gold": places}


def _supporting_titles(fields: Row) -> list[str]:
    """Return the titles in pairs of a title and a sentence, or in columns of both."""
    given = fields.get("supporting_facts", [])
    found = given.get("title") if isinstance(given, dict) else given
    if not isinstance(found, list):
        raise ValueError(f"expected supporting_facts with titles, got {given!r:.80}")
    return list(dict.fromkeys(str(one[0] if isinstance(one, list) and one else one) for one in found))


def _answers(fields: Row) -> list[object]:
    """Return the gold answers and their aliases; fields may have one or a list."""
    if isinstance(inner := fields.get("metadata"), dict) and "answer" in inner:  # BEIR's HotpotQA
        return [inner["answer"]]
    names = _ANSWERS if _first(fields, _ANSWERS) else _OF_POPQA
    given = [fields[name] for name in names if name in fields]
    return [answer for one in given for answer in (one if isinstance(one, list) else [one])]


def _links(fields: Row) -> list[str]:
    """Return the addresses in FRAMES' columns, of which one holds a list as Python writes it."""
    columns = [str(value) for key, value in fields.items() if key == "wiki_links" or key.startswith(_LINK)]
    return [link for column in columns for link in _ADDRESS.findall(column)]


def _objects(fields: Row, key: str, *needed: str) -> list[dict[str, Any]]:
    given = fields[key]
    if not isinstance(given, list) or not all(isinstance(one, dict) and _has(one, needed) for one in given):
        raise ValueError(f"expected a list of objects with {' and '.join(needed)} in {key}, got {given!r:.80}")
    return given


def _page_title(link: str) -> str:
    """Return the title of a Wikipedia page from its address.

    >>> _page_title("https://en.wikipedia.org/wiki/Nine_Tides_(film)#Cast")
    'Nine Tides (film)'
    """
    return unquote(urlsplit(link).path.rpartition("/")[2]).replace("_", " ")


def _transposed(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of an object with lists of the same length; other values stand for themselves in each row.

    Raises:
        ValueError: when the lists differ in length.
    """
    lists = {key: value for key, value in columns.items() if isinstance(value, list)}
    if len(lengths := {len(value) for value in lists.values()}) > 1:
        shown = ", ".join(f"{key} {len(value)}" for key, value in lists.items())
        raise ValueError(f"expected columns of the same length, got {shown}")
    return [{key: value[number] for key, value in lists.items()} for number in range(max(lengths, default=0))]


def _loaded(key: str, value: str) -> object:
    """Return what a string holds as JSON, or the string if it is a text."""
    if not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"expected JSON in {key}, got {value[:80]!r} ({error})") from error


def _first(fields: Row, names: Sequence[str]) -> str:
    return next((name for name in names if name in fields), "")


def _are_objects(value: object, key: str) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) and key in one for one in value)
