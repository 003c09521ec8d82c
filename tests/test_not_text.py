"""What is no text is left out: contents, indexes, signs to other pages; what only looks so stays."""

from pathlib import Path

import pytest

from langgraph_rag.tools.documents.files import read_documents
from langgraph_rag.tools.documents.not_text import is_sign, leads_on, without_lists_of_pages

DOTTED = [f"{n} Chapter of mills {'. ' * 20}{3 * n}" for n in range(1, 6)]
HEADED = ["Table of Contents", "", *(f"The mill number {n} {7 * n}" for n in range(1, 9))]
GERMAN = ["Inhaltsverzeichnis", "Vorwort ........ ix", *(f"{n}.1 Mühlen ........ {2 * n}" for n in range(1, 5))]
NAMES = ["anchor", "barge", "barrel", "cable", "dam", "ferry", "gate", "hull", "keel", "lock", "mast", "oar"]
INDEX = ["A", *(f"{name}, {200 - 9 * n}, {210 + n}\u2013{212 + n}" for n, name in enumerate(NAMES))]
DOTTED_INDEX = [f"{name}-{other} . . . . . . {37 * n % 90}" for n, name in enumerate(NAMES) for other in "ab"]
BY_LETTERS = ["Index", *(line for n in NAMES for line in (n[0].upper(), f"{n}s", f"old {n} {'. ' * 9}4, 7"))]
HEADED_INDEX = ["General Index", *(f"{name} {37 * n % 90 + 1}" for n, name in enumerate(NAMES))]


@pytest.mark.parametrize("lines", [DOTTED, HEADED, GERMAN, INDEX, DOTTED_INDEX, BY_LETTERS, HEADED_INDEX])
def test_contents_and_indexes_are_left_out(lines: list[str]) -> None:
    around = ["The mill stands on the Harl.", "", *lines, "", "It was built in 1883."]

    kept = [line for line in without_lists_of_pages(around) if line]

    assert kept[0] == around[0] and kept[-1] == around[-1]
    assert len(kept) <= 3  # a letter may stay


@pytest.mark.parametrize(
    "lines",
    [
        ["Apples ........ 3.50", "Bread ........ 2.20", "Cheese ........ 7.90", "Dates ........ 4.00"],
        ["Soup ........ 9", "Steak ........ 24", "Salad ........ 8", "Water ........ 3", "Wine ........ 6"],
        [f"{name} {price}" for name, price in zip(NAMES, [9, 4, 7, 3, 8, 5, 2, 6, 1, 12, 11, 10], strict=True)],
        [f"{year} {people}" for year, people in zip(range(1900, 1912), range(812, 2000, 99), strict=True)],
        [f"Kell {n} Harl {9 - n}" for n in range(9)],
        [f"- Mill {n}: built by Ada Renk in {1883 + n}" for n in range(9)],
        [f"It has {n} wheels, and was sold in 19{30 + n}" for n in range(9)],
        ["HISTSIZE 500", "CHILD_MAX 4096", "TMOUT 0", "LINES 24", "COLUMNS 80"],
        [f"{sign * 100_000}{n}x" for n, sign in enumerate(["a", "b ", ".", ". ", "_a", " \t", "1, ", "...5 "])],
    ],
)
def test_tables_price_lists_and_results_stay(lines: list[str]) -> None:
    assert without_lists_of_pages(lines) == lines


@pytest.mark.parametrize(
    "line",
    [
        "Prev | Up | Next",
        "- 20.1. Limits - Prev; Up; Next".split(" - ")[1],
        "Previous » Next",
        "Home > Docs > Mills > Wheels",
        "Edit on GitHub",
        "[Skip to main content]",
        "Back to top",
        "View page source",
        "Next: Contents | Previous: Index",
    ],
)
def test_signs_to_other_pages_are_left_out(line: str) -> None:
    assert is_sign(line)


@pytest.mark.parametrize(
    "line",
    [
        "Next, the wheel is turned.",
        "Home",
        "Up",
        "The home of Ada Renk is in Ost.",
        "Previous owners: Ada Renk; Karl Senn",
        "Kell | Harl | Ost",
        "Go to Home > Settings > Network and choose a printer.",
        "- Index: a name of a database",
        "next / step",
        "Search for the index, then go up.",
    ],
)
def test_what_only_names_such_signs_stays(line: str) -> None:
    assert not is_sign(line)


def test_a_page_that_only_leads_on_is_no_document(tmp_path: Path) -> None:
    (tmp_path / "old.html").write_text("<title>Mills</title><p>You are being redirected to <a href='x'>Mills</a>.")
    (tmp_path / "new.html").write_text("<title>Mills</title><p>Requests are redirected. The mill stands.")

    assert [Path(str(document["source"])).name for document in read_documents([tmp_path])] == ["new.html"]
    assert leads_on("If you are not redirected automatically, click here.")


def test_a_text_that_is_nothing_but_a_list_stays(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("\n".join(DOTTED))

    assert len(read_documents([tmp_path])) == 1


@pytest.mark.parametrize(
    "rows",
    [
        [f"- Article: Osprey {n}; Motor: {n} kW; Price: {n},{n}80" for n in range(1, 10)],
        [f"- {town}, {number}" for town, number in zip("ABCDEFGHIJ", range(1_120, 1_130), strict=True)],
        [
            f"{dish} ........ {price}"
            for dish, price in zip("Apple Bread Cake Date Egg Fig".split(), range(9, 15), strict=True)
        ],
        [f"- Hall {n}: {n}.5 m, 1,{n}5" for n in range(1, 10)],
    ],
)
def test_tables_and_lists_of_prices_stay(rows: list[str]) -> None:
    assert without_lists_of_pages(["All prices in euros.", "", *rows]) == ["All prices in euros.", "", *rows]


def test_links_to_other_languages_are_signs() -> None:
    assert is_sign("Available Languages: \xa0en\xa0 | \xa0pt-br\xa0 | \xa0tr")
    assert not is_sign("Languages: English is spoken in the mill, Kellish by its owner.")
