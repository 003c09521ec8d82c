"""What DualRAG's compact models learn: reasoner, entity identifier and knowledge summariser (section 3.2)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from langgraph_rag.nodes.summarize import told_in
from langgraph_rag.normal_forms import normalise, stands_in
from langgraph_rag.prompts.dualrag import OutlineEntry
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.training.rows import Gold, Labelled, Turn

_QUALIFIER = re.compile(r"\s*\([^()]*\)$")
_SAME, _CONTAINED = 2.0, 1.0  # above all cosines
_ALIKE = 0.75  # cosine of a name and a title that mean the same
_SHARE = 0.5  # of the words of a name or title that the other one has


async def reasoned(turn: Turn) -> Labelled:
    """Learn the teacher's thought and its explicit flag; set aside a search on when all gold passages were read."""
    read = {id_ for entry in turn.call["values"]["outline"] for id_ in entry["read"]}
    groups = turn.gold.groups
    if turn.reply["needs_retrieval"] and groups and all(read.intersection(ids) for ids in groups):
        return Labelled(reason="it searches on although all gold passages were read")
    return Labelled(turn.reply)


async def identified(turn: Turn) -> Labelled:
    """Learn the entities that are gold documents, each once, and see an outline of such entities.

    Of several entities of one document, the one nearest to its title stays; the queries of the others go, and their
    entries in the outline are merged into its own.
    """
    titles = _titles(turn.gold)
    if not titles:
        return Labelled(reason="no gold passage is known")
    values = turn.call["values"]
    named = [entry["entity"] for entry in turn.reply["entities"]]
    names = list(dict.fromkeys([*named, *(entry["entity"] for entry in values["outline"] if entry["entity"])]))
    meant = await titles_meant(turn.kb, names, titles)
    chosen = _nearest(meant)
    entities = [
        entry
        for place, entry in enumerate(turn.reply["entities"])
        if entry["entity"] in chosen.values() and entry["entity"] not in named[:place]
    ]
    outline = _merged(values["outline"], meant, chosen)
    known = [entry["entity"] for entry in outline if entry["entity"]]
    label = "teacher" if len(entities) == len(named) else "teacher, fewer entities" if entities else "no entity"
    return Labelled({"entities": entities}, label, {**values, "outline": outline, "names": known})


async def summarized(turn: Turn) -> Labelled:
    """Learn the teacher's summary where a gold document was shown, or else its gold sentences; nothing otherwise."""
    gold, values = turn.gold, turn.call["values"]
    if not gold.passages:
        return Labelled(reason="no gold passage is known")
    shown = {(text["title"], text["text"]) for text in values["documents"]}
    found = [one for one in gold.passages.values() if (one["title"], one["text"]) in shown]
    if not found:
        return Labelled({"summary": None}, "none")
    if summary := told_in(turn.reply["summary"] or ""):
        return Labelled({"summary": summary})
    known = normalise(" ".join(values["known"]))
    sentences = [" ".join(sentence.split()) for sentence in gold.sentences]  # 2WikiMultiHopQA's have other spaces
    told = [sentence for one in found for sentence in sentences if sentence in " ".join(one["text"].split())]
    told = told or [] if gold.sentences else [one["text"] for one in found]
    new = [sentence for sentence in dict.fromkeys(told) if normalise(sentence) not in known]
    return Labelled({"summary": " ".join(new)}, "gold sentence") if new else Labelled({"summary": None}, "none")


class Meant(NamedTuple):
    """The title that a name stands for, and how near it is."""

    title: str
    likeness: float


async def titles_meant(kb: KnowledgeBase, names: Sequence[str], titles: Sequence[str]) -> dict[str, Meant]:
    """Return the title that each name stands for; names without one are left out.

    It is the same name, with or without what follows in brackets, or one has most words of the other, or the embedder
    of the knowledge base finds them alike.
    """
    found = dict[str, Meant]()
    for name in names:
        cosines = await kb.acosines(name, titles)
        best = max((_likeness(name, title, cosine), title) for title, cosine in zip(titles, cosines, strict=True))
        if best[0] >= _ALIKE:
            found[name] = Meant(best[1], best[0])
    return found


def _likeness(name: str, title: str, cosine: float) -> float:
    if _forms(name) & _forms(title):
        return _SAME + cosine
    short, long = sorted((name, _QUALIFIER.sub("", title)), key=len)
    contained = stands_in(short, long) and len(short.split()) >= _SHARE * len(long.split())
    return _CONTAINED + cosine if contained else cosine


def _forms(name: str) -> set[str]:
    return {normalise(name), normalise(_QUALIFIER.sub("", name))}


def _titles(gold: Gold) -> list[str]:
    return list(dict.fromkeys(one["title"] for one in gold.passages.values() if one["title"]))


def _nearest(meant: Mapping[str, Meant]) -> dict[str, str]:
    """Return the nearest name of each title."""
    ordered = sorted(meant.items(), key=lambda item: item[1].likeness)
    return {one.title: name for name, one in ordered}


def _merged(outline: Sequence[Any], meant: Mapping[str, Meant], chosen: Mapping[str, str]) -> list[OutlineEntry]:
    """Return an outline of chosen names; what belongs to no entity stays."""
    merged = dict[str, OutlineEntry]()
    for entry in outline:
        name = entry["entity"]
        if name and name not in meant:
            continue
        name = chosen[meant[name].title] if name else ""
        one = merged.setdefault(name, OutlineEntry(entity=name, fragments=[], read=[]))
        one["fragments"] += [text for text in entry["fragments"] if text not in one["fragments"]]
        one["read"] += [id_ for id_ in entry["read"] if id_ not in one["read"]]
    return list(merged.values())
