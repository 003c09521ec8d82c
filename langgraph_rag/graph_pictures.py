"""Pictures of facts as a graph: PNG, SVG, and an HTML page to move and read, which needs no other file or host."""

from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path

import networkx as nx

from langgraph_rag.errors import MissingExtraError, PictureError
from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import Triple

FORMS = (".png", ".svg", ".html")
_APART = 150  # points between two entities, about
_LONGEST = 40  # characters of a label
_Places = Mapping[str, tuple[float, float]]


def draw_facts(
    facts: Sequence[Triple], path: Path, *, entity: str = "", sentences: Mapping[str, str] | None = None
) -> None:
    """Write a picture of facts; the ending of the file says which: `.png`, `.svg` or `.html`.

    Args:
        facts: the facts.
        path: the file.
        entity: the entity in the middle, which is marked.
        sentences: what states each fact, by "head | relation | tail"; shown where the mouse is, and beside the page.

    Raises:
        PictureError: when there is no fact, the ending is another, or the file cannot be written.
        MissingExtraError: when matplotlib is not installed, for PNG.
    """
    if path.suffix.lower() not in FORMS:
        raise PictureError(f"expected a picture that ends in {', '.join(FORMS)}, got {path.name!r}")
    if not facts:
        raise PictureError("there are no facts to draw")
    graph = _graph(facts)
    try:
        if path.suffix.lower() == ".png":
            _write_png(graph, path, normalise(entity))
        else:
            drawn = _svg(graph, normalise(entity), sentences or {})
            path.write_text(drawn if path.suffix.lower() == ".svg" else _page(drawn, entity), encoding="utf-8")
    except OSError as error:
        raise PictureError(f"{path} cannot be written: {error.strerror or error}") from error


def _graph(facts: Sequence[Triple]) -> "nx.MultiDiGraph[str]":
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for fact in facts:
        head, relation, tail = fact["triple"]
        for name in (head, tail):
            if normalise(name) not in graph:
                graph.add_node(normalise(name), name=name)
        graph.add_edge(normalise(head), normalise(tail), relation=relation, fact=" | ".join(fact["triple"]))
    return graph


def _placed(graph: "nx.MultiDiGraph[str]") -> _Places:
    """Return where entities lie, in points; the same graph always looks the same."""
    side = _APART * max(2.0, len(graph) ** 0.5)
    apart = nx.spring_layout(nx.Graph(graph), k=1.6 / len(graph) ** 0.5, iterations=200, seed=1)
    return {node: (float(x) * side, float(y) * side) for node, (x, y) in apart.items()}


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


# --- SVG and HTML ----------------------------------------------------------------------------------------------------
def _svg(graph: "nx.MultiDiGraph[str]", middle: str, sentences: Mapping[str, str]) -> str:
    places = _placed(graph)
    numbers = {node: number for number, node in enumerate(graph)}
    left, top = (min(place[axis] for place in places.values()) for axis in (0, 1))
    right, bottom = (max(place[axis] for place in places.values()) for axis in (0, 1))
    box = f"{left - _APART:.0f} {top - 60:.0f} {right - left + 2 * _APART:.0f} {bottom - top + 120:.0f}"
    edges = [
        _drawn_fact(places, numbers, head, tail, about, sentences.get(about["fact"], ""))
        for head, tail, about in graph.edges(data=True)
    ]
    nodes = [_drawn_entity(places[n], numbers[n], about["name"], n == middle) for n, about in graph.nodes(data=True)]
    style = resources.files("langgraph_rag").joinpath("graph_picture.css").read_text("utf-8")
    arrow = '<marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}"><style>{style}</style>'
        f'<defs>{arrow}<path d="M0 0L8 4L0 8z"/></marker></defs>{"".join(edges)}{"".join(nodes)}</svg>\n'
    )


def _drawn_fact(
    places: _Places, numbers: Mapping[str, int], head: str, tail: str, about: Mapping[str, str], sentence: str
) -> str:
    (x, y), (to_x, to_y) = places[head], places[tail]
    told = f"<title>{escape(about['fact'])}{escape(chr(10) + sentence) if sentence else ''}</title>"
    ends = f'data-from="{numbers[head]}" data-to="{numbers[tail]}"'
    line = f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" marker-end="url(#end)"/>'
    words = f'<text x="{(x + to_x) / 2:.1f}" y="{(y + to_y) / 2:.1f}">{escape(_short(about["relation"]))}</text>'
    return f'<g class="fact" {ends}>{told}{line}{words}</g>'


def _drawn_entity(place: tuple[float, float], number: int, name: str, marked: bool) -> str:
    look = "entity middle" if marked else "entity"
    where = f'transform="translate({place[0]:.1f} {place[1]:.1f})"'
    drawn = f'<circle r="7"/><text y="-12">{escape(_short(name))}</text>'
    return f'<g class="{look}" id="e{number}" {where}><title>{escape(name)}</title>{drawn}</g>'


def _page(drawn: str, entity: str) -> str:
    page = resources.files("langgraph_rag").joinpath("graph_picture.html").read_text("utf-8")
    return page.replace("{{title}}", escape(entity)).replace("{{graph}}", drawn)


# --- PNG -------------------------------------------------------------------------------------------------------------
def _write_png(graph: "nx.MultiDiGraph[str]", path: Path, middle: str) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("drawing a PNG (SVG and HTML do not)", "plots") from error
    places = _placed(graph)
    size = max(6.0, 2.2 * len(graph) ** 0.5)
    figure = Figure(figsize=(1.4 * size, size))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.margins(0.15)
    for head, tail, about in graph.edges(data=True):
        (x, y), (to_x, to_y) = places[head], places[tail]
        arrow = {"arrowstyle": "-|>", "color": "#8a94a6", "shrinkA": 6, "shrinkB": 6}
        axes.annotate("", (to_x, -to_y), (x, -y), arrowprops=arrow)
        axes.text(
            (x + to_x) / 2, -(y + to_y) / 2, _short(about["relation"]),
            fontsize=7, color="#4a5568", ha="center", va="center", parse_math=False,
        )  # fmt: skip
    for node, about in graph.nodes(data=True):
        x, y = places[node]
        axes.plot(x, -y, "o", color="#c2410c" if node == middle else "#2563eb")
        axes.annotate(
            _short(about["name"]), (x, -y), (0, 7), textcoords="offset points",
            fontsize=9, weight="bold" if node == middle else "normal", ha="center", parse_math=False,
        )  # fmt: skip
    figure.savefig(path, dpi=150)
