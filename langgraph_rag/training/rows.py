"""Rows to learn from: each turn of a trajectory that shall carry loss, with the messages before it (CIRAG, Eq. 8)."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, NotRequired, cast, get_args

from langchain_core.messages import convert_to_openai_messages
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from langgraph_rag.arguments import expect_list
from langgraph_rag.evaluation.judging import Judgement
from langgraph_rag.evaluation.origin import this_version
from langgraph_rag.evaluation.outcomes import Outcome
from langgraph_rag.evaluation.questions import Question
from langgraph_rag.evaluation.run_folder import alone, read_entries, replace_file, writing
from langgraph_rag.matching import resolve_triples
from langgraph_rag.models.replies import read_reply
from langgraph_rag.naming import expect_name
from langgraph_rag.normal_forms import normalise, triple_key
from langgraph_rag.prompts import adaptive, answering, cirag, dualrag, ircot, kirag, mgranrag, par_rag
from langgraph_rag.prompts.prompt import Prompt, PromptReply
from langgraph_rag.records import Record
from langgraph_rag.refusals import asks_nothing
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.training.trajectories import Call, Message

_MODULES = (adaptive, answering, cirag, dualrag, ircot, kirag, mgranrag, par_rag)
PROMPTS = {one.name: one for module in _MODULES for one in vars(module).values() if isinstance(one, Prompt)}

Filter = Literal["right", "evidence", "unrepaired"]
FILTERS: tuple[Filter, ...] = get_args(Filter)
"""`right`: only runs with the right answer; `evidence`: only those whose evidence is of every gold passage;
`unrepaired`: only replies that could be read at once."""


class Row(TypedDict):
    """A turn: the messages as they are sent, and the reply to learn.

    `id` is that of the question. `label` says where the reply comes from: "teacher" as written, or as `Labelled` says.
    """

    id: str
    prompt: str
    label: str
    messages: list[Message]
    reply: str


class RejectedRow(TypedDict):
    """A turn that is not learned, and why."""

    id: str
    prompt: str
    reason: str
    replies: NotRequired[list[str]]


class SetReport(TypedDict):
    """How many rows a set has, by label, and how many turns were rejected, by reason."""

    rows: int
    labels: dict[str, int]
    rejects: dict[str, int]


@dataclass(frozen=True)
class Gold:
    """The gold passages of a question, any one of each group, and the sentences in them that tell the answer."""

    groups: list[list[str]] = field(default_factory=list)
    passages: Mapping[str, Record] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)


class Turn(NamedTuple):
    """A call in a run, whose reply could be read."""

    call: Call
    reply: dict[str, Any]
    run: Outcome
    gold: Gold
    kb: KnowledgeBase


@dataclass(frozen=True)
class Labelled:
    """What is to be learned at a turn: a reply, and the values of its prompt; or why nothing is."""

    reply: Mapping[str, Any] = field(default_factory=dict)
    label: str = "teacher"
    values: Mapping[str, Any] | None = None  # None: as they were sent
    reason: str = ""


Label = Callable[[Turn], Awaitable[Labelled]]


async def as_written(turn: Turn) -> Labelled:
    """Learn what the teacher replied."""
    return Labelled(turn.reply)


async def integrated(turn: Turn) -> Labelled:
    """Learn the teacher's decision, with facts as they were shown (CIRAG, section 3.5).

    Facts that were not shown, or were kept before, are left out, and so is a question that was asked before: the graph
    does the same with them.
    """
    values, reply = turn.call["values"], turn.reply
    history: list[cirag.HistoryStep] = values["history"]
    shown = [fact[:3] for fact in values["facts"]] + [triple for step in history for triple in step["candidates"]]
    known = {triple_key(fact) for step in history for fact in step["facts"]}
    positions, lost = resolve_triples([fact[:3] for fact in reply["facts"]], shown)
    kept = [shown[position] for position in positions if triple_key(shown[position]) not in known]
    if lost and not positions:
        return Labelled(reason="no fact of the reply was shown")
    asked = [normalise(query) for query in (*(step["query"] for step in history), values["query"])]
    question = reply["question"] or ""
    if asks_nothing(question) or normalise(question) in asked or values.get("is_last"):
        question = ""
    changed = lost or len(kept) < len(reply["facts"]) or question != (reply["question"] or "")
    learned = {"thought": reply["thought"], "facts": kept, "question": question or None}
    return Labelled(learned, "teacher, corrected" if changed else "teacher")


def reply_text(prompt: Prompt[Any], reply: Mapping[str, Any]) -> str:
    """Return a reply as servers that follow its schema let a model write it: in the order of its fields."""
    fields: type[PromptReply] = prompt.reply
    order = _order(fields)
    return json.dumps({name: reply[name] for name in order if name in reply}, ensure_ascii=False)


@cache
def _order(reply: type[PromptReply]) -> list[str]:
    return list(reply.model_json_schema()["properties"])


async def make_rows(
    runs: Iterable[Outcome],
    prompts: Sequence[str],
    label: Label,
    gold: Mapping[str, Gold],
    kb: KnowledgeBase,
    filters: Sequence[Filter] = (),
    judgements: Iterable[Judgement] = (),
) -> tuple[list[Row], list[RejectedRow]]:
    """Return the rows of a set, and the turns that are not learned.

    Args:
        runs: trajectories, as `read_trajectories` returns them.
        prompts: the names of the prompts whose replies are learned.
        label: says what is learned at a turn.
        gold: what supports the answers, by the ids of the questions.
        kb: the knowledge base that was asked.
        filters: what runs and replies have to be like.
        judgements: answers that a judge finds correct are right, too.

    Raises:
        UnknownNameError: when a prompt or a filter does not exist.
    """
    expect_list(filters, "filters")
    for name in prompts:
        expect_name("prompt", name, PROMPTS)
    for name in filters:
        expect_name("filter", name, FILTERS)
    judged = judged_right(judgements)
    rows, rejected = list[Row](), list[RejectedRow]()
    for run in runs:
        of_question = gold.get(run["id"], Gold())
        why = _unfit(run, of_question, filters, judged)
        for call in run.get("calls", []):
            if call["prompt"] not in prompts:
                continue
            reason = why or _unfit_call(call, filters)
            learned = Labelled(reason=reason)
            if not reason:
                learned = await label(Turn(call, call["reply"], run, of_question, kb))
            if learned.reason:
                about = RejectedRow(id=run["id"], prompt=call["prompt"], reason=learned.reason)
                rejected.append({**about, "replies": call["replies"]})
            else:
                rows.append(_row(run, call, learned))
    return rows, rejected


def _row(run: Outcome, call: Call, learned: Labelled) -> Row:
    prompt, messages = PROMPTS[call["prompt"]], call["messages"]
    if learned.values is not None:
        messages = cast(list[Message], convert_to_openai_messages(prompt.render(**learned.values)))
    return Row(
        id=run["id"],
        prompt=prompt.name,
        label=learned.label,
        messages=messages,
        reply=reply_text(prompt, learned.reply),
    )


def judged_right(judgements: Iterable[Judgement]) -> set[tuple[str, str | None]]:
    """Return the ids and answers that a judge finds correct: another run of a question has an answer of its own."""
    return {(one["id"], one["answer"]) for one in judgements if one["correct"]}


def is_right(run: Outcome, judged: Container[tuple[str, str | None]] = ()) -> bool:
    """Return whether the answer of a run is right: by exact match, or because a judge says so."""
    return run["em"] == 1 or (run["id"], run["answer"]) in judged


def _unfit(run: Outcome, gold: Gold, filters: Sequence[Filter], judged: Container[tuple[str, str | None]]) -> str:
    if run["error"] is not None:
        return "the run failed"
    if "right" in filters and not is_right(run, judged):
        return "the answer is not right"
    found = {entry["passage_id"] for entry in run.get("evidence", [])}
    if "evidence" in filters and not (gold.groups and all(found.intersection(ids) for ids in gold.groups)):
        return "the evidence is not of every gold passage"
    return ""


def _unfit_call(call: Call, filters: Sequence[Filter]) -> str:
    if call["reply"] is None:
        return "the reply could not be read"
    if _is_in_part(call):  # it would teach to stop early
        return "the reply was cut off"
    return "the reply was repaired" if "unrepaired" in filters and call["repairs"] else ""


def _is_in_part(call: Call) -> bool:
    """Return whether only the whole items of a reply that was cut off were read."""
    reply = PROMPTS[call["prompt"]].reply
    if not reply.useful_in_part or not call["replies"]:
        return False
    try:
        read_reply(call["replies"][-1], reply)
    except ValueError:
        return True
    return False


def gold_of(questions: Sequence[Question], kb: KnowledgeBase) -> dict[str, Gold]:
    """Return what supports the answers of questions, after `evaluation.located`, by their ids."""
    groups = {one["id"]: one.get("places") or [[id_] for id_ in one.get("supporting_ids", [])] for one in questions}
    wanted = list(dict.fromkeys(id_ for places in groups.values() for ids in places for id_ in ids))
    held = {record["id"]: record for record in kb.passages(wanted)}
    return {
        one["id"]: Gold(
            groups[one["id"]],
            {id_: held[id_] for ids in groups[one["id"]] for id_ in ids if id_ in held},
            one.get("supporting_sentences", []),
        )
        for one in questions
    }


def report_of(rows: Sequence[Mapping[str, Any]], rejected: Sequence[RejectedRow]) -> SetReport:
    """Count rows by label and rejected turns by reason."""
    return SetReport(
        rows=len(rows),
        labels=dict(Counter(row["label"] for row in rows if "label" in row).most_common()),
        rejects=dict(Counter(row["reason"] for row in rejected).most_common()),
    )


# --- files ---
MANIFEST = "rows.json"
_ROW = TypeAdapter(Row)


class Source(TypedDict):
    """A folder of trajectories: the method, the teacher, the passages and how many questions were asked."""

    method: str
    model: str
    knowledge_base: str
    passages: str
    questions: int
    right: int


class Manifest(TypedDict):
    """How the sets in a folder were made; files and folders by name without their paths, because models are shared."""

    version: str
    sources: list[Source]
    filters: list[str]
    sets: dict[str, SetReport]


@dataclass(frozen=True)
class RowSet:
    """A set of rows with the turns that were rejected; both are lists of JSON-like dicts."""

    rows: Sequence[Mapping[str, Any]]
    rejected: Sequence[Mapping[str, Any]]
    report: SetReport


def write_sets(out: Path, sets: Mapping[str, RowSet], sources: list[Source], filters: Sequence[str]) -> None:
    """Write sets of rows to a folder, NAME.jsonl and NAME.rejected.jsonl, and `rows.json`, which counts them.

    Raises:
        OutcomesError: when the folder cannot be written to, or is in use.
    """
    manifest = Manifest(
        version=this_version(),
        sources=sources,
        filters=[*filters],
        sets={name: one.report for name, one in sets.items()},
    )
    with alone(out), writing(out):
        for name, one in sets.items():
            for file, entries in ((f"{name}.jsonl", one.rows), (f"{name}.rejected.jsonl", one.rejected)):
                replace_file(out / file, [json.dumps(entry, ensure_ascii=False) for entry in entries])
        replace_file(out / MANIFEST, [json.dumps(manifest, indent=2, ensure_ascii=False)])


def read_rows(path: Path) -> list[Row]:
    """Read a file of rows.

    Raises:
        OutcomesError: when there is none, or a line is not a row.
    """
    return read_entries(path, _ROW, "a row with id, prompt, label, messages and reply", "the others are read")
