"""Describes the custom events of the graphs, and the cost of a question, as text for people."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langgraph_rag.naming import counted, spoken
from langgraph_rag.nodes.node import EVENT_VERSION
from langgraph_rag.records import Usage, tokens_spent
from langgraph_rag.refusals import is_refusal

Event = Mapping[str, Any]
_LISTED = 5  # titles
FURTHER = " " * 12
"""Indent of the further lines of a text; the first line has a label instead."""


def narrate(event: object) -> str:
    """Return the text of an event; empty if readers do not need it, or it is not an event of this package."""
    if not isinstance(event, Mapping) or event.get("v") != EVENT_VERSION:
        return ""
    tell = _TELL.get(str(event.get("node")))
    return tell(_hanging(event)) if tell else ""


def _hanging(value: Any) -> Any:
    """Indent the further lines of a text, or of all texts in a list or mapping."""
    if isinstance(value, str):
        return f"\n{FURTHER}".join(filter(str.strip, value.splitlines()))
    if isinstance(value, Mapping):
        return {_hanging(name): _hanging(item) for name, item in value.items()}
    return [_hanging(item) for item in value] if isinstance(value, list) else value


def narrate_cost(usage: Usage) -> str:
    """Return a line with the cost of a question and the limit that stopped it, if any."""
    tokens = f"{'about ' if usage.get('estimated_tokens') else ''}{tokens_spent(usage):,} tokens"
    stopped = f"; stopped by {spoken(usage['stopped_by'])}" if usage["stopped_by"] else ""
    return f"{counted(usage['calls'], 'model call')}, {tokens}, {usage['seconds']:.2f} s{stopped}"


def narrate_end(result: Mapping[str, Any]) -> str:
    """Return why a run ended: it answered, found nothing, or gave up; that a limit ended it stands in the cost."""
    if not is_refusal(result["answer"]):
        level, effort = result.get("granularity", "none"), result.get("effort")
        from_ = "" if level == "none" else f" from {level}"
        return f"answered{from_}" + (f" with {effort} effort" if effort else "")
    if result["usage"]["stopped_by"]:
        return "not answered yet"
    return "gave up: what was found does not answer it" if result["evidence"] else "nothing was found that answers it"


def _restate_question(event: Event) -> str:
    if not event["understood"]:
        return "Taken as it stands: what was said before could not be looked at"
    meant = f" (or is it about {' or '.join(event['others'])}?)" if event["others"] else ""
    return f"Understood as: {event['question']}{meant}" if event["question"] != event["asked"] else ""


def _retrieve(event: Event) -> str:
    more = f" and {len(event['titles']) - _LISTED} more" if len(event["titles"]) > _LISTED else ""
    return f"Step {event['step']}: {event['query']}\n  found     {_listed(event['titles'])}{more}"


def _extract_triples(event: Event) -> str:
    return f"  read      {counted(event['triples'], 'triple')} in these passages"


def _integrate(event: Event) -> str:
    kept = "".join(f"\n  kept      {' | '.join(triple)}" for triple in event["kept"]) or "\n  kept      nothing"
    following = f"\n  next      {event['next_question']}" if event["next_question"] else ""
    if not (event["thought"] or event["kept"] or following):
        return "  thought   not asked"  # the budget left no room
    return f"  thought   {event['thought']}{kept}{following}"


def _answer(event: Event) -> str:
    node = str(event["node"])
    source = "the outline" if node == "answer" else node.removeprefix("answer_from_")
    return f"Answering from {source}: {_verdict(event)}"


def _summarize(event: Event) -> str:
    return f"  noted     {event['entity'] or '(no entity)'}: {event['summary'] or 'nothing'}"


def _select_documents(event: Event) -> str:
    new = ", ".join(f"{number} on {entity or 'the thought'}" for entity, number in event["new"].items())
    return f"  to read   {new or 'nothing new'}"


def _collect_passages(event: Event) -> str:
    return f"  collected {counted(len(event['titles']), 'new passage')}"


def _update_outline(event: Event) -> str:
    return f"  outline   {event['added']} added, now on {', '.join(filter(None, event['entities'])) or 'nothing yet'}"


def _reason(event: Event) -> str:
    return f"Thought: {event['thought']}" + (f"\n{_identify_entities(event)}" if event.get("demands") else "")


def _identify_entities(event: Event) -> str:
    return f"  look up   {', '.join(demand['entity'] or 'the thought itself' for demand in event['demands'])}"


def _construct_chain(event: Event) -> str:
    taken = "".join(f"\n  chain     {piece}" for piece in event["taken"].splitlines())
    refused = f"\n  refused   {event['refused']}" if event["refused"] else ""
    return f"  thought   {event['thought'] or '(none)'}{taken}{refused}"


def _read_passages(event: Event) -> str:
    more = ", ..." if len(event["titles"]) > _LISTED else ""
    return f"Answering from {_listed(event['titles'])}{more}: {_verdict(event)}"


def _verdict(event: Event) -> str:
    if event["sufficient"]:
        return str(event["answer"])
    return "not enough" if event["answer"] else "not asked"


def _read(event: Event) -> str:
    cited = "".join(f"\n  cited     {entry['title']}: {entry['sentence']}" for entry in event["evidence"])
    return f"  read      {_listed(event['titles'])}\n  thought   {event['thought'] or '(none)'}{cited}"


def _assess(event: Event) -> str:
    return f"  decided   {event['why']}" + "".join(f"\n  next      {query}" for query in event["look_ups"])


def _plan(event: Event) -> str:
    steps = "".join(f"\n  {number}. {step['question']}" for number, step in enumerate(event["plan"], start=1))
    return f"Plan:{steps}"


def _approve_plan(event: Event) -> str:
    if event["rejected"]:
        return "The plan was rejected."
    return _plan(event) if event["edited"] else "The plan was approved."


def _act(event: Event) -> str:
    return f"  answer    {event['answer']}\n  cited     {', '.join(dict.fromkeys(event['cited'])) or 'nothing'}"


def _retrieve_finely(event: Event) -> str:
    return f"  checked   against {counted(event['sources'], 'sentence')}"


def _review(event: Event) -> str:
    better = f": {event['answer']}" if event["status"] == "REVISED" else ""
    doubt = f"\n  next      {event['new_question']}" if event["new_question"] else ""
    return f"  review    {event['status'].lower()}{better}{doubt}"


def _decompose(event: Event) -> str:
    return f"Asked in parts: {' '.join(event['subqueries']) or '(one part)'}"


def _extract_evidence(event: Event) -> str:
    helping = counted(len(event["found"]), "helping sentence")
    return f"  read      {counted(event['passages'], 'passage')}, {helping}"


def _calibrate(event: Event) -> str:
    return f"  ranked    {_listed(event['titles'])}"


def _listed(titles: Sequence[str]) -> str:
    return ", ".join(title or "(untitled)" for title in titles[:_LISTED])


_TELL: Mapping[str, Callable[[Event], str]] = {
    "retrieve": _retrieve,
    "retrieve_for_entity": _retrieve,
    "search": _retrieve,
    "look_up": _retrieve,
    "restate_question": _restate_question,
    "decompose": _decompose,
    "extract_evidence": _extract_evidence,
    "calibrate": _calibrate,
    "read": _read,
    "assess": _assess,
    "hand_over": "Handed over with {passages} passages and what they say".format_map,
    "plan": _plan,
    "plan_anew": _plan,
    "approve_plan": _approve_plan,
    "recall": "Step {step}: {query}\n  from      what was cited before".format_map,
    "act": _act,
    "retrieve_finely": _retrieve_finely,
    "review": _review,
    "refine": "  next      {refined}".format_map,
    "answer_from_trajectories": _answer,
    "decompose_knowledge": "  weighed   {pieces} pieces of knowledge".format_map,
    "identify_in_whole_graph": "Step {step}: {query}\n  picked    {candidates} pieces of all knowledge".format_map,
    "construct_chain": _construct_chain,
    "think": "  thought   {thought}".format_map,
    "read_passages": _read_passages,
    "reason": _reason,
    "identify_entities": _identify_entities,
    "query_with_thought": _identify_entities,
    "select_documents": _select_documents,
    "summarize": _summarize,
    "collect_passages": _collect_passages,
    "update_outline": _update_outline,
    "answer": _answer,
    "extract_triples": _extract_triples,
    "construct": "  weighed   {candidates} of {triples} triples".format_map,
    "integrate": _integrate,
    "answer_from_triples": _answer,
    "answer_from_sentences": _answer,
    "answer_from_passages": _answer,
}
