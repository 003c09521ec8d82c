"""Evidence as HTML: a list, a graph of what leads to what, and the passage behind a piece with its sentence marked.

Whatever carries `data-evidence` opens the piece of that position.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import networkx as nx

from langgraph_rag.matching import normalise
from langgraph_rag.records import Evidence, Record, origin_of

_COLOURS = 6  # of steps, in chat.css
_HEIGHT, _GAP, _RISE = 60, 18, 30  # pixels: of a box, between boxes side by side, between rows


def listed(evidence: Sequence[Evidence]) -> str:
    """Draw the evidence as a numbered list."""
    return f'<ol class="evidence">{"".join(map(_item, range(len(evidence)), evidence))}</ol>'


def _item(place: int, piece: Evidence) -> str:
    fact = f'<span class="fact">{_fact(piece)}</span>' if piece["triple"] else ""
    return (
        f'<li><button type="button" data-evidence="{place}" class="{_colour(piece["step"])}">'
        f'<span class="number" aria-hidden="true">{place + 1}</span>'
        f'<span class="words">{fact}<span class="sentence">{escape(piece["sentence"])}</span>'
        f'<span class="origin">{escape(origin_of(piece))} · found in step {piece["step"]}</span></span></button></li>'
    )


def _fact(piece: Evidence) -> str:
    head, relation, tail = map(escape, piece["triple"])
    return f"{head} <em>{relation}</em> {tail}"


def passage(record: Record, piece: Evidence) -> str:
    """Draw a passage with the sentence of a piece of evidence marked, on whatever lines it stands there."""
    text, words = record["text"], piece["sentence"].split()
    found = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
    start, end = found.span() if found else (0, 0)
    marked = f"<mark>{escape(text[start:end])}</mark>" if found else ""
    return f'<p class="passage">{escape(text[:start])}{marked}{escape(text[end:])}</p>'


def legend(evidence: Sequence[Evidence]) -> str:
    """Say which colour stands for which step."""
    steps = sorted({piece["step"] for piece in evidence})
    entries = "".join(f'<li class="{_colour(step)}">Step {step}</li>' for step in steps)
    return f'<ul class="legend" aria-label="Colours of the steps">{entries}</ul>'


# --- the graph -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Box:
    """A box of the graph: an entity or document where `place` is None, else a piece of evidence."""

    text: str
    below: str = ""
    place: int | None = None
    step: int = 0


def drawn(evidence: Sequence[Evidence], *, columns: int, box: int) -> str:
    """Draw the evidence as a graph: from entity to fact to entity, or from document to sentence, top to bottom.

    Numbers are those of the list, colours stand for the steps.

    Args:
        evidence: what is drawn.
        columns: boxes side by side, at most.
        box: width of a box, in pixels.
    """
    graph = _graph(evidence)
    rows = _rows(graph, columns)
    width = max(map(len, rows), default=1) * (box + _GAP) - _GAP
    height = len(rows) * (_HEIGHT + _RISE) - _RISE
    corners = {
        name: ((width - len(row) * (box + _GAP) + _GAP) // 2 + place * (box + _GAP), top * (_HEIGHT + _RISE))
        for top, row in enumerate(rows)
        for place, name in enumerate(row)
    }
    middles = {name: (left + box // 2, top) for name, (left, top) in corners.items()}
    lines = "".join(_line(middles[a], middles[b], step) for a, b, step in graph.edges(data="step"))
    boxes = "".join(
        _box(graph.nodes[name]["box"], f"left:{left}px;top:{top}px;width:{box}px;height:{_HEIGHT}px")
        for name, (left, top) in corners.items()
    )
    return (
        f'<div class="graph" role="group" aria-label="Graph of the evidence" style="width:{width}px;height:{height}px">'
        f'<svg width="{width}" height="{height}" aria-hidden="true">{lines}</svg>{boxes}</div>'
    )


def _graph(evidence: Sequence[Evidence]) -> "nx.DiGraph[str]":
    graph: nx.DiGraph[str] = nx.DiGraph()
    for place, piece in enumerate(evidence):
        fact, step = f"evidence {place}", piece["step"]
        head, relation, tail = piece["triple"] or (origin_of(piece), piece["sentence"], "")
        graph.add_node(fact, box=_Box(relation, origin_of(piece), place, step))
        for name, text in ((_name(head), head), (_name(tail), tail)):
            if text and name not in graph:
                graph.add_node(name, box=_Box(text))
        graph.add_edge(_name(head), fact, step=step)
        if tail:
            graph.add_edge(fact, _name(tail), step=step)
    return graph


def _name(text: str) -> str:
    return f"entity {normalise(text)}"


def _rows(graph: "nx.DiGraph[str]", columns: int) -> list[list[str]]:
    """Put each box below all that lead to it, near the middle of them."""
    layers = list(nx.topological_generations(_without_cycles(graph)))
    across: dict[str, float] = {}
    rows: list[list[str]] = []
    for layer in layers:
        middle = {name: _mean(across[other] for other in graph.predecessors(name) if other in across) for name in layer}
        ordered = sorted(layer, key=lambda name: middle[name])
        across |= {name: (place + 0.5) / len(ordered) for place, name in enumerate(ordered)}
        rows += [ordered[start : start + columns] for start in range(0, len(ordered), columns)]
    return rows


def _without_cycles(graph: "nx.DiGraph[str]") -> "nx.DiGraph[str]":
    tree: nx.DiGraph[str] = nx.DiGraph()
    tree.add_nodes_from(graph)
    for head, tail in graph.edges:
        if not nx.has_path(tree, tail, head):
            tree.add_edge(head, tail)
    return tree


def _mean(numbers: Iterable[float]) -> float:
    given = list(numbers)
    return sum(given) / len(given) if given else 0.5


def _line(start: tuple[int, int], end: tuple[int, int], step: int) -> str:
    (x1, top), (x2, bottom) = start, end
    y1, y2 = (top + _HEIGHT, bottom) if top < bottom else (top, bottom + _HEIGHT)
    bend = (y2 - y1) // 2
    return f'<path class="{_colour(step)}" d="M{x1} {y1}C{x1} {y1 + bend} {x2} {y2 - bend} {x2} {y2}"/>'


def _box(box: _Box, where: str) -> str:
    attributes = f'style="{where}" title="{escape(box.text)}"'
    if box.place is None:
        return f'<div class="entity" {attributes}><span>{escape(box.text)}</span></div>'
    return (
        f'<button type="button" class="fact {_colour(box.step)}" data-evidence="{box.place}" {attributes}>'
        f'<span class="number">{box.place + 1}</span>'
        f'<span class="words"><span>{escape(box.text)}</span><small>{escape(box.below)}</small></span></button>'
    )


def _colour(step: int) -> str:
    return f"step-{(step - 1) % _COLOURS}"
