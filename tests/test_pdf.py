"""Reading PDF files, which are made here."""

import json
import sys
import textwrap
import zlib
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject
from pypdfium2 import PdfDocument
from typer.testing import CliRunner

from langgraph_rag import read_documents
from langgraph_rag.cli import app
from langgraph_rag.errors import DocumentError
from langgraph_rag.tools.documents import pdf as reading
from langgraph_rag.tools.documents import pdf_layout
from langgraph_rag.tools.documents.pdf import read_pdf

Line = tuple[float, str] | tuple[float, str, float] | tuple[float, str, float, float]
"""The size of letters, the text, and where it begins: from the left, and from the bottom of the page."""
BODY, LARGE = 10.0, 20.0
FULL = "the passage boats of the isle leave the mole in the early morning, and"


def body(*lines: str) -> list[Line]:
    return [(BODY, line) for line in lines]


def pdf(*pages: Sequence[Line], password: str = "") -> bytes:
    """Write a file of pages with lines of some size in Helvetica."""
    writer, written = PdfWriter(), BytesIO()
    font = {"Type": "Font", "Subtype": "Type1", "BaseFont": "Helvetica", "Encoding": "WinAnsiEncoding"}
    names = DictionaryObject({NameObject(f"/{key}"): NameObject(f"/{value}") for key, value in font.items()})
    fonts = DictionaryObject({NameObject("/F1"): names})
    for lines in pages:
        page = writer.add_blank_page(595, 842)
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        shown = [
            f"BT /F1 {placed[0]} Tf 1 0 0 1 {50 if len(placed) < 3 else placed[2]} "
            f"{800 - 24 * number if len(placed) < 4 else placed[3]} Tm ({placed[1]}) Tj ET"
            for number, placed in enumerate(lines)
        ]
        content = DecodedStreamObject()
        content.set_data("\n".join(shown).encode("cp1252"))
        page[NameObject("/Contents")] = writer._add_object(content)
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    writer.write(written)
    return written.getvalue()


def test_a_file_is_titled_by_what_its_first_page_sets_largest() -> None:
    first = [(BODY, "Annals, volume 3"), (LARGE, "The Ferries"), (LARGE, "of Kell"), (BODY, "Kell is an isle.")]

    assert read_pdf(pdf(first, [(30.0, "Appendix")])).title == "The Ferries of Kell"
    assert read_pdf(pdf(body("Kell is an isle.", "It is small."))).title == ""
    assert read_pdf(pdf([(LARGE, "Kell " * 100), (BODY, "It is small.")])).title == ""
    assert read_pdf(pdf([(LARGE, "1968"), (BODY, "Kell is an isle.")])).title == ""


def test_a_heading_of_the_same_size_below_a_title_is_no_part_of_it() -> None:
    lines = [(LARGE, "The Ferries", 200, 800), (LARGE, "of Kell", 220, 776), (LARGE, "1 Boats", 50, 746)]
    read = read_pdf(pdf([*lines, (BODY, "Two are old.", 50, 720)]))

    assert (read.title, read.pages) == ("The Ferries of Kell", ["1 Boats\n\nTwo are old."])


def test_lines_are_joined_to_paragraphs_and_halves_of_words_to_words() -> None:
    lines = body(
        "Boats",
        f"{FULL} they re-",
        "turn at night.",
        f"{FULL} the mail",
        "comes with them.",
    )

    (page,) = read_pdf(pdf(lines)).pages

    assert page.split("\n\n") == ["Boats", f"{FULL} they return at night.", f"{FULL} the mail comes with them."]


def test_a_line_ends_its_paragraph_where_the_next_word_would_have_fitted() -> None:
    narrow = body(
        "It has been documented", "seldom among the", "extraordinary tubenoses", "Few of them", "The others left."
    )

    (page,) = read_pdf(pdf(narrow)).pages

    assert page.split("\n\n") == [
        "It has been documented seldom among the extraordinary tubenoses Few of them",
        "The others left.",
    ]


@pytest.mark.parametrize(
    ("line", "following", "joined"),
    [
        ("Frau Maria von M\xfcller-", "L\xfcdenscheidt sang.", "M\xfcller-L\xfcdenscheidt sang."),
        ("There was no COVID-", "19 on the isle.", "COVID-19 on"),
        ("It is a list of pre-", "and post-war boats.", "pre- and post-war"),
        ("See the page of kell/ferry-", "boats on it.", "kell/ferry-boats on it."),
        ("It is a sail-", "ing boat.", "a sailing boat."),
        ("They went there -", "and came back.", "there - and came back."),
    ],
)
def test_a_hyphen_at_the_end_of_a_line_goes_where_it_cuts_a_word(line: str, following: str, joined: str) -> None:
    (page,) = read_pdf(pdf(body(line, following))).pages

    assert joined in page


def test_short_lines_far_from_each_other_are_paragraphs_where_all_are() -> None:
    page = [(BODY, "Rent is 950 euros", 50.0, 700.0), (BODY, "Area is known to all", 50.0, 675.0)]
    page += [(BODY, "1. first", 50.0, 650.0), (BODY, "between", 50.0, 625.0), (BODY, FULL, 50.0, 600.0)]

    assert paragraphs(*page) == [line[1] for line in page]


def test_an_initial_is_a_part_of_its_word_and_no_title() -> None:
    lines: list[Line] = [
        (LARGE, "Boats of Kell"),
        (40.0, "T", 50, 700),
        (BODY, "he ferries of Kell are old and", 76, 718),
        (BODY, "slow, but they are safe.", 76, 706),
    ]

    read = read_pdf(pdf(lines))
    assert read.pages == ["The ferries of Kell are old and slow, but they are safe."]


def beside(*parts: tuple[float, str, float], base: float = 700.0) -> list[Line]:
    """Write parts of a line of Helvetica one after the other: their sizes, texts, and how far they are raised."""
    at, lines = 50.0, list[Line]()
    for size, text, up in parts:
        lines.append((size, text, at, base + up))
        at += size * sum({" ": 0.278, ".": 0.278, ",": 0.278, "l": 0.222, "i": 0.222}.get(c, 0.556) for c in text)
    return lines


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([(10, "On 000", 0), (7, "1", 4), (10, " old.", 0)], "On 000^1 old."),
        ([(10, "Sold ed en den", 0), (7, "1", 4), (10, " in spa", 0)], "Sold ed en den in spa"),
        ([(10, "Age on end.", 0), (7, "12", 4)], "Age on end."),
        ([(7, "1", 4), (10, "Men and den", 0)], "Men and den"),
        ([(7, "14", 4), (10, "C and den", 0)], "14C and den"),
        ([(10, "Age on end", 0), (7, "*", 4)], "Age on end"),
        ([(10, "10", 0), (7, "6", 4), (10, " boa", 0)], "10^6 boa"),
        ([(10, "2", 0), (6.5, "10", 4), (10, " boa", 0)], "2^10 boa"),
        ([(10, "10", 0), (7, "-3", 4), (10, " boa", 0)], "10^-3 boa"),
        ([(10, "5 dd", 0), (7, "3", 4), (10, ", ", 0), (7, "14", 4), (10, "C dad", 0)], "5 dd^3, 14C dad"),
        ([(10, "000 and end, ", 0), (7, "2", 4), (10, "Boa and", 0)], "000 and end, Boa and"),
        ([(10, "SO", 0), (7, "4", -2), (7, "2-", 4), (10, " and", 0)], "SO4^2- and"),
        ([(10, "log", 0), (7, "10", -2), (10, " 5", 0)], "log10 5"),
        ([(10, "CO", 0), (7, "2", -2), (10, " and 5 end", 0)], "CO2 and 5 end"),
        ([(10, "5 dd", 0), (7, "2", 4), (10, " and 000", 0)], "5 dd^2 and 000"),
        ([(10, "the 5", 0), (7, "en", 4), (10, " boa", 0)], "the 5en boa"),
    ],
)
def test_raised_and_lowered_characters_stay_with_their_words_and_numbers_of_footnotes_go(
    parts: list[tuple[float, str, float]], text: str
) -> None:
    above: list[Line] = [(10, "Kell is an isle of old boats.", 50, 760)]

    (page,) = read_pdf(pdf(above + beside(*parts))).pages

    assert page.split("\n\n")[1] == text


def test_a_page_of_many_words_is_read_at_once() -> None:
    lines: list[Line] = [(1.0, f"isle {number} {FULL} " * 4, 50, 10 + 3.2 * number) for number in range(250)]

    (page,) = read_pdf(pdf(lines)).pages

    assert page.count("isle") == 2000


def test_a_sentence_that_goes_on_over_the_page_stands_whole_on_the_next() -> None:
    first, second = body("Kell is an isle.", f"It lies where {FULL} sail-"), body("ing boats lie.", "Orsby is a town.")

    pages = read_pdf(pdf(first, second)).pages

    assert pages[0] == "Kell is an isle."
    assert pages[1].startswith(f"It lies where {FULL} sailing boats lie.")


def test_and_so_does_one_that_goes_on_with_a_name_after_others() -> None:
    pages = read_pdf(pdf(body(f"{FULL} return. They sail to the"), body("Sarl in spring."))).pages

    assert pages == [f"{FULL} return.", "They sail to the Sarl in spring."]


def test_running_heads_and_numbers_of_pages_are_left_out() -> None:
    texts = ("Kell is an isle.", "Orsby is a town.", "The Sarl is a river.")
    pages = [body(f"The ferries of Kell {n}", f"{text} It has {n} boats.", str(n)) for n, text in enumerate(texts)]

    assert read_pdf(pdf(*pages)).pages == [f"{text} It has {n} boats." for n, text in enumerate(texts)]


FULL_PAGE = [f"{FULL} they return." for _ in range(12)]
Numbered = tuple[str, int | list[str]]  # a line, and what it is numbered with, from page to page or from the first on
HEADS: dict[str, Numbered] = {
    "on a page each": ("The Ferries of Kell {}", 1),
    "from a page of a volume on": ("{} A. Renk et al.", 1_023),
    "of all pages": ("Ferries - Page {} of 12", 1),
    "in Roman numbers": ("- {} -", ["iii", "iv", "v"]),
    "without a number": ("The Ferries of Kell", 1),
}
CONTENT: dict[str, Numbered] = {
    "invoices": ("Invoice no. 100{}", 0),
    "invoices of one word": ("Invoice {}", 1_000),
    "days": ("{} March 2024", 1),
    "years": ("Report of the ferries for {}", 1_911),
    "chapters": ("Chapter {}", 1),
    "parts": ("The Ferries of Kell, part {}", 1),
    "sections of a law": ("\u00a7 {} Duties of the crew", 1),
    "labels": ("Customer: Ann Lee", 1),
    "sentences": ("The isle had {} boats then.", 1),
}


def numbered(line: str, first: int | list[str]) -> list[str]:
    return [line.format(n) for n in (range(first, first + 3) if isinstance(first, int) else first)]


@pytest.mark.parametrize("case", HEADS)
def test_a_running_head_is_the_same_on_several_pages_or_counts_them(case: str) -> None:
    pages = [body(head, *FULL_PAGE) for head in numbered(*HEADS[case])]

    assert [page.partition(" ")[0] for page in read_pdf(pdf(*pages)).pages] == ["the"] * 3


def test_two_pages_that_are_counted_have_heads() -> None:
    pages = [body(head, *FULL_PAGE) for head in ("The Ferries of Kell 7", "The Ferries of Kell 8")]

    assert [page.partition(" ")[0] for page in read_pdf(pdf(*pages)).pages] == ["the"] * 2


@pytest.mark.parametrize("case", CONTENT)
@pytest.mark.parametrize("rest", [FULL_PAGE, ["Kell is an isle.", "It is small."]], ids=["full", "short"])
def test_other_numbers_that_rise_are_what_pages_say(case: str, rest: list[str]) -> None:
    lines = numbered(*CONTENT[case])

    read = read_pdf(pdf(*[body(line, *rest) for line in lines])).pages

    assert all(page.startswith(line) for page, line in zip(read, lines, strict=True))


def test_nothing_of_forms_is_lost_or_moved_to_another_page() -> None:
    invoices = [
        ("Invoice no. 1000", "Date: 1 March 2024", "Customer: Ann Lee", "3 pumps of type K-30", "Total due: 411 euros"),
        ("Invoice no. 1001", "Date: 2 March 2024", "Customer: Bo Marsh", "4 pumps of type K-40", "Paid by Bo"),
        ("Invoice no. 1002", "Date: 3 March 2024", "Customer: Bo Marsh", "4 pumps of type K-40", "Paid by Bo"),
    ]

    pages = read_pdf(pdf(*[body(*lines) for lines in invoices])).pages

    assert [" ".join(page.split()) for page in pages] == [" ".join(lines) for lines in invoices]


@pytest.mark.parametrize(
    ("last", "first"),
    [
        ("Customer: Ann Lee", "of Kell."),
        ("Kell is an isle. Ann Lee", "Invoice no. 1001"),
        ("Kell is an isle. Ann Lee", "3 pumps were sent."),
        ("Kell is an isle. Ann Lee", "Customer: Bo Marsh."),
        ("pumps of brass", "pumps of iron"),
    ],
)
def test_what_does_not_go_on_stays_on_its_page(last: str, first: str) -> None:
    assert read_pdf(pdf(body(last), body(first))).pages == [last, first]


def test_a_title_that_two_slides_have_is_no_running_head() -> None:
    cover = [(30.0, "The Ferries of Kell"), *body("A report.")]
    slides = [[(LARGE, "Results"), *body(text, "It is so.", "Ask us.")] for text in ("There are six.", "Two are new.")]

    assert [page.partition("\n\n")[0] for page in read_pdf(pdf(cover, *slides)).pages] == [
        "A report.",
        "Results",
        "Results",
    ]


def test_pages_are_documents_that_can_be_cited(tmp_path: Path) -> None:
    pages = [[(LARGE, "The Ferries of Kell"), *body("Kell is an isle.")], [], body("Ada Renk built the Kell ferry.")]
    (tmp_path / "ferries.pdf").write_bytes(pdf(*pages))

    first, third = read_documents(tmp_path)

    assert (first["title"], first["text"], first["metadata"]) == (
        "The Ferries of Kell",
        "Kell is an isle.",
        {"page": 1},
    )
    assert (third["title"], third["metadata"]) == ("The Ferries of Kell", {"page": 3})
    asked = ["ask", "Who built the Kell ferry?", "--kb", str(tmp_path / "kb")]
    CliRunner().invoke(app, ["index", str(tmp_path / "ferries.pdf"), "--kb", str(tmp_path / "kb")])
    answer = CliRunner().invoke(app, asked).stdout
    assert "Answer: Ada Renk\n" in answer
    assert f"The Ferries of Kell ({tmp_path / 'ferries.pdf'}, page 3), step 1: Ada Renk built" in answer
    result = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    assert {entry["page"] for entry in result["evidence"] if entry["sentence"].startswith("Ada")} == {"3"}
    assert {"page": 3} in [passage["metadata"] for passage in result["passages"]]


GOOD = pdf(body("Kell is an isle."))
BAD = {
    "text": (b"Kell is an isle.", "it cannot be read as PDF"),
    "half": (GOOD[: len(GOOD) // 2], "it cannot be read as PDF"),
    "empty": (b"", "it cannot be read as PDF"),
    "locked": (pdf(body("Kell is an isle."), password="salt"), "it wants a password: save it without one"),
    "scan": (pdf([]), r"expected a PDF file with text, got one without: is it a scan\?"),
    "without pages": (pdf(), "it cannot be read as PDF"),
}


def packed(content: bytes, *, times: int = 1) -> bytes:
    """Write a file of a page whose content is packed."""
    for _ in range(times):
        content = zlib.compress(content, 9)
    filters = b" ".join([b"/FlateDecode"] * times)
    return (
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj "
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1<</Type/Font"
        b"/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj 4 0 obj<</Length %d/Filter[%b]>>stream\n%b\nendstream endobj "
        b"trailer<</Root 1 0 R>>" % (len(content), filters, content)
    )


def test_a_small_file_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"BT /F1 10 Tf 50 700 Td (Kell is an isle.) Tj ET"
    blank = text + b" " * 200_000

    assert read_pdf(packed(blank)).pages == ["Kell is an isle."]
    monkeypatch.setattr(reading, "_LARGEST", 100_000)
    monkeypatch.setattr(reading, "_CHUNK", 10_000)
    assert read_pdf(packed(text)).pages == ["Kell is an isle."]
    for times in (1, 2):
        with pytest.raises(ValueError, match="it unpacks to more than 100,000 bytes, from [0-9,]+"):
            read_pdf(packed(blank, times=times))


def test_a_reader_that_takes_too_long_or_ends_by_itself_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for program, said in (
        ("import os; os.abort()", "its reader ended"),
        ("raise MemoryError", "reading it takes too much memory"),
        ("import faulthandler, time; faulthandler.dump_traceback_later(0.1, exit=True); time.sleep(9)", "too long"),
    ):
        monkeypatch.setattr(reading, "_PROGRAM", (sys.executable, "-c", program))
        with pytest.raises(ValueError, match=f"it cannot be read as PDF .*{said}"):
            read_pdf(GOOD)
    monkeypatch.setattr(reading, "_SECONDS", 0.5)
    monkeypatch.setattr(reading, "_PROGRAM", (sys.executable, "-c", "import time; time.sleep(9)"))
    with pytest.raises(ValueError, match="reading it takes over 0.5 seconds"):
        read_pdf(GOOD)


@pytest.mark.parametrize("kind", BAD)
def test_what_cannot_be_read_is_told(tmp_path: Path, kind: str) -> None:
    written, problem = BAD[kind]
    (tmp_path / "ferries.pdf").write_bytes(written)

    with pytest.raises(DocumentError, match=f"ferries.pdf: {problem}"):
        read_documents(tmp_path / "ferries.pdf")


PROSE = (
    "Kell is an isle in the north, and the largest of eleven that belong to the county of Sarl. Its people fish and "
    "build boats, which were known for their speed in former times. Ada Renk, who had learned her trade on the "
    "mainland, opened the first yard in the spring of 1904. It had one slip and employed nine men. In the winter the "
    "men mended nets and carved figures for the bows, of which some are kept in the museum of the town of Orsby."
)


def wrapped(text: str, width: int, left: float, top: float, pitch: float = 12.0) -> list[Line]:
    return [(BODY, line, left, top - pitch * number) for number, line in enumerate(textwrap.wrap(text, width))]


def paragraphs(*lines: Line) -> list[str]:
    (page,) = read_pdf(pdf(list(lines))).pages
    return page.split("\n\n")


def test_columns_are_read_one_after_the_other_below_a_narrow_abstract() -> None:
    other = PROSE.replace("Kell", "Tolm").replace("Ada Renk", "Orla Vint")
    left, right = wrapped(PROSE, 44, 50, 600), wrapped(other, 44, 310, 600)
    abstract = wrapped("This tells of yards. " + PROSE, 60, 130, 760)

    for lines in ([*abstract, *left, *right], [*abstract, *right, *left]):
        assert paragraphs(*lines) == ["This tells of yards. " + PROSE, PROSE, other]


def test_a_column_that_begins_higher_and_a_head_over_both_are_read_in_their_order() -> None:
    left, right = wrapped(PROSE, 44, 50, 600), wrapped(PROSE, 44, 310, 660)

    assert paragraphs(
        (BODY, "The head of this page stands over both of its columns, as it is wide", 50, 700), *left, *right
    )[1:] == [PROSE, PROSE]


def test_text_beside_a_figure_forms_paragraphs_without_what_the_figure_says() -> None:
    figure: list[Line] = [
        (BODY, label, 480, 705 - 31 * number) for number, label in enumerate(("bow", "mast", "stern"))
    ]

    read = paragraphs(*wrapped(PROSE, 70, 50, 720), *figure, *wrapped(PROSE, 90, 50, 600))

    assert read.count(PROSE) == 2 and {"bow", "mast", "stern"} < set(" ".join(read).split())


def test_lines_narrower_than_the_widest_of_the_page_form_paragraphs() -> None:
    assert paragraphs(*wrapped(PROSE, 40, 150, 800), *wrapped(PROSE, 90, 50, 600)) == [PROSE, PROSE]
    assert paragraphs(*wrapped(PROSE, 90, 50, 800), *wrapped(PROSE, 30, 200, 700)) == [PROSE, PROSE]


BOATS = [
    ("Boat", "Built", "Yard of"),
    *((name, str(1904 + n), "Ada Renk") for n, name in enumerate("Kell Tolm Sarl Isk".split())),
]


def table(
    rows: Sequence[Sequence[str]], top: float, *, backwards: bool = False, lefts: tuple[int, ...] = (50, 150, 250)
) -> list[Line]:
    lines: list[Line] = []
    for number, row in enumerate(rows):
        cells: list[Line] = [
            (BODY, cell, left, top - 15 * number) for cell, left in zip(row, lefts, strict=True) if cell
        ]
        lines += reversed(cells) if backwards else cells
    return lines


@pytest.mark.parametrize("backwards", [False, True])
def test_rows_of_a_table_stay_rows_also_if_drawn_from_right_to_left(backwards: bool) -> None:
    above: list[Line] = [(BODY, f"{FULL} they return.", 50, 760)]
    below: list[Line] = [(BODY, "All of them are in use.", 50, 600)]

    for lines in ([*above, *table(BOATS, 720, backwards=backwards), *below], table(BOATS, 720, backwards=backwards)):
        (page,) = read_pdf(pdf(lines)).pages
        assert "\n".join(" ".join(row) for row in BOATS) in page


def test_a_table_drawn_column_by_column_has_its_rows() -> None:
    rows = [(name, str(100 + n)) for n, name in enumerate("Kell Tolm Sarl Isk Orsby".split())]
    cells = table(rows, 700, lefts=(50, 200))

    (page,) = read_pdf(pdf([*cells[::2], *cells[1::2]])).pages

    assert page == "\n".join(" ".join(row) for row in rows)


def test_names_of_columns_that_are_repeated_on_each_page_stay() -> None:
    pages = [
        table([BOATS[0], *((f"Boat {page}{n}", str(1900 + n), "Ada Renk") for n in range(20))], 780)
        for page in range(4)
    ]

    assert [page.split("\n")[0] for page in read_pdf(pdf(*pages)).pages] == ["Boat Built Yard of"] * 4


def test_cells_of_several_lines_are_read_whole() -> None:
    described = [
        ("Kell", "The first boat of the yard, which sank off Orsby"),
        ("Tolm", "The second one of it, which is in the museum of Sarl"),
        ("Isk", "Lost."),
    ]
    lines: list[Line] = []
    for number, (name, text) in enumerate(described):
        lines += [(BODY, name, 50, 700 - 36 * number), *wrapped(text, 28, 150, 700 - 36 * number)]

    assert read_pdf(pdf(lines)).pages == ["\n".join(" ".join(row) for row in described)]


def test_cells_that_stand_in_the_middle_of_their_rows_are_read_with_them() -> None:
    lines = table([("Boat", "What became of it", "Built")], 720, lefts=(50, 150, 400))
    texts = "It sank off Orsby in the storm of that year", "It is kept in the museum of the town of Sarl"
    for number, (name, text) in enumerate(zip(("Kell", "Tolm"), texts, strict=True)):
        top = 700 - 30 * number
        lines += [(BODY, name, 50, top - 6), *wrapped(text, 28, 150, top), (BODY, str(1904 + number), 400, top - 6)]

    assert read_pdf(pdf(lines)).pages == [f"Boat What became of it Built\nKell {texts[0]} 1904\nTolm {texts[1]} 1905"]


def test_cells_of_a_table_are_read_whole_also_where_a_name_stands_over_two_columns() -> None:
    note = "It was renewed in the year of the great storm and turns"
    lines: list[Line] = [(BODY, "Wheel and its size", 50, 710), (BODY, "What is known of it", 250, 710)]
    for number, (name, text) in enumerate((("North", wrapped(note, 28, 250, 690)), ("South", []))):
        lines += [(BODY, name, 50, 684 - 24 * number), (BODY, "3.2 m", 110, 684 - 24 * number)]
        lines += text or [(BODY, "Nothing", 250, 684 - 24 * number)]

    assert read_pdf(pdf(lines)).pages == [
        f"Wheel and its size What is known of it\nNorth 3.2 m {note}\nSouth 3.2 m Nothing"
    ]


def test_a_paragraph_goes_on_below_the_figure_beside_it() -> None:
    figure: list[Line] = [(BODY, label, 480, 705 - 31 * number) for number, label in enumerate(("bow", "mast"))]
    beside = wrapped(PROSE, 70, 50, 720)[:5]
    below = PROSE.removeprefix(f"{' '.join(str(line[1]) for line in beside)} ")

    assert PROSE in paragraphs(*beside, *wrapped(below, 90, 50, 660), *figure)


def test_a_description_that_ends_before_the_next_term_and_a_source_before_the_next_are_paragraphs() -> None:
    terms: list[Line] = [(BODY, "Oak", 50, 640), (BODY, "It lasts for sixty years.", 80, 628)]
    terms += [(BODY, "Elm", 50, 616), (BODY, "It lasts for forty.", 80, 604)]
    sources = [(BODY, f"[{number}] Ada Renk. Mills of Harl.", 50, 550 - 12 * number) for number in (1, 2)]

    read = paragraphs(*wrapped(PROSE, 90, 50, 720), *terms, *sources)

    assert read[1:3] == ["Oak", "It lasts for sixty years."] and "Elm" in read
    assert read[-2:] == ["[1] Ada Renk. Mills of Harl.", "[2] Ada Renk. Mills of Harl."]


@pytest.mark.parametrize(
    ("lines", "elsewhere", "joined"),
    [
        (("It was a long-", "term plan."), "long-term", "a long-term plan"),
        (("They sold 2-", "methylbutanoic acid."), "", "sold 2-methylbutanoic acid"),
        (("This is told in part 2-", "1. It stands."), "", "in part 2-1. It stands."),
        (("It was built by Meyer-", "von Holt."), "Meyer-von", "by Meyer-von Holt"),
        (("It was state-of-the-", "art then."), "the-art", "state-of-the-art then"),
        (("It was a long-", "term plan."), "", "a longterm plan"),
    ],
)
def test_a_hyphen_at_the_end_of_a_line_stays_where_the_word_has_one_elsewhere(
    lines: tuple[str, str], elsewhere: str, joined: str
) -> None:
    (first, *_) = read_pdf(pdf(body(*lines), body(f"This is {elsewhere} here."))).pages

    assert joined in first


def test_letters_of_an_index_are_not_joined_to_its_entries_and_it_is_left_out() -> None:
    words = "kelp kid kiln kind king kiosk kite knee knit knot kraal kudu"
    entries = [
        (BODY, f"{word}, {10 + number}, {40 + number}", 50, 700 - 14 * number)
        for number, word in enumerate(words.split())
    ]
    index: list[Line] = [(LARGE, "Index", 50, 780), (14.0, "K", 50, 720), *entries]

    pages = read_pdf(pdf([(LARGE, "Boats", 50, 800), (BODY, "Kell is an isle.", 50, 700)], index)).pages

    assert "Kelp" not in "".join(pages) and "Kkelp" not in "".join(pages) and pages[0] == "Kell is an isle."


def test_passages_have_the_titles_of_the_outline() -> None:
    pages = body("1 Boats", "Two are old."), body("2 Yards", "One is new.", "2.1 Slips", "It has one.")
    writer, written = PdfWriter(clone_from=BytesIO(pdf(*pages))), BytesIO()
    writer.add_outline_item(title="Boats", page_number=0)
    yards = writer.add_outline_item(title="Yards", page_number=1)
    writer.add_outline_item(title="Slips", page_number=1, parent=yards)
    writer.write(written)

    assert [part[:3] for part in read_pdf(written.getvalue()).parts if part.text] == [
        (1, ("Boats",), "Two are old."),
        (2, ("Yards",), "One is new."),
        (2, ("Yards", "Slips"), "It has one."),
    ]


def test_a_heading_that_is_the_title_or_does_not_stand_on_its_page_is_above_its_sections() -> None:
    first: list[Line] = [(LARGE, "Kell"), *body("1 Boats", "Two are old.", "2 Yards", "One is new.")]
    pages = first, body("It has a slip.", "3.1 Cod", "They are many."), body("3.2 Eels", "They are few.")
    writer, written = PdfWriter(clone_from=BytesIO(pdf(*pages))), BytesIO()
    top = writer.add_outline_item(title="Kell", page_number=0)
    for title, page in (("Boats", 0), ("Yards", 0)):
        writer.add_outline_item(title=title, page_number=page, parent=top)
    drawn = writer.add_outline_item(title="Fish", page_number=1, parent=top)
    for title, page in (("Cod", 1), ("Eels", 2)):
        writer.add_outline_item(title=title, page_number=page, parent=drawn)
    writer.write(written)

    assert [part[1:] for part in read_pdf(written.getvalue()).parts if part.text] == [
        (("Boats",), "Two are old."),
        (("Yards",), "One is new."),
        (("Yards",), "It has a slip."),
        (("Fish", "Cod"), "They are many."),
        (("Fish", "Eels"), "They are few."),
    ]


def test_short_lines_with_labels_stay_lines_of_their_own_beside_text_of_full_width() -> None:
    lines = [(BODY, FULL, 50, 700), (BODY, "Name: Ada Renk", 50, 670), (BODY, "Born: 1883", 50, 656)]

    assert read_pdf(pdf([*lines, (BODY, "Trade: miller", 50, 642)])).pages == [
        f"{FULL}\n\nName: Ada Renk\n\nBorn: 1883\n\nTrade: miller"
    ]


def test_fields_of_a_form_are_lines_of_their_own() -> None:
    lines = body("Name: Ada Renk", "Date of birth: 1883", "Trade: miller in Kell", "Boat: none")

    assert read_pdf(pdf(lines)).pages == ["\n\n".join(str(line[1]) for line in lines)]


def test_lines_of_an_address_are_lines_of_their_own_but_a_narrow_paragraph_is_one() -> None:
    address = [(BODY, "Renk Boats Ltd", 50, 700), (BODY, "Mole 4", 50, 688), (BODY, "7020 Kell", 50, 676)]
    rest = [(BODY, "It is for the", 50, 652), (BODY, "boat that leaves.", 50, 640), (BODY, FULL, 50, 610)]

    assert read_pdf(pdf([*address, *rest])).pages == [
        f"Renk Boats Ltd\n\nMole 4\n\n7020 Kell\n\nIt is for the boat that leaves.\n\n{FULL}"
    ]


def test_marks_of_list_items_that_stand_higher_are_read_with_their_items() -> None:
    items = ["Take the boat from the mole", "Leave it at the pier of Kell", "Pay"]
    marked = [
        line
        for number, item in enumerate(items)
        for line in ((12.0, "\u2022", 52, 698 - 20 * number), (BODY, item, 68, 700 - 20 * number))
    ]
    counted = [
        line
        for number, item in enumerate(items, 1)
        for line in ((12.0, str(number), 52, 598 - 20 * number), (BODY, item, 68, 600 - 20 * number))
    ]
    (page,) = read_pdf(pdf([*marked, *counted])).pages

    assert page.replace("\n\n", "\n").split("\n") == [
        *(f"\u2022 {item}" for item in items),
        *(f"{number}. {item}" for number, item in enumerate(items, 1)),
    ]


def test_letters_that_touch_are_a_word_although_the_library_guesses_spaces_between_them() -> None:
    widths = {"P": 0.667, "l": 0.222, "e": 0.556, "a": 0.556, "s": 0.5, " ": 0.278, "t": 0.278, "i": 0.222}
    written, lefts = "Please sit", [50.0]
    for letter in written:
        lefts.append(lefts[-1] + widths[letter])
    letters = [(1.0, letter, left, 700.0) for letter, left in zip(written, lefts, strict=False) if letter != " "]

    assert "Ple\r\na\r\ns\r\ne" in PdfDocument(pdf(letters))[0].get_textpage().get_text_range()
    assert read_pdf(pdf(letters)).pages == ["Please sit"]


@pytest.mark.parametrize("backwards", [False, True])
def test_letters_of_arabic_and_hebrew_follow_each_other_in_whatever_order_they_are_drawn(backwards: bool) -> None:
    letters = [(letter, 100.0 - 5 * number) for number, letter in enumerate("שלום")][:: -1 if backwards else 1]
    (first, left), *others = letters
    word = pdf_layout._Drawn(first, left, left + 5, 700, 10, 0, True)

    assert all(word.add(letter, left, left + 5, 0.12) for letter, left in others)
    assert (word.text, word.left, word.right) == ("שלום", 85.0, 105.0)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("CHAPTER ONE", "CHAPTER ONE"),
        ("the mill", "the mill"),
        ("ABCDEFGH", "A B C D E F G H"),
        ("xPyQaRb", "x P y Q a R b"),
        ("OHLC", "O H L C"),
    ],
)
def test_letters_that_are_set_apart_are_words_if_they_may_be(written: str, text: str) -> None:
    widths = dict(zip("CHAPTERONLBDFGthemilxyQab ", (
        7.2, 7.2, 6.7, 6.7, 6.1, 6.7, 7.2, 7.8, 7.2, 5.6, 6.7, 7.2, 6.1, 7.8,
        2.8, 5.6, 5.6, 8.3, 2.2, 2.2, 5, 5, 7.8, 5.6, 5.6, 2.8,
    ), strict=True))  # fmt: skip
    lines, at = list[Line](), 50.0
    for letter in written:
        lines += [(BODY, letter, at, 700.0)] if letter != " " else []
        at += widths[letter] + 3.0

    assert read_pdf(pdf(lines)).pages == [text]
