"""Rows become documents: rows of tables and JSON, and those of published question sets, also as questions.

A row of a question set is recognised by its fields. Data hubs write lists of objects as columns, put JSON into strings,
and wrap rows; `rows_in` and `plain` undo that first.
"""

import ast
import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from langgraph_rag.errors import DocumentError
from langgraph_rag.naming import TOLD, expect_name, first_few, first_problems
from langgraph_rag.refusals import UNANSWERABLE
from langgraph_rag.tools.ingest.stages import LONGEST_NAME, PLACE

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
_IN_STRINGS = ("context", "contexts", "supporting_facts", "paragraphs", "question_decomposition", "evidence_list") + (
    "golden_answers", "answer_aliases", "possible_answers", "o_aliases", "metadata",
)  # fmt: skip
_TEXTS = ("question", "query", "Prompt", "contents", "text", "body", "passage")  # a row has one of them
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


def rows_in(value: object, text: str = "text") -> object:
    """Return the list of rows in a JSON value of another form: columns, splits, rows by id, a hub's page, and the like.

    >>> rows_in({"question": ["Who?", "When?"], "answer": {"0": "Ann", "1": "1902"}})
    [{'question': 'Who?', 'answer': 'Ann'}, {'question': 'When?', 'answer': '1902'}]
    >>> rows_in({"rows": [{"row_idx": 0, "row": {"question": "Who?"}}]})
    [{'question': 'Who?'}]
    >>> rows_in({"version": "1.1", "data": [{"question": "Who?"}]}), rows_in({"q7": {"question": "Who?"}})
    ([{'question': 'Who?'}], [{'id': 'q7', 'question': 'Who?'}])

    Args:
        value: the value.
        text: the field that a row of its own would have.
    """
    if not isinstance(value, dict) or any(isinstance(value.get(name), str) for name in (text, *_TEXTS)):
        return value
    if _are_objects(value.get("rows"), "row"):
        return [one["row"] for one in value["rows"]]
    columns = {key: _column(given) for key, given in value.items()}
    if None not in columns.values() and not columns.keys().isdisjoint(_TEXTS):
        return _transposed(columns)
    if {"columns", "index", "data"} == value.keys():  # of pandas, `orient="split"`
        return [dict(zip(value["columns"], row, strict=False)) for row in value["data"]]
    if lists := [given for given in value.values() if isinstance(given, list) and _are_rows(given)]:
        return [*chain.from_iterable(lists)]
    if _are_rows([*value.values()]):
        return [{"id": key, **row} for key, row in value.items()]
    if value and all(_are_sentences(given) for given in value.values()):
        return [{"title": title, "text": joined(given)} for title, given in value.items()]  # HippoRAG's HotpotQA
    return value


def _column(given: object) -> list[object] | None:
    """Return a column, which pandas writes as an object with the numbers of rows; None if it is none."""
    if isinstance(given, dict) and given and all(key.isdigit() for key in given):
        return list(given.values())
    return given if isinstance(given, list) else None


def _are_rows(given: Sequence[object]) -> bool:
    """Return whether a list has rows, each with a text or a question."""
    return bool(given) and all(isinstance(one, dict) and not one.keys().isdisjoint(_TEXTS) for one in given)


def _are_sentences(given: object) -> bool:
    return isinstance(given, list) and all(isinstance(one, str) for one in given) and any(" " in one for one in given)


def joined(sentences: Iterable[object]) -> str:
    """Return the text of sentences, of which many begin with a space."""
    return " ".join(str(one).strip() for one in sentences).strip()


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
            fields[key] = _parsed_field(key, value)
    if isinstance(value := fields.get("answerable"), str):  # in a table
        fields["answerable"] = value.strip().lower() != "false"
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
        title = first.strip()
        if len(title) > 1 and title[0] == title[-1] == '"':
            title, text = title[1:-1].replace('""', '"'), text.replace('""', '"')  # quoted as in CSV
        rest = {key: value for key, value in fields.items() if key != "contents"}
        if str(fields.get("title", title)).strip('"') != title.strip('"'):
            return {**rest, "text": fields["contents"]}
        return {**rest, "title": title, "text": text.strip()} if text.strip() else {**rest, "text": title}
    if name == "multihop-rag":
        rest = {key: value for key, value in fields.items() if key not in ("body", "source", "url")}
        return {**rest, "text": fields["body"], "publisher": fields.get("source"), "source": fields.get("url")}
    if name == "hipporag":
        title, _, text = str(fields["passage"]).partition("\n")
        return {"id": fields.get("idx"), "title": title if text else "", "text": text or title}
    rest = {key: value for key, value in fields.items() if key not in ("_id", "metadata")}
    return {**rest, "id": fields["_id"], "text": fields["text"] or fields.get("title")}  # many have only a title


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
        text = joined(written if isinstance(written, list) else [written])
        yield _Paragraph(str(part["title"]), text, part.get("is_supporting"))


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
    """Return the titles in pairs of a title and a sentence, in objects, or in columns of both."""
    given = fields.get("supporting_facts", [])
    found = given.get("title") if isinstance(given, dict) else given
    if not isinstance(found, list):
        raise ValueError(f"expected supporting_facts with titles, got {given!r:.80}")
    return list(dict.fromkeys(str(_title_in(one)) for one in found))


def _title_in(fact: object) -> object:
    if isinstance(fact, dict):
        return fact.get("title")
    return fact[0] if isinstance(fact, list) and fact else fact


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
    given = _transposed(fields[key]) if isinstance(fields[key], dict) else fields[key]
    if not isinstance(given, list) or not all(isinstance(one, dict) and _has(one, needed) for one in given):
        raise ValueError(f"expected a list of objects with {' and '.join(needed)} in {key}, got {given!r:.80}")
    return given


def _page_title(link: str) -> str:
    """Return the title of a Wikipedia page from its address.

    >>> _page_title("https://en.wikipedia.org/wiki/Nine_Tides_(film)#Cast")
    'Nine Tides (film)'
    """
    parts = urlsplit(link)
    named = parse_qs(parts.query).get("title") or [unquote(parts.path.rpartition("/")[2])]
    return named[0].replace("_", " ")


def _transposed(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of an object with lists of the same length; other values are left out.

    Raises:
        ValueError: when the lists differ in length.
    """
    lists = {key: value for key, value in columns.items() if isinstance(value, list)}
    if len(lengths := {len(value) for value in lists.values()}) > 1:
        shown = ", ".join(f"{key} {len(value)}" for key, value in lists.items())
        raise ValueError(f"expected columns of the same length, got {shown}")
    return [{key: value[number] for key, value in lists.items()} for number in range(max(lengths, default=0))]


def _parsed_field(key: str, value: str) -> object:
    """Return what a string holds as JSON, or as Python writes it into a table; or the string if it is a text."""
    if not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        try:
            return ast.literal_eval(_WithoutArrays().visit(ast.parse(value.strip(), mode="eval")))
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            raise ValueError(f"expected JSON in {key}, got {value[:80]!r} ({error})") from error


class _WithoutArrays(ast.NodeTransformer):
    """Replaces the arrays of NumPy by their lists."""

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        is_array = isinstance(node.func, ast.Name) and node.func.id == "array" and len(node.args) == 1
        return self.visit(node.args[0]) if is_array else node


def _first(fields: Row, names: Sequence[str]) -> str:
    return next((name for name in names if name in fields), "")


def _are_objects(value: object, key: str) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) and key in one for one in value)


OneRow = TypeVar("OneRow")
FieldNames = Mapping[str, str]
"""The names of fields that differ from those of documents: `{"text": "body"}`."""
Documents = tuple[list[dict[str, object]], list[str]]
"""The documents of a file, and the problems of its invalid objects."""


def to_documents(
    rows: Iterable[tuple[str, OneRow]],
    fields_of: Callable[[OneRow, str], dict[str, object]],
    file: Path,
    names: FieldNames,
    set_name: str = "",
) -> Documents:
    """Return the documents in rows with their places, and the problems of invalid ones.

    A row of a published question set may have several, or none; `set_name` says of which, where it is known.

    Raises:
        DocumentError: when no row has a field of `names`, or the rows are questions without passages.
    """
    documents: list[dict[str, object]] = []
    problems: list[str] = []
    there: dict[str, object] = {}
    for place, row in rows:
        try:
            fields = fields_of(row, place)
            there |= dict.fromkeys(fields)
            for each in _in_set(fields, names, place, set_name):
                document = _document(each, names, place)
                documents.append({**document, "source": document.get("source") or str(file), PLACE: place})
        except DocumentError as error:
            problems.append(str(error))
    for ours, theirs in names.items():
        if theirs not in (ours, *there):
            got = first_few([*map(repr, there)], TOLD)
            wrong = f"{file}: expected a field {theirs!r} ({ours}) in some line, got the fields {got}"
            raise DocumentError(first_problems([wrong, *problems]))
    if not documents and not problems:
        raise DocumentError(f"{file}: expected passages, got questions without any: give it to `eval --questions`")
    return documents, problems


def _in_set(fields: Mapping[str, object], names: FieldNames, place: str, set_name: str) -> list[Mapping[str, object]]:
    """Return the documents in a row of a question set; a row of another kind is a document itself."""
    if names.get("text", "text") != "text":
        return [fields]
    try:
        found = documents_in(fields, set_name)
    except ValueError as error:
        raise DocumentError(f"{place}: {error}") from error
    return [fields] if found is None else [*found]


def _document(fields: Mapping[str, object], names: FieldNames, place: str) -> dict[str, object]:
    wanted = names.get("text", "text")
    if wanted not in fields:
        got = f"the fields {first_few([*map(repr, fields)], TOLD)}" if fields else "no fields"
        raise DocumentError(
            f"{place}: expected a text in {wanted!r}, got {got} "
            "(on the command line, `index --text-field NAME` takes it from another one)"
        )
    if not isinstance(text := fields[wanted], str) or not text.strip():
        raise DocumentError(f"{place}: expected a text in {wanted!r}, got {text!r:.80}")
    others = {name: value for name, value in fields.items() if name not in names.values()}
    return {**others, **{ours: fields[theirs] for ours, theirs in names.items() if theirs in fields}}


_SEPARATORS = "\t;|,"  # those that stand less in texts first
_SEEN = 50_000  # characters by which the separator is chosen
_DECLARED = re.compile(r"\s*sep=(.)\s*\n", re.IGNORECASE)  # as Excel reads it
_QUOTED = re.compile('"[^"]*"')
_NAMING, _NUMBERING = ("title", "name"), ("id", "index", "no", "nr", "#")
_MISSING = {"null", "nan", "n/a", "#n/a"}
_ITEM = re.compile(r"[-*\u2022] +")
_CORNER = re.compile(  # above the names of properties
    r"(?:propert(?:y|ies)|features?|fields?|attributes?|parameters?|spec(?:ification)?s?|characteristics?"
    r"|models?|products?|versions?|variants?|editions?|):?",
    re.IGNORECASE,
)
_NO_THING = re.compile(
    r"|(?:FY ?)?\d{4}|(?:min|max|typ)\.?|(?:minim|maxim)um|typical|average|mean|total|values?|units?", re.IGNORECASE
)
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*\s*")
_LONGEST_CELL = 10_000_000  # characters

Placed = tuple[str, list[str]]
"""A row and its place, such as "boats.csv, line 2"."""

csv.field_size_limit(_LONGEST_CELL)  # one for the process; by default a long text is an error


def read_table(text: str, file: Path, names: FieldNames, set_name: str = "") -> Documents:
    """Read the rows of a table, whose first row has the names of its columns.

    If there is no column of texts, each row is described by `- Column: value` lines. Its title is then in the column
    "title" or "name", or else in the first one that does not number the rows.

    Raises:
        DocumentError: when the text is no table, has no rows, or has no column of `names`.
    """
    columns, rows = _columns_and_rows(text, file)
    if not names and not set_name:
        (_, columns), *rows = by_things([(f"{file}, line 1", columns), *rows])
    return read_rows(columns, rows, file, names, set_name)


def read_rows(
    columns: Sequence[str], rows: Sequence[Placed], file: Path, names: FieldNames, set_name: str = ""
) -> Documents:
    """Read the rows of a table, each with its place, given the different names of its columns.

    Raises:
        DocumentError: when no column has a name of `names`.
    """
    texts = names.get("text", "text")
    if texts in columns or texts != "text":
        return to_documents(rows, partial(_fields, columns), file, names, set_name)
    titles = _title_of(columns, [cells for _, cells in rows], names)
    return to_documents(rows, partial(_described, columns, titles), file, names, set_name)


def are_things_across(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the names of columns are things that rows compare: each row has a unit of its own.

    >>> are_things_across([["", "A1", "B2"], ["Power", "5 kW", "7 kW"], ["Weight", "20 kg", "30 kg"]])
    True
    >>> are_things_across([["", "Power", "Weight"], ["A1", "5 kW", "20 kg"], ["B2", "7 kW", "30 kg"]])
    False
    """
    (corner, *things), *body = rows
    if len(things) < 2 or not _CORNER.fullmatch(corner) or any(map(_NO_THING.fullmatch, things)):
        return False
    units = [{_DIGITS.sub("0", cell) for cell in cells} for _, *cells in body if all(map(_DIGITS.search, cells))]
    common = [unit for of_row in units if len(of_row) == 1 for unit in of_row]
    return len({*common}) > 1 and 2 * len(common) > len(units)


def by_things(table: Sequence[Placed]) -> Sequence[Placed]:
    """Return a table with a row for each thing, below the names of columns: turned, if they are in its first row."""
    rows = [row for _, row in table]
    names = ["Name", *(row[0].rstrip(": ") for row in rows[1:])]
    even = all(names) and len({*names}) == len(names) and len({*map(len, rows)}) == 1
    if not even or not are_things_across(rows):
        return table
    things = [list(column) for column in zip(*rows, strict=True) if any(column[1:])][1:]
    return [("", names), *((table[0][0], thing) for thing in things)]


def table_rows(text: str, file: Path) -> list[tuple[str, dict[str, object]]]:
    """Return the rows of a table as they are, each with its place and its cells that are not empty.

    Raises:
        DocumentError: when the text is no table, or has no rows.
    """
    columns, rows = _columns_and_rows(text, file)
    return [(place, _fields(columns, row, place)) for place, row in rows]


def _columns_and_rows(text: str, file: Path) -> tuple[list[str], list[Placed]]:
    (_, columns), *rows = _rows(text, file) or [("", [])]
    if not rows:
        raise DocumentError(f"{file}: expected rows below the names of columns, got none")
    if repeated := [name for name, number in Counter(columns).items() if name and number > 1]:
        raise DocumentError(f"{file}: expected columns with different names, got {repeated[0]!r} twice")
    return columns, rows


def _rows(text: str, file: Path) -> list[Placed]:
    """Return the rows that are not blank, with their places."""
    declared = _DECLARED.match(text)
    begin = declared.end() if declared else 0
    separator = declared[1] if declared else "\t" if file.suffix.lower() == ".tsv" else _separator(text)
    try:
        rows = _parsed(text[begin:], separator, csv.QUOTE_MINIMAL)
    except DocumentError as error:
        if separator != "\t":
            raise DocumentError(f"{file}, {error}") from error
        rows = _parsed(text[begin:], separator, csv.QUOTE_NONE)  # many have quotation marks as they stand in texts
    return [(f"{file}, line {text[:begin].count(chr(10)) + line}", row) for line, row in rows if any(row)]


def _separator(table: str) -> str:
    """Return the separator of the first row by which most others have as many cells."""
    head, *rows = _QUOTED.sub("", table[:_SEEN].lstrip()).split("\n")
    return max(
        [separator for separator in _SEPARATORS if separator in head] or ",",
        key=lambda separator: sum(row.count(separator) == head.count(separator) for row in rows),
    )


def _parsed(table: str, separator: str, quoting: Literal[0, 3]) -> list[tuple[int, list[str]]]:
    """Return the rows with the numbers of their last lines; not by `splitlines`, as cells may contain U+2028."""
    reader = csv.reader(
        StringIO(table, newline=""), delimiter=separator, skipinitialspace=True, strict=True, quoting=quoting
    )
    try:
        return [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise DocumentError(f"line {reader.line_num}: expected a row of a table, got {error}") from error


def _title_of(columns: Sequence[str], rows: Sequence[Sequence[str]], names: FieldNames) -> str:
    """Return the name of the column with the titles of rows."""
    counting = [name for name, cells in zip(columns, zip(*rows, strict=False), strict=False) if _counts(cells)]
    given = [name for name in columns if name == names.get("title")]
    naming = [name for name in columns if name.lower() in _NAMING]
    others = [name for name in columns if name and name.lower() not in _NUMBERING and name not in counting]
    return next(iter([*given, *naming, *others, *columns]))


def _counts(cells: Sequence[str]) -> bool:
    """Return whether cells count their rows, from 0 or 1 on."""
    return any(all(cell == str(number) for number, cell in enumerate(cells, start)) for start in (0, 1))


def _fields(columns: Sequence[str], row: Sequence[str], place: str) -> dict[str, object]:
    """Return the named cells that are not empty."""
    if any(row[len(columns) :]):
        raise DocumentError(f"{place}: expected {len(columns)} cells, as the first row has, got {len(row)}")
    return {name: cell for name, cell in zip(columns, row, strict=False) if name and cell}


def _described(columns: Sequence[str], naming: str, row: Sequence[str], place: str) -> dict[str, object]:
    """Return the named cells, a text that describes the row by them, and a title."""
    fields = _fields(columns, row, place)
    title = str(fields.get(naming, ""))
    named = {naming} if len(title) <= LONGEST_NAME else set()  # a longer one is told whole
    told = {name: _in_line(str(cell)) for name, cell in fields.items() if name not in named}
    lines = [f"- {_label(name)}: {cell}" for name, cell in told.items() if cell.lower() not in _MISSING]
    return {**fields, "source": None, "title": title[:LONGEST_NAME], "text": "\n".join(lines) or title}


def _in_line(cell: str) -> str:
    """Return the lines of a cell in one: those of a list have commas between them, and not their marks."""
    lines = [" ".join(line.split()) for line in cell.splitlines() if line.strip()]
    items = [_ITEM.sub("", line) if lines[1:] else line for line in lines]
    told = "".join(items[:1])
    for line, item in zip(lines[1:], items[1:], strict=True):
        is_item = item != line or not line[0].islower()
        told += (", " if is_item and told[-1:].isalnum() else " ") + item
    return told


def _label(name: str) -> str:
    """Return the name of a column as the label of a line: "date_of_birth" as "Date of birth"."""
    words = name.replace("_", " ").rstrip(": ")
    return words[:1].upper() + words[1:]


def read_json(text: str, file: Path, names: FieldNames, set_name: str = "") -> Documents:
    """Read the objects in a JSON file, which are in a list, or one per line.

    Raises:
        DocumentError: when the text is not JSON, the list is empty, or no object has a field of `names`.
    """
    rows = elements_of(text, file, own=names.get("text", "text"))
    if rows is None:
        lines = enumerate(text.split("\n"), start=1)  # not splitlines(): JSON may contain U+2028
        placed = ((f"{file}, line {number}", line) for number, line in lines if line.strip())
        return to_documents(placed, _fields_of_line, file, names, set_name)
    if not rows:
        raise DocumentError(f"{file}: expected documents, got an empty list")
    elements = [(f"{file}, element {number}", element) for number, element in enumerate(rows, start=1)]
    return to_documents(elements, _object, file, names, set_name)


def elements_of(
    text: str, file: Path, *, own: str, parse_float: Callable[[str], object] = float
) -> list[object] | None:
    """Return the rows of a text that is one JSON value, whatever its name; None if it is JSON lines.

    Args:
        text: the text.
        file: its file, for messages.
        own: the field that a row of its own would have.
        parse_float: reads numbers.

    Raises:
        DocumentError: when it is neither.
    """
    first, _, rest = text.strip().partition("\n")
    named = file.name.lower().endswith((".json", ".json.gz"))
    if rest and _is_json(first):
        return None
    try:
        value = _loaded(text, str(file), parse_float)
    except DocumentError:
        if named or rest and _begins_value(first):
            raise
        return None
    try:
        rows = rows_in(value, own)
    except ValueError as error:
        raise DocumentError(f"{file}: {error}") from error
    if isinstance(rows, list):
        return rows if named or any(isinstance(row, dict) for row in rows) else None
    return [rows] if rest else None


def _begins_value(line: str) -> bool:
    """Return whether a line begins a JSON value that is written over several."""
    return line.startswith("[") or line.strip() == "{"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _loaded(text: str, place: str, parse_float: Callable[[str], object] = float) -> object:
    try:
        return json.loads(text, parse_float=parse_float)
    except (ValueError, RecursionError) as error:  # plain ValueError: a number of too many digits
        raise DocumentError(f"{place}: expected a JSON object, got {text[:80]!r} ({error})") from error


def _fields_of_line(line: str, place: str) -> dict[str, object]:
    return _object(_loaded(line, place), place)


def _object(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise DocumentError(f"{place}: expected a JSON object with a text, got {value!r:.80}")
    return value
