"""Facts around an entity, and their pictures."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from test_cli import run
from typer.testing import CliRunner

from langgraph_rag import KnowledgeBase
from langgraph_rag.cli import app
from langgraph_rag.errors import PictureError
from langgraph_rag.graph_pictures import draw_facts
from langgraph_rag.records import Triple

SVG = "{http://www.w3.org/2000/svg}"
FACTS = [
    Triple(triple=["Sund <Harbour>", "lies in", "Kell & Marsh"], sources=[]),
    Triple(triple=["Ada Renk", "was born in", "SUND <harbour>"], sources=[]),
    Triple(triple=["Ada Renk", "knows", "Ada Renk"], sources=[]),
]


def test_facts_about_an_entity_come_nearest_first_with_their_sources(kb: KnowledgeBase) -> None:
    near, far = kb.facts_about("casper holm"), kb.facts_about("Casper Holm", hops=2)

    assert near
    assert all("Casper Holm" in fact["triple"] for fact in near)
    assert far[: len(near)] == near
    assert len(far) > len(near)
    produced = next(fact for fact in near if fact["triple"][0] == "The Salt Road")
    assert [source["passage_id"] for source in produced["sources"]] == ["salt-road"]
    assert kb.facts_about("Casper Holm", hops=2, most=3) == far[:3]
    assert kb.facts_about("nobody") == []
    with pytest.raises(ValueError, match="hops must be a whole number"):
        kb.facts_about("Casper Holm", hops=0)


def test_a_drawing_has_every_entity_once_and_every_fact(tmp_path: Path) -> None:
    draw_facts(FACTS, tmp_path / "g.svg", entity="ada renk", sentences={"Ada Renk | knows | Ada Renk": "She does."})

    drawn = ElementTree.parse(tmp_path / "g.svg").getroot()
    told = [title.text for title in drawn.iter(f"{SVG}title")]
    assert sorted(filter(None, told)) == [
        "Ada Renk",
        "Ada Renk | knows | Ada Renk\nShe does.",
        "Ada Renk | was born in | SUND <harbour>",
        "Kell & Marsh",
        "Sund <Harbour>",
        "Sund <Harbour> | lies in | Kell & Marsh",
    ]
    assert [group[0].text for group in drawn.iter(f"{SVG}g") if group.get("class") == "entity middle"] == ["Ada Renk"]


def test_a_page_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    draw_facts(FACTS, tmp_path / "g.html", entity="<b>Ada</b>")

    page = (tmp_path / "g.html").read_text(encoding="utf-8")
    assert "<title>&lt;b&gt;Ada&lt;/b&gt;</title>" in page
    assert page.replace("http://www.w3.org/2000/svg", "").count("://") == 0
    assert "{{" not in page


def test_a_png_is_one(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    draw_facts([*FACTS, Triple(triple=["$x$", "costs", "5 $"], sources=[])], tmp_path / "g.PNG")

    assert (tmp_path / "g.PNG").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("facts", "name", "told"),
    [
        (FACTS, "g.gif", "ends in .png, .svg, .html"),
        ([], "g.svg", "no facts"),
        (FACTS, "no/g.svg", "cannot be written"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(facts: list[Triple], name: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(PictureError, match=told):
        draw_facts(facts, tmp_path / name)


def test_the_command_draws_and_hides_what_a_filter_does(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.close()
    out = tmp_path / "holm.html"
    drawn = run("graph", "--kb", kb.path, "--entity", "Casper Holm", "--out", out)
    where = json.dumps({"title": "Winter Tide"})

    assert "facts drawn" in drawn.stdout
    assert "It was produced by Casper Holm." in out.read_text(encoding="utf-8")
    run("graph", "--kb", kb.path, "--entity", "Casper Holm", "--out", out, "--filter", where)
    assert "The Salt Road" not in out.read_text(encoding="utf-8")
    with pytest.raises(PictureError, match="no fact about 'Nobody'"):
        CliRunner().invoke(app, ["graph", "--kb", str(kb.path), "--entity", "Nobody"], catch_exceptions=False)


@pytest.mark.parametrize("entity", ["Kasper Holme", "Captain Holm", "the salt rode"])
def test_an_unknown_entity_is_told_with_those_that_may_be_meant(kb: KnowledgeBase, entity: str) -> None:
    kb.close()
    with pytest.raises(PictureError, match=r"did you mean '(Casper Holm|The Salt Road)'"):
        CliRunner().invoke(app, ["graph", "--kb", str(kb.path), "--entity", entity], catch_exceptions=False)
