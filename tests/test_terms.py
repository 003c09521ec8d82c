"""The terms that a passage explains count like its title."""

import pytest

from langgraph_rag.context import Search
from langgraph_rag.tools.index.words import terms_of
from langgraph_rag.tools.knowledge_base import KnowledgeBase


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("BOATFILE\n\nThe file with the boats of the harbour.", ["BOATFILE"]),
        (
            "raise-anchor (C-a)\n\nMove the anchor up.\n\nlower-anchor (C-b)\n\nMove it down.",
            ["raise-anchor (C-a)", "lower-anchor (C-b)"],
        ),
        ("-t timeout\nGives up after so many seconds.", ["-t timeout"]),
        ("anchorglob If set, anchors are listed.\n\nWithout it, none is.", ["anchorglob"]),
        ("- boats.E304: The boat clashes.\n- boats.W12: It may clash.", ["boats.E304", "boats.W12"]),
        ("SRUNNER This variable gives a number.", ["SRUNNER"]),
        ("- BOAT_LIMIT\n- PIER_LIMIT\n- LAMP_LIMIT", []),
        ("The harbour was built in 1907. It closed.", []),
        ("Skellby is a town.\n\nIn Norland it is known.", []),
        ("Note: The harbour is closed.", []),
        ("See also:\n\nThe harbour.", []),
        ("the Harbour closes.", []),
        ("1907\n\nThe year of the flood.", []),
        ("", []),
    ],
)
def test_a_term_begins_a_paragraph_that_explains_it(text: str, terms: list[str]) -> None:
    assert terms_of(text) == tuple(terms)


@pytest.mark.parametrize("by", ["bm25", "hybrid", "graph"])
def test_the_passage_that_explains_a_term_comes_before_those_that_use_it(empty_kb: KnowledgeBase, by: Search) -> None:
    use = "Set BOATFILE or unset it, as you like. It is read when the harbour opens: BOATFILE is checked then."
    explain = "PIERFILE\n\nThe file with the piers.\n\nBOATFILE\n\nThe file with the boats. All guards read it."
    others = [{"text": f"Lamp {n} is by the pier."} for n in range(9)]
    empty_kb.add(
        [*others, {"id": "use", "title": "Use", "text": use}, {"id": "explain", "title": "Files", "text": explain}],
        progress=False,
    )

    assert [passage["id"] for passage in empty_kb.search("BOATFILE", 2, by=by)] == ["explain", "use"]
