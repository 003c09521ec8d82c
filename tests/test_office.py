"""Excel workbooks and PowerPoint presentations, which are made here."""

import sys
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from lxml.etree import SubElement
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.styles import Font
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.util import Inches
from typer.testing import CliRunner

from langgraph_rag import read_documents
from langgraph_rag.cli import app
from langgraph_rag.errors import DocumentError
from langgraph_rag.tools.documents import office
from langgraph_rag.tools.documents.files import read_what_can_be

ROWS: list[list[object]] = [["Boat", "Built", "Builder"], ["Ada", 1904, "Renk"], ["Orla", 1911, "Vint"]]


def _saved(tmp_path: Path, book: Workbook) -> Path:
    book.save(tmp_path / "ferries.xlsx")
    return tmp_path / "ferries.xlsx"


def _book(*rows: Sequence[object]) -> Workbook:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    return book


def _texts(path: Path) -> dict[object, object]:
    return {document["title"]: document["text"] for document in read_documents(path)}


def test_rows_of_a_workbook_are_documents_also_in_folders(tmp_path: Path) -> None:
    _saved(tmp_path, _book(*ROWS))

    first, second = read_documents(tmp_path)

    assert (first["title"], first["text"]) == ("Ada", "- Built: 1904\n- Builder: Renk")
    assert (second["title"], second["metadata"]) == ("Orla", {"Boat": "Orla", "Built": "1911", "Builder": "Vint"})


def test_values_are_as_excel_shows_them(tmp_path: Path) -> None:
    values = [date(1904, 5, 1), datetime(2024, 1, 2, 12, 30), time(9, 15), 0.1 + 0.2, 3.0, True, 0.125]
    book = _book(["Boat", "Day", "At", "From", "Length", "Decks", "Sold", "Share"], ["Ada", *values])
    book.active["H2"].number_format = "0.0%"

    assert _texts(_saved(tmp_path, book)) == {
        "Ada": "- Day: 1904-05-01\n- At: 2024-01-02 12:30:00\n- From: 09:15:00\n- Length: 0.3\n- Decks: 3\n"
        "- Sold: TRUE\n- Share: 12.5%"
    }


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (1234, "00000", "01234"),
        (7, "000", "007"),
        (123456789, "00000-0000", "12345-6789"),
        (12345678, "000\\-00\\-0000", "012-34-5678"),
        (1200.5, '#,##0.00 "\u20ac"', "1200.5 \u20ac"),
        (1200, '"$"#,##0;-"$"#,##0', "$1200"),
        (3, "#,##0 [$CHF-807]", "3 CHF"),
        (3.5, "_-[$\u00a3-809]* #,##0.00_-;-[$\u00a3-809]* #,##0.00_-", "\u00a33.5"),
        (12, 'General" km"', "12 km"),
        (0.5, "0%", "50%"),
        (-2.5, "[Red]0.0", "-2.5"),
        (1e6, '0.0,,"M"', "1000000"),
        (2, "0.00E+00", "2"),
    ],
)
def test_numbers_keep_the_zeros_currencies_and_units_of_their_formats(
    tmp_path: Path, value: float, form: str, text: str
) -> None:
    book = _book(["Boat", "Length", "Yard"], ["Ada", value, "Kell"])
    book.active["B2"].number_format = form

    assert _texts(_saved(tmp_path, book)) == {"Ada": f"- Length: {text}\n- Yard: Kell"}


def test_a_title_above_the_names_of_columns_is_told_in_each_row(tmp_path: Path) -> None:
    book = _book(["The ferries of Kell"], [], *ROWS)
    book.active.merge_cells("A1:C1")

    assert _texts(_saved(tmp_path, book))["Ada"] == "- Built: 1904\n- Builder: Renk\n- Table: The ferries of Kell"


def test_merged_cells_hold_for_all_that_they_cover(tmp_path: Path) -> None:
    book = _book(["Boat", "Trips", None, "Yard"], [None, 2023, 2024, None], ["Ada", 5, 6, "Kell"], ["Orla", 7, 8, None])
    for merged in ("A1:A2", "B1:C1", "D1:D2", "D3:D4"):
        book.active.merge_cells(merged)

    assert _texts(_saved(tmp_path, book)) == {
        "Ada": "- Trips 2023: 5\n- Trips 2024: 6\n- Yard: Kell",
        "Orla": "- Trips 2023: 7\n- Trips 2024: 8\n- Yard: Kell",
    }


@pytest.mark.parametrize("merged", [False, True])
def test_rows_that_head_sections_are_told_in_their_rows(tmp_path: Path, merged: bool) -> None:
    book = _book(["Fare", "Adult", "Child"], ["Kell"], ["Single", 2.4, 1.2], ["Ost"], ["Single", 4.8, 2.4])
    for cells in ("A2:C2", "A4:C4") if merged else ():
        book.active.merge_cells(cells)

    assert [document["text"] for document in read_documents(_saved(tmp_path, book))] == [
        "- Adult: 2.4\n- Child: 1.2\n- Section: Kell",
        "- Adult: 4.8\n- Child: 2.4\n- Section: Ost",
    ]


def test_rows_with_one_cell_are_rows_where_others_are_incomplete_or_come_first(tmp_path: Path) -> None:
    book = _book(["Boat", "Built", "Yard"], ["Ada", 1904, "Kell"], ["Orla"], ["Mira", 1911, "Ost"])

    assert list(_texts(_saved(tmp_path, book))) == ["Ada", "Orla", "Mira"]


def test_struck_out_parts_of_a_cell_are_left_out_and_durations_and_fields_are_told(tmp_path: Path) -> None:
    price = CellRichText("now ", TextBlock(InlineFont(strike=True), "800"), TextBlock(InlineFont(b=True), " 950"))
    assert _texts(_saved(tmp_path, _book(["Boat", "Price", "Trip"], ["Ada", price, timedelta(hours=30)]))) == {
        "Ada": "- Price: now 950\n- Trip: 30:00:00"
    }
    assert _texts(_saved(tmp_path, _book(["Boat:", "Ada"], ["Yard:", "Kell"], ["Owner:", "Renk"]))) == {
        "Sheet": "- Boat: Ada\n- Yard: Kell\n- Owner: Renk"
    }


def test_columns_without_a_name_or_with_one_name_are_told_apart(tmp_path: Path) -> None:
    book = _book(["Boat", "Cost", "Cost", None], ["Ada", 4, 5, "repaired"])

    assert _texts(_saved(tmp_path, book)) == {"Ada": "- Cost (B): 4\n- Cost (C): 5\n- Column D: repaired"}


def test_rows_of_several_sheets_name_theirs_and_hidden_and_struck_out_ones_are_left_out(tmp_path: Path) -> None:
    book = _book(*ROWS)
    book.active.title = "Boats"
    book.active["C3"].font = Font(strike=True)
    ports = book.create_sheet("Ports")
    for row in (["Port", "Isle"], ["Orsby", "Kell"]):
        ports.append(row)
    book.create_sheet("Drafts").append(["Port", "Isle"])
    book.create_sheet("Old").append(["Port", "Isle"])
    book["Old"].append(["Sarl", "Tolm"])
    book["Old"].sheet_state = "hidden"
    book["Drafts"].sheet_state = "veryHidden"

    assert _texts(_saved(tmp_path, book)) == {
        "Ada": "- Built: 1904\n- Builder: Renk\n- Sheet: Boats",
        "Orla": "- Built: 1911\n- Sheet: Boats",
        "Orsby": "- Isle: Kell\n- Sheet: Ports",
    }


def test_a_blank_row_divides_tables_with_names_of_their_own_but_not_groups_of_rows(tmp_path: Path) -> None:
    book = _book(*ROWS, [], ["Wrecks", 1940, "Renk"], [], ["The crew"], ["Name", "Age"], ["Bo", 40], ["Cy", 51])

    assert _texts(_saved(tmp_path, book)) == {
        "Ada": "- Built: 1904\n- Builder: Renk",
        "Orla": "- Built: 1911\n- Builder: Vint",
        "Wrecks": "- Built: 1940\n- Builder: Renk",
        "Bo": "- Age: 40\n- Table: The crew",
        "Cy": "- Age: 51\n- Table: The crew",
    }


def test_first_rows_that_name_no_columns_are_read(tmp_path: Path) -> None:
    properties = _book(["Length", "30 m"], ["Decks", 2], ["Builder", "Renk"])
    assert _texts(_saved(tmp_path, properties)) == {"Sheet": "- Length: 30 m\n- Decks: 2\n- Builder: Renk"}
    on_command_line = read_what_can_be([_saved(tmp_path, properties)], {"text": "text", "title": "title", "id": "id"})
    assert [document["title"] for document in on_command_line.documents] == ["Sheet"]

    data = _book(["Ada", 30, "Renk"], ["Orla", 41, "Vint"])
    assert _texts(_saved(tmp_path, data)) == {
        "Ada": "- Column B: 30\n- Column C: Renk",
        "Orla": "- Column B: 41\n- Column C: Vint",
    }
    years = _book(["Boat", 1904, 1911], ["Ada", 5, 6])
    assert _texts(_saved(tmp_path, years)) == {"Ada": "- 1904: 5\n- 1911: 6"}


def test_formulas_that_have_no_value_are_counted_in_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = _saved(tmp_path, _book(["Boat", "Length", "Twice"], ["Ada", 30, "=2*B2"], ["Orla", 41, "=2*B3"]))

    assert _texts(path) == {"Ada": "- Length: 30", "Orla": "- Length: 41"}
    assert caplog.messages == [
        f"{path}: 2 formulas without a value left out: open the file in Excel or LibreOffice, and save it there"
    ]
    sheet = b'<c r="A1" t="str"><f>IF(1,"")</f><v></v></c><c r="A2"><f>1+1</f><v>2</v></c><c r="A3"><f>A2</f><v/></c>'
    assert office._without_value(sheet) == 1


def test_hidden_rows_and_columns_are_left_out_but_not_filtered_and_collapsed_ones(tmp_path: Path) -> None:
    book = _book(["Boat", "Cost", "Yard"], ["Ada", 4, "Kell"], ["Orla", 5, "Ost"], ["Mira", 6, "Ost"])
    book.active.column_dimensions["B"].hidden = True
    book.active.row_dimensions[2].hidden = True
    book.active.row_dimensions[3].hidden = True
    book.active.row_dimensions[3].outlineLevel = 1
    assert _texts(_saved(tmp_path, book)) == {"Orla": "- Yard: Ost", "Mira": "- Yard: Ost"}

    book.active.auto_filter.ref = "A1:C4"
    book.active.auto_filter.add_filter_column(2, ["Ost"])
    assert list(_texts(_saved(tmp_path, book))) == ["Ada", "Orla", "Mira"]


def test_tables_side_by_side_are_read_one_by_one_but_not_parts_of_one_table(tmp_path: Path) -> None:
    beside = _book(
        ["Boat", "Built", None, "Name", "Age"],
        ["Ada", 1904, None, "Bo", 40],
        ["Orla", 1911, None, "Cy", 51],
        [None, None, None, "Di", 62],
    )
    assert _texts(_saved(tmp_path, beside)) == {
        "Ada": "- Built: 1904",
        "Orla": "- Built: 1911",
        "Bo": "- Age: 40",
        "Cy": "- Age: 51",
        "Di": "- Age: 62",
    }
    one = _book(["Boat", "Built", None, "2023", "2024"], ["Ada", 1904, None, 5, 6], ["Orla", 1911, None, 7, 8])
    assert _texts(_saved(tmp_path, one))["Ada"] == "- Built: 1904\n- 2023: 5\n- 2024: 6"


def test_things_in_the_first_row_are_rows(tmp_path: Path) -> None:
    book = _book(["Model", "A1", "B2"], ["Power", "5 kW", "7 kW"], ["Weight", "20 kg", "30 kg"], ["Seal", None, "yes"])

    assert _texts(_saved(tmp_path, book)) == {
        "A1": "- Power: 5 kW\n- Weight: 20 kg",
        "B2": "- Power: 7 kW\n- Weight: 30 kg\n- Seal: yes",
    }


def test_a_table_may_begin_anywhere(tmp_path: Path) -> None:
    book = _book([], [], [None, "Boat", "Trips", None], [None, None, 2023, 2024], [None, "Ada", 5, 6])
    for merged in ("B3:B4", "C3:D3"):
        book.active.merge_cells(merged)

    assert _texts(_saved(tmp_path, book)) == {"Ada": "- Trips 2023: 5\n- Trips 2024: 6"}


def test_notes_on_cells_and_the_lines_of_a_cell_are_told(tmp_path: Path) -> None:
    book = _book(["Boat", "Price\n(EUR)", "Crew"], ["Ada", 800, "Bo Ek\nCy Ost"], ["Orla", 900, "Di Lee"])
    book.active["B1"].comment = Comment("Without tax.", "Ada")
    book.active["B3"].comment = Comment("Ada:\nUntil May.", "Ada")

    assert _texts(_saved(tmp_path, book)) == {
        "Ada": "- Price (EUR): 800\n- Crew: Bo Ek, Cy Ost\n- Note: Price (EUR): Without tax.",
        "Orla": "- Price (EUR): 900\n- Crew: Di Lee\n- Note: Price (EUR): Without tax.; Price (EUR): Until May.",
    }
    threaded = _book(["Boat:", "Ada"], ["Yard:", "Kell"])
    threaded.active["B2"].comment = Comment(
        "[Threaded comment]\n\nYour version of Excel allows you to read this.\n\nComment:\n    Is it?", "tc={1}"
    )
    assert _texts(_saved(tmp_path, threaded)) == {"Sheet": "- Boat: Ada\n- Yard: Kell (Is it?)"}


def test_a_sheet_of_notes_is_read_line_by_line(tmp_path: Path) -> None:
    book = _book(["Kell is an isle."], ["Ada Renk built its mole."])

    assert [row["text"] for row in read_documents(_saved(tmp_path, book))] == [
        "Kell is an isle.",
        "Ada Renk built its mole.",
    ]
    book.active.merge_cells("A1:D1")
    assert read_documents(_saved(tmp_path, book))[0]["text"] == "Kell is an isle."


def _deck() -> tuple[Presentation, BytesIO]:
    deck = Presentation()
    cover = deck.slides.add_slide(deck.slide_layouts[0])
    cover.shapes.title.text = "The Ferries of Kell"
    cover.placeholders[1].text = "A report of 2024"
    return deck, BytesIO()


def _points(deck: Presentation, title: str, *lines: tuple[int, str]) -> Any:
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = title
    frame = slide.placeholders[1].text_frame
    for number, (level, line) in enumerate(lines):
        paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
        paragraph.text, paragraph.level = line, level
    return slide


def test_slides_are_documents_with_their_titles_lists_tables_and_notes(tmp_path: Path) -> None:
    deck, _ = _deck()
    slide = _points(deck, "Boats", (0, "Two are old:"), (1, "the Ada"), (1, "the Orla"), (0, "One is new."))
    slide.notes_slide.notes_text_frame.text = "Thank Ada Renk."
    tabled = deck.slides.add_slide(deck.slide_layouts[5])
    tabled.shapes.title.text = "Trips"
    table = tabled.shapes.add_table(2, 3, Inches(1), Inches(2), Inches(5), Inches(1)).table
    for at, text in enumerate(("Boat", "2023", "2024", "Ada", "5", "6")):
        table.cell(at // 3, at % 3).text = text
    deck.save(tmp_path / "kell.pptx")

    cover, boats, trips = read_documents(tmp_path)

    assert (cover["title"], cover["text"]) == ("The Ferries of Kell", "A report of 2024")
    assert boats["title"] == "Boats (The Ferries of Kell)"
    assert boats["text"] == (
        "- Two are old:\n- Two are old: the Ada\n- Two are old: the Orla\n- One is new.\n\nNotes:\n\nThank Ada Renk."
    )
    assert (trips["text"], trips["metadata"]) == ("- Boat: Ada; 2023: 5; 2024: 6", {"page": 3})


def test_slides_are_read_from_top_to_bottom_with_groups_and_charts(tmp_path: Path) -> None:
    deck, _ = _deck()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(Inches(1), Inches(5), Inches(3), Inches(1)).text_frame.text = "It is below."
    group = slide.shapes.add_group_shape()
    for top, text in ((2, "It is inside."), (1, "It is above.")):
        group.shapes.add_textbox(Inches(1), Inches(top), Inches(3), Inches(1)).text_frame.text = text
    data = CategoryChartData()
    data.categories = ["2023", "2024"]
    data.add_series("Trips", (5, 6.5))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(6), Inches(3), Inches(1), data)
    deck.save(tmp_path / "kell.pptx")

    text = str(read_documents(tmp_path)[1]["text"])

    assert text.split("\n\n")[:3] == ["It is above.", "It is inside.", "It is below."]
    assert text.endswith("- 2023; Trips: 5\n- 2024; Trips: 6.5")


def test_diagrams_of_slides_are_read(tmp_path: Path) -> None:
    deck, _ = _deck()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    frame = slide.shapes.add_table(1, 1, Inches(1), Inches(1), Inches(3), Inches(1))._element
    points = ("Boats", "Ada", "Orla", "Crew")
    written = "".join(
        f'<d:pt modelId="{n}"><d:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></d:t></d:pt>'
        for n, text in enumerate(points)
    )
    order = [("top", 0, 0), (0, 2, 1), (0, 1, 0), ("top", 3, 1)]
    links = "".join(f'<d:cxn srcId="{one}" destId="{other}" srcOrd="{n}"/>' for one, other, n in order)
    data = (
        '<d:dataModel xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
        f'xmlns:a="{office.NS["a"]}"><d:ptLst><d:pt modelId="top" type="doc"/>{written}</d:ptLst>'
        f"<d:cxnLst>{links}</d:cxnLst></d:dataModel>"
    )
    part = Part(PackURI("/ppt/diagrams/data1.xml"), "application/xml", deck.part.package, data.encode())
    graphic = frame.find(f".//{office._DRAWING}graphicData")
    graphic.clear()
    of_parts = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    graphic.set("uri", "http://schemas.openxmlformats.org/drawingml/2006/diagram")
    id_ = slide.part.relate_to(part, f"{of_parts}/diagramData")
    SubElement(graphic, "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds", {f"{{{of_parts}}}dm": id_})
    deck.save(tmp_path / "kell.pptx")

    assert read_documents(tmp_path)[1]["text"] == "Boats: Ada, Orla\n\nCrew"


def test_placeholders_are_read_in_the_order_of_their_layout(tmp_path: Path) -> None:
    slides = Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[4])
    for placeholder, text in zip(slide.placeholders, ("Boats", "Old", "slow\nheavy", "New", "fast"), strict=False):
        placeholder.text = text
    slides.save(str(tmp_path / "boats.pptx"))

    (document,) = read_documents(tmp_path)

    assert document["text"] == "Old\n\n- slow\n- heavy\n\nNew\n\nfast"


def test_two_lists_side_by_side_stay_two(tmp_path: Path) -> None:
    slides = Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[3])
    for placeholder, text in zip(slide.placeholders, ("Boats", "Ada\nOrla", "Bo\nCy"), strict=False):
        placeholder.text = text
    slides.save(str(tmp_path / "boats.pptx"))

    assert [document["text"] for document in read_documents(tmp_path)] == ["- Ada\n- Orla\n\n- Bo\n- Cy"]


def test_struck_out_text_and_hidden_slides_are_left_out_and_lines_in_a_paragraph_stay_apart(tmp_path: Path) -> None:
    deck, _ = _deck()
    slide = _points(deck, "Fares", (0, "It costs "), (0, "Ask\vRenk."))
    paragraph = slide.placeholders[1].text_frame.paragraphs[0]
    for text, struck in (("800", True), ("950", False)):
        run = paragraph.add_run()
        run.text = text
        if struck:
            run.font._element.set("strike", "sngStrike")
    _points(deck, "Drafts", (0, "It costs 700."))._element.set("show", "0")
    deck.save(tmp_path / "kell.pptx")

    assert _texts(tmp_path) == {
        "The Ferries of Kell": "A report of 2024",
        "Fares (The Ferries of Kell)": "- It costs 950\n- Ask\nRenk.",
    }


OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


@pytest.mark.parametrize(
    ("name", "written", "says"),
    [
        ("a.xlsx", b"PK", "it cannot be read as an Excel workbook .File is not a zip file.: save it as .xlsx in Excel"),
        ("a.xlsx", OLD, "it is a .xls file or wants a password: save it as .xlsx, without a password"),
        ("a.pptx", b"PK", "it cannot be read as slides .File is not a zip file.: save it as .pptx in PowerPoint"),
        ("a.pptx", OLD, "it is a .ppt file or wants a password: save it as .pptx, without a password"),
        ("a.xls", OLD, "expected a kind that can be read, got .xls: save it as .xlsx"),
        ("a.ppt", OLD, "expected a kind that can be read, got .ppt: save it as .pptx"),
        ("a.doc", OLD, "expected a kind that can be read, got .doc: save it as .docx"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, name: str, written: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(written)

    with pytest.raises(DocumentError, match=f"{name}: {says}"):
        read_documents(tmp_path / name)


def test_files_without_text_or_of_too_much_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Presentation().save(tmp_path / "empty.pptx")
    with pytest.raises(DocumentError, match="expected slides with text, got some without"):
        read_documents(tmp_path / "empty.pptx")
    with pytest.raises(DocumentError, match="expected sheets with rows below the names of columns, got none"):
        read_documents(_saved(tmp_path, Workbook()))
    for module, name in ((office, "empty.pptx"), (office, "ferries.xlsx")):
        monkeypatch.setattr(module, "_LARGEST", 100)
        with pytest.raises(DocumentError, match="it has [0-9,]+ bytes of text"):
            read_documents(tmp_path / name)


@pytest.mark.parametrize(("package", "name"), [("openpyxl", "ferries.xlsx"), ("pptx", "kell.pptx")])
def test_without_the_extra_the_message_names_it_and_other_files_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, name: str
) -> None:
    deck, _ = _deck()
    deck.save(tmp_path / "kell.pptx")
    _saved(tmp_path, _book(*ROWS))
    (tmp_path / "kell.txt").write_text("Kell is an isle.")
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(DocumentError, match=rf"{name}: .*langgraph-rag\[office\].*pip install -e '\.\[office\]'"):
        read_documents(tmp_path / name)
    kb = str(tmp_path / "kb")
    said = CliRunner().invoke(
        app, ["index", str(tmp_path / name), str(tmp_path / "kell.txt"), "--kb", kb, "--skip-bad"]
    )
    assert "langgraph-rag[office]" in said.stderr


def test_paragraphs_of_slides_have_the_numbers_that_powerpoint_counts(tmp_path: Path) -> None:
    deck, written = _deck()
    slide = _points(deck, "Steps", (0, "Look"), (0, "Go"), (1, "by day"), (1, "by night"), (0, "Rest"), (0, "End"))
    kinds = ["arabicPeriod", "arabicPeriod", "alphaLcParenR", "alphaLcParenR", "arabicPeriod", ""]
    for paragraph, kind in zip(slide.placeholders[1].text_frame.paragraphs, kinds, strict=True):
        if kind:
            SubElement(paragraph._p.get_or_add_pPr(), f"{office._DRAWING}buAutoNum", type=kind, startAt="2")
    deck.save(written)
    (tmp_path / "kell.pptx").write_bytes(written.getvalue())

    assert str(_texts(tmp_path)["Steps (The Ferries of Kell)"]).split("\n") == [
        "- 2. Look", "- 3. Go", "- 3. Go: b) by day", "- 3. Go: c) by night", "- 4. Rest", "- End",
    ]  # fmt: skip
