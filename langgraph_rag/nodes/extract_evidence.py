"""MGranRAG's local evidence refinement: extracts sentences with labels for each question and key phrases."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.concurrency.tasks import gather
from langgraph_rag.context import context
from langgraph_rag.llm import ask
from langgraph_rag.matching import resolve, resolve_numbers
from langgraph_rag.metering import count_dropped, tokens_in
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import first_of_each, normalise, stands_in
from langgraph_rag.prompts.answering import TitledText
from langgraph_rag.prompts.mgranrag import EvidenceReply, Extraction, NumberedText
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import Record, ScoredPassage, TraceStep, ids_of, trace_step
from langgraph_rag.refusals import asks_nothing
from langgraph_rag.tools.retrieve.retriever import Retriever

_NUMBER = re.compile(r"\D{0,3}(\d{1,6})(?:\.0)?\D{0,2}")  # 3, 3.0, "3", "[3]", "Q3"
_NUMBERS = re.compile(r"(?:sentences?)?\D{0,3}\d{1,3}(?:\W+(?:and\W+)?\d{1,3})*\D{0,2}", re.IGNORECASE)
_COMMA = re.compile("[,\uff0c\u3001]")
_COPIED = re.compile(r"(?:sentence)?\W*(\d{1,3})\W+(.+)", re.IGNORECASE | re.DOTALL)  # 3. It was designed ...


class EvidenceUnit(TypedDict):
    """A sentence, its key phrases, and the numbers of the questions it supports fully or partly (0: the main one)."""

    passage_id: str
    title: str
    sentence: str
    full: list[int]
    partial: list[int]
    phrases: list[str]
    score: float
    step: int


class ExtractEvidenceInput(TypedDict):
    """The questions, the passages to read, and the memory."""

    question: str
    query: str
    subqueries: list[str]
    retrieved: list[ScoredPassage]
    memory: list[EvidenceUnit]
    trace: list[TraceStep]


@dataclass(frozen=True)
class ExtractEvidence:
    """Extract evidence from the retrieved passages; if they are too long for one call, in several parallel calls."""

    llm: ChatModel
    prompt: Prompt[Extraction]
    kb: Retriever

    async def __call__(self, state: ExtractEvidenceInput) -> dict[str, Any]:
        """Return the evidence of this round, not scored yet, the trace, and the questions that are open."""
        step = len(state["trace"]) + 1
        records = await self.kb.apassages(ids_of(state["retrieved"]))
        parts = await gather(self._read(state, step, part) for part in _parts(records))
        found = [unit for _, units, _ in parts for unit in units]
        thought = " ".join(thought for thought, *_ in parts)
        told = any(0 in unit["full"] for unit in [*state["memory"], *found])  # the answer to the question itself
        still_open = [] if told else list(first_of_each((q for *_, asked in parts for q in asked), normalise).values())
        emit("extract_evidence", step=step, thought=thought, found=found, passages=len(records))
        following = trace_step(step, state["query"], thought, next_question=" ".join(still_open))
        return {"found": found, "open": still_open, "trace": [*state["trace"], following]}

    async def _read(
        self, state: ExtractEvidenceInput, step: int, records: Sequence[Record]
    ) -> tuple[str, list[EvidenceUnit], list[str]]:
        questions = [state["question"], *state["subqueries"]]
        known = best_first(state["memory"])
        reply = await ask(
            self.llm,
            self.prompt,
            known=[TitledText(title=unit["title"], text=unit["sentence"]) for unit in known],
            passages=numbered(records),
            questions=questions,
        )
        records = reply.shown(records)
        shown = [*questions, *(f"{unit['title']} {unit['sentence']}" for unit in known)]
        shown += [f"{record['title']} {record['text']}" for record in records]
        units = _units(reply.evidence, records, len(questions), " ".join(shown), step)
        return reply.thought, units, [text for text in reply.open if not asks_nothing(text)]


def best_first(memory: Iterable[EvidenceUnit]) -> list[EvidenceUnit]:
    """Sort evidence by confidence; ties keep the order in which they were found."""
    return sorted(memory, key=lambda unit: -unit["score"])


def _parts(records: Sequence[Record]) -> list[list[Record]]:
    """Split passages into parts that are short enough for one call; a single long passage stays whole."""
    longest = context().max_reading_tokens
    parts: list[list[Record]] = []
    room = 0
    for record in records:
        room -= tokens_in(record["text"])
        if room < 0:
            parts.append([])
            room = longest - tokens_in(record["text"])
        parts[-1].append(record)
    return parts


def _units(
    entries: Sequence[EvidenceReply], records: Sequence[Record], questions: int, shown: str, step: int
) -> list[EvidenceUnit]:
    """Return the sentences in a reply that support a question, not scored yet."""
    sources = [record for record in records for _ in record["sentences"]]
    sentences = [sentence for record in records for sentence in record["sentences"]]
    units = []
    for entry in entries:
        positions = sentences_meant(entry.sentence, sentences)
        full, partial = _labels(entry, questions) if positions else ([], [])
        if not (full or partial):
            continue
        phrases = _phrases(entry.phrases, shown)
        units += [
            EvidenceUnit(
                passage_id=sources[position]["id"],
                title=sources[position]["title"],
                sentence=sentences[position],
                full=full,
                partial=partial,
                phrases=phrases,
                score=0.0,
                step=step,
            )
            for position in positions
        ]
    return units


def numbered(records: Sequence[Record]) -> list[NumberedText]:
    """Return the sentences of passages, numbered on from one passage to the next."""
    texts, first = [], 1
    for record in records:
        texts.append(NumberedText(title=record["title"], first=first, sentences=record["sentences"]))
        first += len(record["sentences"])
    return texts


def sentences_meant(given: int | str, sentences: Sequence[str]) -> list[int]:
    """Return the positions of sentences given by number, by text or by both; count those that do not exist."""
    text = str(given).strip()
    if _NUMBERS.fullmatch(text):
        positions, dropped = resolve_numbers(text, len(sentences))
        count_dropped(dropped)
        return positions
    if copied := _COPIED.fullmatch(text):
        numbered = sentences[int(copied[1]) - 1 : int(copied[1])]
        if any(normalise(sentence).startswith(normalise(copied[2])) for sentence in numbered):
            return [int(copied[1]) - 1]
    wordings = [text, copied[2]] if copied else [text]
    positions = next((found for wording in wordings if (found := resolve([wording], sentences)[0])), [])
    count_dropped(int(not positions))
    return positions


def _labels(entry: EvidenceReply, questions: int) -> tuple[list[int], list[int]]:
    """Return the fully and the partly supported questions; full labels take precedence. Count invalid labels."""
    read = [[_NUMBER.fullmatch(str(label).strip()) for label in labels] for labels in (entry.full, entry.partial)]
    full, partial = (sorted({int(m[1]) for m in found if m and int(m[1]) < questions}) for found in read)
    wrong = sum(1 for found in read for m in found if not m or int(m[1]) >= questions)
    count_dropped(wrong or int(not any(read)))
    return full, [label for label in partial if label not in full]


def _phrases(given: Sequence[str], shown: str) -> list[str]:
    """Return the phrases that occur in the prompt, each once, and count the others.

    A phrase that does not occur is split at commas, with which some models join phrases.
    """
    parts = [part for phrase in given for part in ([phrase] if stands_in(phrase, shown) else _COMMA.split(phrase))]
    distinct = first_of_each(filter(normalise, map(str.strip, parts)), normalise)
    kept = [phrase for phrase in distinct.values() if stands_in(phrase, shown)]
    count_dropped(len(distinct) - len(kept))
    return kept
