"""The sets that rows are made for, by name: of CIRAG, of DualRAG, and beyond the papers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from langgraph_rag.evaluation.judging import Judgement
from langgraph_rag.evaluation.outcomes import Outcome
from langgraph_rag.naming import expect_name
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.training.dualrag_rows import identified, reasoned, summarized
from langgraph_rag.training.preferences import Gating, Pair, gatings, preference_pairs
from langgraph_rag.training.rows import (
    PROMPTS,
    Filter,
    Gold,
    Label,
    RejectedRow,
    Row,
    as_written,
    integrated,
    make_rows,
)


class _Set(NamedTuple):
    prompts: Sequence[str]
    label: Label


_LABELLED = {
    "integrator": _Set(("integrate", "integrate_with_sentences", "integrate_as_published"), integrated),
    "reasoner": _Set(("reason",), reasoned),
    "identifier": _Set(("identify_entities",), identified),
    "summarizer": _Set(("summarize",), summarized),
}
PAIRS, GATE = "pairs", "gate"
SETS = [*_LABELLED, PAIRS, GATE]
"""`pairs` are preferences for DPO; `gate` is what the gate of `adaptive` measured."""


async def rows_of_set(
    name: str,
    runs: Iterable[Outcome],
    gold: Mapping[str, Gold],
    kb: KnowledgeBase,
    filters: Sequence[Filter] = (),
    judgements: Iterable[Judgement] = (),
) -> tuple[Sequence[Row | Pair | Gating], list[RejectedRow]]:
    """Return a set and what was rejected; a prompt's name stands for its replies as the teacher wrote them.

    Filters are for rows; pairs and gates need wrong runs, too.

    Raises:
        UnknownNameError: when the set or a filter does not exist.
    """
    expect_name("set", name, [*SETS, *PROMPTS])
    if name == PAIRS:
        return preference_pairs(runs, judgements)
    if name == GATE:
        return gatings(runs, judgements), []
    one = _LABELLED.get(name, _Set((name,), as_written))
    return await make_rows(runs, one.prompts, one.label, gold, kb, filters, judgements)
