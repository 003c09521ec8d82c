"""Evidence as HTML: a list, a graph, and the passage of a piece with its sentence marked.

Elements with `data-evidence` open the piece of evidence at that position.
"""

import re
from collections.abc import Iterable, Sequence
from html import escape
from math import inf
from pathlib import PurePath

import networkx as nx

from langgraph_rag.records import Evidence, Record, origin_of

_ARTICLE = re.compile(r"(?:the|an?) (?=\S)")
_COLOURS = 8  # of steps, in chat.css
_AT_ONCE = 8  # facts that the graph shows before it is unfolded
_DEEPEST = 6  # levels that fit on a phone


def listed(evidence: Sequence[Evidence]) -> str:
    """Draw the evidence as a numbered list."""
    looks = _looks(evidence)
    items = (_item(place, piece, looks[piece["step"]]) for place, piece in enumerate(evidence))
    return f'<ol class="evidence">{"".join(items)}</ol>'


def _item(place: int, piece: Evidence, look: str) -> str:
    fact = f'<span class="fact" dir="auto">{_fact(piece)}</span>' if piece["triple"] else ""
    origin = " · ".join(f"<bdi>{escape(part)}</bdi>" for part in [origin_of(piece), *place_in_source(piece)])
    return (
        f'<li><button type="button" data-evidence="{place}" class="{look}">'
        f'<span class="number">{place + 1}</span>'
        f'<span class="words">{fact}<span class="sentence" dir="auto">{escape(piece["sentence"])}</span>'
        f'<span class="origin">{origin} · found in step {piece["step"]}</span></span></button></li>'
    )


def place_in_source(piece: Evidence) -> list[str]:
    """Return the file name and the page of a piece of evidence, as far as they are known."""
    page = piece.get("page", "")
    return [part for part in (PurePath(piece.get("source", "")).name, page and f"page {page}") if part]


def _fact(piece: Evidence) -> str:
    head, relation, tail = map(escape, piece["triple"])
    return f"{head} <em>{relation}</em> {tail}"


def passage(record: Record, piece: Evidence) -> str:
    """Draw a passage with the sentence of a piece of evidence marked, also across lines."""
    text, words = record["text"], piece["sentence"].split()
    found = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
    start, end = found.span() if found else (0, 0)
    marked = f"<mark>{escape(text[start:end])}</mark>" if found else ""
    return f'<p class="passage" dir="auto">{escape(text[:start])}{marked}{escape(text[end:])}</p>'


def legend(evidence: Sequence[Evidence]) -> str:
    """Draw the legend of the colours of steps."""
    entries = "".join(f'<li class="{look}">Step {step}</li>' for step, look in _looks(evidence).items())
    return f'<ul class="legend" aria-label="Colours of the steps">{entries}</ul>'


# --- the graph -------------------------------------------------------------------------------------------------------
def drawn(evidence: Sequence[Evidence], answer: str) -> str:
    """Draw the evidence as trees: below an entity its facts, below a fact those of the entity it leads to.

    Numbers are those of the list, and colours stand for steps. Sentences without a triple are below their document. An
    entity that occurs again refers to its first fact. Of many facts, only those nearest to the answer are unfolded.
    """
    places = _nearest(_graph(evidence, range(len(evidence))), _name(answer))
    trees = _Trees(evidence, _name(answer))
    first, others = (trees.drawn(sorted(part)) for part in (places[:_AT_ONCE], places[_AT_ONCE:]))
    folded = f"<details><summary>{len(places) - _AT_ONCE} more</summary>{others}</details>" if others else ""
    return f'<div class="graph" role="group" aria-label="Graph of the evidence">{first}{folded}</div>'


def _graph(evidence: Sequence[Evidence], places: Iterable[int]) -> "nx.MultiDiGraph[str]":
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for place in places:
        head, _, tail = _parts(evidence[place])
        graph.add_edge(_name(head), _name(tail), place)
    return graph


def _parts(piece: Evidence) -> Sequence[str]:
    return piece["triple"] or (origin_of(piece), "", piece["sentence"])


def _name(text: str) -> str:
    """Return the key of an entity; without an article or a last full stop, but with other signs, as C++ is not C#."""
    name = " ".join(text.casefold().split()).removesuffix(".")
    return name[found.end() :] if (found := _ARTICLE.match(name)) else name


def _nearest(graph: "nx.MultiDiGraph[str]", answer: str) -> list[int]:
    """Return the positions of the facts, ordered by their distance from the answer."""
    both_ways = graph.to_undirected(as_view=True)
    far = nx.single_source_shortest_path_length(both_ways, answer) if answer in graph else {}
    facts = [(min(far.get(head, inf), far.get(tail, inf)), place) for head, tail, place in graph.edges(keys=True)]
    return [place for _, place in sorted(facts)]


def _roots(graph: "nx.MultiDiGraph[str]") -> list[str]:
    """Return the roots from which all facts are reached: entities without a predecessor, and one of each cycle."""
    order = {name: number for number, name in enumerate(graph)}
    parts = nx.condensation(graph)
    roots = [min(parts.nodes[part]["members"], key=order.__getitem__) for part, led in parts.in_degree if not led]
    return sorted(roots, key=order.__getitem__)


class _Trees:
    """Draws facts, each once, and keeps the first fact of each entity."""

    def __init__(self, evidence: Sequence[Evidence], answer: str) -> None:
        self._evidence, self._answer, self._looks = evidence, answer, _looks(evidence)
        self._first: dict[str, int] = {}

    def drawn(self, places: Sequence[int]) -> str:
        """Draw the facts at some positions; facts that are too deep for one tree begin another."""
        graph, trees = _graph(self._evidence, places), ""
        while graph:
            for root in _roots(graph):
                first = min(place for *_, place in graph.out_edges(root, keys=True))
                entity = self._entity(_parts(self._evidence[first])[0], first)
                trees += f"<li>{entity}{self._below(root, graph, _DEEPEST)}</li>"
            graph.remove_nodes_from(list(nx.isolates(graph)))
        return f"<ul>{trees}</ul>" if trees else ""

    def _below(self, name: str, graph: "nx.MultiDiGraph[str]", depth: int) -> str:
        """Draw the facts of an entity and remove them from the graph."""
        if not depth or not graph.out_degree(name):
            return ""
        facts = sorted(graph.out_edges(name, keys=True), key=lambda fact: fact[2])
        graph.remove_edges_from(facts)
        drawn = [self._fact(place) + self._below(tail, graph, depth - 1) for _, tail, place in facts]
        return f"<ul><li>{'</li><li>'.join(drawn)}</li></ul>"

    def _fact(self, place: int) -> str:
        piece = self._evidence[place]
        head, relation, tail = _parts(piece)
        if piece["triple"]:
            label = f"{place + 1}: {head} {relation} {tail}"
            origin = f'<small class="origin" dir="auto">{escape(origin_of(piece))}</small>'
            words = f'<span dir="auto">{escape(relation)} {self._entity(tail, place)} {origin}</span>'
        else:
            label = f"{place + 1}: {head}: {tail}"
            words = f'<span class="sentence" dir="auto">{escape(tail)}</span>'
        return (
            f'<button type="button" class="fact {self._looks[piece["step"]]}" data-evidence="{place}"'
            f' aria-label="{escape(label)}"><span class="number">{place + 1}</span>{words}</button>'
        )

    def _entity(self, text: str, place: int) -> str:
        tag = "mark" if _name(text) == self._answer else "b"
        first = self._first.setdefault(_name(text), place)
        seen = f" <small>see {first + 1}</small>" if first != place else ""
        return f'<{tag} class="entity" dir="auto">{escape(text)}{seen}</{tag}>'


def _looks(evidence: Sequence[Evidence]) -> dict[int, str]:
    """Return the CSS class of each step that found something, in order; there are eight classes."""
    steps = sorted({piece["step"] for piece in evidence})
    return {step: f"step-{rank % _COLOURS}" for rank, step in enumerate(steps)}
