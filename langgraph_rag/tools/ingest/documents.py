"""Converts documents in all accepted forms to passages."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import dropwhile
from numbers import Number
from os import PathLike, fspath
from typing import Any, TypeGuard
from uuid import UUID

from langchain_core.documents import Document

from langgraph_rag.arguments import expect_list
from langgraph_rag.characters import is_text, without_controls
from langgraph_rag.errors import DocumentError, DuplicateIdError
from langgraph_rag.naming import first_few
from langgraph_rag.normal_forms import UNSPACED, without_piles
from langgraph_rag.records import Passage
from langgraph_rag.tools.facts.topics import opening_of
from langgraph_rag.tools.ingest.splitting import Splitter
from langgraph_rag.tools.stores.origins import to_metadata
from langgraph_rag.tools.stores.records import content_hash

PLACE = "place in a file"  # the field with the name of a document from a file in messages
_FIELDS = ("id", "title", "text", "source", PLACE)  # all others are metadata
_LIFTED = ("title", "source")  # from the metadata
_LONGEST = 1_000_000  # characters of a passage: the limit of spaCy
_TOLD = 20  # fields named in a message about a document without text
LONGEST_NAME = 1_000  # characters of a title or id: a title is in every prompt with its passage
AnyDocument = Document | Mapping[str, object]
DocumentsById = dict[str, tuple[Passage, str]]
"""Earlier documents with ids, and their places."""
ESTIMATING = Splitter()

_LETTER = re.compile(r"[^\W\d_]")
_OTHER_LETTER = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")
_OF_TERMINALS = re.compile(r".\x08|\x1b\[[\d;]*[A-Za-z]")
"""A letter that the next one is printed over, for bold or underlined text, or a code for colours."""
_CUT = re.compile(r"(\w)\u2010\n[ \t]*(?=[^\W\d_])")  # as in manual pages; other hyphens may belong to the word
_UNSEEN = re.compile(rf"[\u00ad\ufeff]|(?<!{UNSPACED.pattern})\u200b(?!{UNSPACED.pattern})")
"""Soft hyphen, byte order mark, zero-width space: they split words, especially in text from PDF files.

But next to characters of scripts without spaces, a zero-width space separates words.
"""


def to_documents(documents: Iterable[AnyDocument], known: DocumentsById | None = None) -> list[Passage]:
    """Check and clean documents in all accepted forms.

    Args:
        documents: LangChain `Document`s or dicts; an id and a title may be numbers.
        known: earlier documents with ids, which must not have another text now; new ones are added if all are valid.

    Returns:
        The documents; those that were given no id have the id "". One without a title has its first line or subject as
            title, or none.

    Raises:
        DocumentError: when a document has no text, is of another kind, has an id and over 1,000,000 characters, a title
            or id of over 1,000, or metadata that cannot be stored.
        DuplicateIdError: when an id has two different texts.
    """
    expect_list(documents, "documents")
    known = {} if known is None else known
    new: DocumentsById = {}
    checked: list[Passage] = []
    for number, given in enumerate(documents, start=1):
        fields = _fields(given, number)
        place = str(fields.get(PLACE, f"document {number}"))
        document = _document(fields, place)
        if id_ := document["id"]:
            first, there = known.get(id_) or new.setdefault(id_, (document, place))
            if (first["title"], first["text"]) != (document["title"], document["text"]):
                raise DuplicateIdError(f"{place}: id {id_!r} was already given with another text or title ({there})")
        checked.append(document)
    known |= new
    return checked


def to_passages(documents: Iterable[AnyDocument], splitter: Splitter = ESTIMATING) -> list[Passage]:
    """Convert documents to passages, each once per source.

    A document with an id is one passage. A document without one is split; its passages keep title, headings, source and
    metadata, and their ids are hashes of their content. If a document has no title, each of its passages gets its own.

    Each passage knows its document and its position in it. One document are all those given with the same `document`
    and source, or else with the same title and source.

    Raises:
        DocumentError, DuplicateIdError: as in `to_documents`.
    """
    whole: defaultdict[tuple[str, ...], dict[str, Passage]] = defaultdict(dict)
    given: dict[tuple[str, str], Passage] = {}
    for number, document in enumerate(to_documents(documents)):
        source, name = document.get("source", ""), document.get("document", "") or document["title"]
        together = whole[(source, name) if source or name else (str(number),)]
        for passage in _passages(document, splitter):
            if given.setdefault((passage["id"], source), passage) is passage:
                together[passage["id"]] = passage
    for passages in whole.values():
        document_id = content_hash(next(iter(passages.values())).get("source", ""), " ".join(passages))
        for position, passage in enumerate(passages.values()):
            passage["document"], passage["position"] = document_id, position
    return list(given.values())


def cleaned(text: str) -> str:
    """Return a text in NFC, without invisible characters and terminal codes; words cut by hyphens are joined."""
    visible = _UNSEEN.sub("", without_piles(without_controls(_OF_TERMINALS.sub("", text))))
    return _CUT.sub(r"\1", unicodedata.normalize("NFC", visible)).strip()


def in_other_scripts(passages: Sequence[Passage]) -> list[str]:
    """Return the ids of the passages of which most letters are not Latin."""
    return [passage["id"] for passage in passages if _is_in_another_script(passage["text"])]


def _is_in_another_script(text: str) -> bool:
    return not text.isascii() and 2 * len(_OTHER_LETTER.findall(text)) > len(_LETTER.findall(text))


def _fields(document: AnyDocument, number: int) -> Mapping[str, object]:
    """Return the fields of a document; title and source may be in its metadata."""
    if isinstance(document, Document):
        document = {"id": document.id, "text": document.page_content, "metadata": document.metadata}
    if not isinstance(document, Mapping):
        raise DocumentError(
            f"document {number}: expected a LangChain Document or a dict with text (and id, title), "
            f"got {type(document).__name__}"
        )
    inner = document.get("metadata")
    if not isinstance(inner, Mapping):
        return document
    lifted = [name for name in _LIFTED if document.get(name) is None and name in inner]
    rest = {name: value for name, value in inner.items() if name not in lifted}
    return {**document, **{name: inner[name] for name in lifted}, "metadata": rest}


def _document(fields: Mapping[str, object], place: str) -> Passage:
    text, title, source = (_string(fields, name, place) for name in ("text", "title", "source"))
    text, title = cleaned(text), cleaned(title)
    if not text:
        instead = (
            ""
            if "text" in fields or not fields
            else f" in 'text', but the fields {first_few([*map(repr, fields)], _TOLD)}"
        )
        raise DocumentError(f"{place} ({fields.get('id') or title or source or 'no id'}): it has no text{instead}")
    id_ = _id(fields, place)
    _check_strings(f"{place} ({ascii(id_ or title):.80})", id=id_, text=text, title=title, source=source)
    title = " ".join(title.splitlines()) or opening_of(text)  # the hash of a passage treats its first line as the title
    if id_ and len(text) > _LONGEST:
        raise DocumentError(
            f"{place} ({id_ or title or source or 'no id'}): expected passages of at most {_LONGEST:,} characters, got "
            f"one of {len(text):,}: leave out its id to have it split, or give it in parts"
        )
    document = Passage(id=id_, title=title, text=_without_heading(title, text))
    if source:
        document["source"] = source
    if metadata := _metadata(fields, place):
        document["metadata"] = metadata
    if _are_headings(headings := fields.get("headings")):
        document["headings"] = headings
    if isinstance(name := fields.get("document"), str) and isinstance(position := fields.get("position"), int):
        document["document"], document["position"] = name, position
    return document


def _passages(document: Passage, splitter: Splitter) -> Iterable[Passage]:
    id_, title = document["id"], document["title"]
    for part in [document["text"]] if id_ else splitter.split(document["text"], title):
        part = _without_heading(title, part.strip("\n"))  # some texts repeat it on each page
        own_title = title or opening_of(part)
        text = _without_heading(own_title, part)
        yield {**document, "id": id_ or content_hash(title, part), "title": own_title, "text": text}


def _are_headings(given: object) -> TypeGuard[list[str]]:
    return isinstance(given, list) and all(isinstance(heading, str) for heading in given)


def _is_placed(fields: Mapping[str, object]) -> bool:
    """Return whether `document` and `position` are those of a passage, and not fields of another meaning."""
    return isinstance(fields.get("document"), str) and isinstance(fields.get("position"), int)


def _check_strings(document: str, **strings: str) -> None:
    for name, value in strings.items():
        if not is_text(value):
            raise DocumentError(
                f"{document}: expected text, got half a surrogate pair in its {name}, {ascii(value):.80}"
            )
        if without_controls(value) != value:
            raise DocumentError(f"{document}: expected no control character in its {name}, got {ascii(value):.80}")
        if name in ("id", "title") and len(value) > LONGEST_NAME:
            raise DocumentError(
                f"{document}: expected at most {LONGEST_NAME:,} characters in its {name}, got {len(value):,}"
            )


def _metadata(fields: Mapping[str, object], place: str) -> dict[str, Any]:
    """Return all other fields of a document, and those in its field `metadata`."""
    own = {*_FIELDS, *(("document", "position") if _is_placed(fields) else ())}
    rest = {
        name: value
        for name, value in fields.items()
        if name not in own and not (name == "headings" and _are_headings(value))
    }
    if isinstance(inner := rest.get("metadata"), Mapping):
        del rest["metadata"]
        rest |= inner
    try:
        return to_metadata(rest)
    except ValueError as error:
        raise DocumentError(f"{place}: its metadata cannot be kept: {error}") from error


def _without_heading(title: str, text: str) -> str:
    """Remove first lines that only repeat the title, as sentences are shown with their titles."""
    heading = title.casefold()
    body = dropwhile(lambda line: line.strip("#*_ \r").casefold() == heading or not line.strip(), text.split("\n"))
    return "\n".join(body).strip() or text


def _id(fields: Mapping[str, object], place: str) -> str:
    id_ = fields.get("id")
    if id_ is None or id_ == "":
        return ""
    if isinstance(id_, bool) or not isinstance(id_, str | Number | UUID) or not str(id_).strip() or id_ != id_:  # NaN
        raise DocumentError(f"{place}: id must be text or a number, got {id_!r:.80}")
    return str(id_)


def _string(fields: Mapping[str, object], name: str, place: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if isinstance(value, PathLike):
        value = fspath(value)
    if name == "title" and isinstance(value, Number) and not isinstance(value, bool) and value == value:  # no NaN
        value = str(value)
    if not isinstance(value, str):
        raise DocumentError(f"{place}: {name} must be a string, got {type(value).__name__}")
    return value if value.strip() else ""
