"""Word documents, written here part by part as Word writes them."""

import re
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from langgraph_rag.errors import DocumentError
from langgraph_rag.tools.documents import word as word_parts
from langgraph_rag.tools.documents.files import read_documents

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_TYPES = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
_W14 = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
_STYLES = {
    "Titel": '<w:name w:val="Title"/>',
    "berschrift1": '<w:name w:val="heading 1"/>',
    "berschrift2": '<w:name w:val="heading 2"/>',
    "berschrift6": '<w:name w:val="heading 6"/>',
    "Verzeichnis1": '<w:name w:val="toc 1"/>',
    "Firma1": '<w:name w:val="Firm heading"/><w:basedOn w:val="berschrift1"/>',
    "Firma2": '<w:name w:val="Firm point"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr>',
    "Inhalt": '<w:name w:val="TOC Heading"/><w:basedOn w:val="berschrift1"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr>',
    "Kreis": '<w:name w:val="Circle"/><w:basedOn w:val="Kreis"/>',
}
_PARTS = ("styles", "footnotes", "numbering")


_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_A = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"'
)


_PICTURE = (
    f"<w:drawing><wp:inline {_R} {_A}><a:graphic><a:graphicData><pic:pic><pic:blipFill>"
    '<a:blip r:embed="gone"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>'
)


def _paragraph(text: str, style: str = "", more: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r>{more}</w:p>"


def _table(*rows: str) -> str:
    cells = ["".join(f"<w:tc>{_paragraph(cell)}</w:tc>" for cell in row.split("|")) for row in rows]
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def _document(body: str, notes: str = "", numbering: str = "") -> bytes:
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{id_}">{defined}</w:style>' for id_, defined in _STYLES.items()
    )
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        + "".join(
            f'<Override PartName="/word/{part}.xml" ContentType="{_TYPES}.{kind}+xml"/>'
            for part, kind in (("document", "document.main"), *((part, part) for part in _PARTS))
        )
        + "</Types>",
        "_rels/.rels": _relations(("officeDocument", "word/document.xml")),
        "word/_rels/document.xml.rels": _relations(*((part, f"{part}.xml") for part in _PARTS)),
        "word/styles.xml": f"<w:styles {_W}>{styles}</w:styles>",
        "word/footnotes.xml": f"<w:footnotes {_W}>{notes}</w:footnotes>",
        "word/numbering.xml": f"<w:numbering {_W}>{numbering}</w:numbering>",
        "word/document.xml": f"<w:document {_W} {_M} {_W14}><w:body>{body}</w:body></w:document>",
    }
    written = BytesIO()
    with ZipFile(written, "w", ZIP_DEFLATED) as file:
        for name, part in parts.items():
            file.writestr(name, part)
    return written.getvalue()


def _relations(*targets: tuple[str, str]) -> str:
    each = (
        f'<Relationship Id="r{number}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets)
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{"".join(each)}'
        "</Relationships>"
    )


def _texts(tmp_path: Path, written: bytes) -> dict[object, object]:
    (tmp_path / "mills.docx").write_bytes(written)
    return {document["title"]: document["text"] for document in read_documents(tmp_path)}


def test_sections_are_titled_by_headings_whatever_the_language_of_word(tmp_path: Path) -> None:
    assert _texts(
        tmp_path,
        _document(
            _paragraph("Mills of Tolmar", "Titel")
            + _paragraph("Contents of it", "Inhalt")
            + _paragraph("Upper Mill ... 2", "Verzeichnis1")
            + _paragraph("Three mills stand at the Ister.")
            + _paragraph("Upper Mill", "berschrift1")
            + _paragraph("It was built by Ada Renk.")
            + _paragraph("A fire", "berschrift2")
            + _paragraph("It burned in 1883.", more="<w:del><w:r><w:delText> Or 1884.</w:delText></w:r></w:del>")
        ),
    ) == {
        "Mills of Tolmar": "Three mills stand at the Ister.",
        "Upper Mill (Mills of Tolmar)": "It was built by Ada Renk.",
        "A fire (Mills of Tolmar, Upper Mill)": "It burned in 1883.",
    }


def test_headings_are_also_styles_based_on_them_and_paragraphs_with_a_level(tmp_path: Path) -> None:
    level = '<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Owners</w:t></w:r></w:p>'
    body = [
        _paragraph("Handbook of", "Titel"), _paragraph("the Mills", "Titel"), _paragraph("Read it.", "Kreis"),
        _paragraph("Fires", "Firma1"), _paragraph("In 1883", "Firma2"), _paragraph("It burned."), level,
        _paragraph("Ada Renk."),
    ]  # fmt: skip

    assert _texts(tmp_path, _document("".join(body))) == {
        "Handbook of the Mills": "Read it.",
        "In 1883 (Handbook of the Mills, Fires)": "It burned.",
        "Owners (Handbook of the Mills)": "Ada Renk.",
    }


def test_a_heading_made_plain_text_or_too_deep_is_a_paragraph(tmp_path: Path) -> None:
    demoted = '<w:pPr><w:pStyle w:val="berschrift1"/><w:outlineLvl w:val="9"/></w:pPr>'
    body = f"<w:p>{demoted}<w:r><w:t>Fires</w:t></w:r></w:p>" + _paragraph("It burned.", "berschrift6")

    assert _texts(tmp_path, _document(_paragraph("Mills", "Titel") + body)) == {"Mills": "Fires\n\nIt burned."}


def test_documents_of_the_strict_format_are_read_like_others(tmp_path: Path) -> None:
    field = '<w:fldSimple w:instr="SEQ"><w:r><w:t>7</w:t></w:r></w:fldSimple>'
    more = f"{field}<w:r>{_PICTURE}</w:r>"
    written = _document(_paragraph("Mills", "Titel") + _paragraph("Owners", "Firma1") + _paragraph("Mill ", more=more))
    strict = BytesIO()
    with ZipFile(BytesIO(written)) as usual, ZipFile(strict, "w") as file:
        for name in usual.namelist():
            part = usual.read(name)
            for markup in (b"wordprocessingml", b"drawingml"):
                usually = b"http://schemas.openxmlformats.org/%b/2006/" % markup
                part = part.replace(usually, b"http://purl.oclc.org/ooxml/%b/" % markup)
            file.writestr(name, part)

    assert _texts(tmp_path, strict.getvalue()) == {"Owners (Mills)": "Mill 7"}


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        ('<w:r><w:t>Fig. </w:t></w:r><w:fldSimple w:instr="SEQ"><w:r><w:t>7</w:t></w:r></w:fldSimple>', "Fig. 7"),
        ("<w:r><w:t>One end.</w:t><w:br w:type='page'/><w:t>Two.</w:t></w:r>", "One end.\nTwo."),
        ("<w:r><w:t>One</w:t><w:cr/><w:t>two</w:t></w:r>", "One\ntwo"),
        (
            "<m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup><m:r><m:t>="
            "</m:t></m:r><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b+1</m:t></m:r></m:den></m:f></m:oMath>",
            "x^2=a/(b+1)",
        ),
        (
            '<m:oMath><m:nary><m:naryPr><m:chr m:val="\u2211"/></m:naryPr><m:sub><m:r><m:t>i=1</m:t></m:r></m:sub>'
            "<m:sup><m:r><m:t>n</m:t></m:r></m:sup><m:e><m:sSub><m:e><m:r><m:t>a</m:t></m:r></m:e><m:sub><m:r><m:t>i</m:t></m:r>"
            "</m:sub></m:sSub></m:e></m:nary></m:oMath>",
            "\u2211_(i=1)^n a_i",
        ),
        (
            "<m:oMath><m:func><m:fName><m:r><m:t>sin</m:t></m:r></m:fName><m:e><m:d><m:e><m:rad><m:radPr/><m:deg/><m:e><m:r>"
            "<m:t>2x</m:t></m:r></m:e></m:rad></m:e></m:d></m:e></m:func></m:oMath>",
            "sin(\u221a(2x))",
        ),
        ("<m:oMathPara><m:oMath><m:r><m:t>E=m</m:t></m:r><m:r><m:t>c</m:t></m:r></m:oMath></m:oMathPara>", "E=mc"),
        (
            "<w:r><w:ruby><w:rt><w:r><w:t>とう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東京</w:t></w:r></w:rubyBase>"
            "</w:ruby></w:r><w:r><w:t>です</w:t></w:r>",
            "東京です",
        ),
        (
            "<w:r><w:t>In </w:t><w:ruby><w:rubyBase><w:r><w:t>東京</w:t></w:r></w:rubyBase></w:ruby>"
            "<w:t>です</w:t></w:r>",
            "In 東京です",
        ),
        (
            '<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="1"/></w14:checkbox></w:sdtPr><w:sdtContent><w:r>'
            "<w:t>☒</w:t></w:r></w:sdtContent></w:sdt><w:r><w:t>Approved</w:t></w:r>",
            "☒Approved",
        ),
        ("<w:r><w:rPr><w:b/></w:rPr><w:t>Note:</w:t></w:r><w:r><w:t>read this.</w:t></w:r>", "Note:read this."),
        (f'<w:hyperlink {_R} r:id="gone"><w:r><w:t>A link</w:t></w:r></w:hyperlink>', "A link"),
        (f"<w:r>{_PICTURE}<w:t>A mill</w:t></w:r>", "A mill"),
    ],
)
def test_all_text_is_read(tmp_path: Path, runs: str, text: str) -> None:
    assert list(_texts(tmp_path, _document(f"{_paragraph('See below.')}<w:p>{runs}</w:p>")).values()) == [
        f"See below.\n\n{text}"
    ]


def test_diagrams_are_read_and_untouched_controls_are_not(tmp_path: Path) -> None:
    diagram = (
        f'<w:p><w:r><w:drawing {_A}><a:graphic><a:graphicData><dgm:relIds xmlns:dgm="d" {_R} r:dm="r9"/>'
        "</a:graphicData></a:graphic></w:drawing></w:r></w:p>"
    )
    control = "<w:sdt><w:sdtPr>{}</w:sdtPr><w:sdtContent><w:r><w:t>{}</w:t></w:r></w:sdtContent></w:sdt>"
    controls = control.format("<w:showingPlcHdr/>", "Click to enter text.") + control.format("", "Ada Renk")
    written, changed = (
        ZipFile(BytesIO(_document(f"{_paragraph('It is owned by ', more=controls)}{diagram}"))),
        BytesIO(),
    )
    relation = f'<Relationship Id="r9" Type="{_RELATIONS}/diagramData" Target="diagrams/data1.xml"/></Relationships>'
    data = (
        f'<d:dataModel xmlns:d="d" {_A}><d:pt modelId="0" type="doc"/><d:pt modelId="1"><a:p><a:r><a:t>Build</a:t>'
        '</a:r></a:p></d:pt><d:cxn srcId="0" destId="1" srcOrd="0"/></d:dataModel>'
    )
    with ZipFile(changed, "w") as file:
        for name in written.namelist():
            file.writestr(name, written.read(name).decode().replace("</Relationships>", relation))
        file.writestr("word/diagrams/data1.xml", data)

    assert _texts(tmp_path, changed.getvalue()) == {"It is owned by Ada Renk": "Build"}


def test_rows_of_tables_repeat_the_names_of_columns_where_there_are_three(tmp_path: Path) -> None:
    body = (
        _paragraph("See below.")
        + _table("Year|Event|Cost", "1883|A fire|5")
        + _paragraph("Other.")
        + _table("Miller|Orla Vint", "Born|1850")
    )

    assert list(_texts(tmp_path, _document(body)).values()) == [
        "See below.\n\n- Year: 1883; Event: A fire; Cost: 5\n\nOther.\n\n- Miller: Orla Vint\n- Born: 1850"
    ]


def test_the_names_of_merged_columns_are_not_given_to_others(tmp_path: Path) -> None:
    merged = '<w:tr><w:tc><w:tcPr><w:gridSpan w:val="3"/></w:tcPr><w:p><w:r><w:t>Sales</w:t></w:r></w:p></w:tc></w:tr>'
    body = _paragraph("See below.") + _table("North|5|6").replace("<w:tbl>", f"<w:tbl>{merged}")

    assert list(_texts(tmp_path, _document(body)).values()) == ["See below.\n\nSales\n\n- North; 5; 6"]

    body = _paragraph("See.") + _table("Mill|2031|2032", "Harl|5|6").replace("<w:tbl>", f"<w:tbl>{merged}")
    assert list(_texts(tmp_path, _document(body)).values()) == ["See.\n\nSales\n\n- Mill: Harl; 2031: 5; 2032: 6"]


def test_a_letterhead_is_no_title(tmp_path: Path) -> None:
    body = _table("Tolmar Mills|Policy 7") + _paragraph("Mills must be swept.")

    assert _texts(tmp_path, _document(body)) == {"mills": "- Tolmar Mills: Policy 7\n\nMills must be swept."}


def test_notes_are_a_section_of_their_own(tmp_path: Path) -> None:
    note = f'<w:footnote w:id="2">{_paragraph("Renk kept a diary.")}</w:footnote>'
    body = _paragraph("The mill", "Titel") + _paragraph("It burned.", more='<w:r><w:footnoteReference w:id="2"/></w:r>')

    texts = _texts(tmp_path, _document(body, note))

    assert texts == {"The mill": "It burned.", "Notes (The mill)": "- 1. Renk kept a diary."}


def _run(text: str, properties: str) -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>"


def _changed(kind: str, text: str) -> str:
    return f'<w:{kind} w:id="1" w:author="Ada">{_run(text, "")}</w:{kind}>'


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        (_run("It costs ", "") + _run("800", "<w:strike/>") + _run("950", ""), "It costs 950"),
        (_run("It costs ", "") + _run("800 ", '<w:dstrike w:val="true"/>') + _run("950", ""), "It costs 950"),
        (_run("It costs 800", '<w:strike w:val="0"/>'), "It costs 800"),
        (_run("It costs 800", '<w:rStyle w:val="Alt"/>') + _run("It costs 950", ""), "It costs 950"),
        (_run("It costs 950", '<w:rStyle w:val="Alt"/><w:strike w:val="false"/>'), "It costs 950"),
        (_run("It costs 950", "") + _run(" (ask Renk first)", "<w:vanish/>"), "It costs 950"),
        (_run("It costs 950", "") + _run(" (ask first)", '<w:rStyle w:val="Note"/>'), "It costs 950"),
        (_run("It costs ", "") + _changed("del", "800") + _changed("ins", "950"), "It costs 950"),
        (_changed("ins", "It costs 950"), "It costs 950"),
        (
            f"<m:oMath><m:r><m:t>x=</m:t></m:r>{'<w:del><m:r><m:t>8</m:t></m:r></w:del>'}"
            "<w:ins><m:r><m:t>9</m:t></m:r></w:ins></m:oMath>",
            "x=9",
        ),
    ],
)
def test_struck_hidden_and_deleted_text_is_left_out_and_inserted_text_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: str, text: str
) -> None:
    monkeypatch.setitem(_STYLES, "Alt", '<w:name w:val="Old"/><w:rPr><w:strike/></w:rPr>')
    monkeypatch.setitem(_STYLES, "Hidden", '<w:name w:val="Unseen"/><w:rPr><w:vanish/></w:rPr>')
    monkeypatch.setitem(_STYLES, "Note", '<w:name w:val="Remark"/><w:basedOn w:val="Hidden"/>')

    assert list(_texts(tmp_path, _document(f"{_paragraph('See.')}<w:p>{runs}</w:p>")).values()) == [f"See.\n\n{text}"]


def test_a_paragraph_of_a_struck_style_and_deleted_rows_and_cells_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_STYLES, "Alt", '<w:name w:val="Old"/><w:rPr><w:strike/></w:rPr>')
    rows = _table("Upper|1850", "Lower|1860", "Old|1700").replace(
        f"<w:tr><w:tc>{_paragraph('Lower')}", f"<w:tr><w:trPr><w:del/></w:trPr><w:tc>{_paragraph('Lower')}"
    )
    rows = rows.replace(f"<w:tc>{_paragraph('1700')}", f"<w:tc><w:tcPr><w:cellDel/></w:tcPr>{_paragraph('1700')}")

    texts = _texts(tmp_path, _document(_paragraph("It costs 800.", "Alt") + _paragraph("It costs 950.") + rows))

    assert list(texts.values()) == ["It costs 950.\n\n- Upper: 1850\n- Old"]


@pytest.mark.parametrize("there", ["first", "last"])
def test_what_was_moved_is_read_once_where_it_went(tmp_path: Path, there: str) -> None:
    gone = '<w:p><w:pPr><w:rPr><w:moveFrom w:id="3"/></w:rPr></w:pPr>' + _changed("moveFrom", "It burned.") + "</w:p>"
    came = '<w:p><w:pPr><w:rPr><w:moveTo w:id="4"/></w:rPr></w:pPr>' + _changed("moveTo", "It burned.") + "</w:p>"
    here = _paragraph("It was rebuilt.")
    body = came + here + gone if there == "first" else gone + here + came

    (text,) = _texts(tmp_path, _document(body)).values()

    assert text == "It burned.\n\nIt was rebuilt." if there == "first" else "It was rebuilt.\n\nIt burned."


_MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
_WPS = 'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
_BOX = f"<w:txbxContent>{_paragraph('Closed in winter.')}{_paragraph('Ask Renk.')}</w:txbxContent>"
_DRAWN = (
    f"<w:drawing><wp:anchor {_A}><a:graphic><a:graphicData><wps:wsp {_WPS}><wps:txbx>{_BOX}</wps:txbx></wps:wsp>"
    "</a:graphicData></a:graphic></wp:anchor></w:drawing>"
)
_VML = f'<w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:textbox>{_BOX}</v:textbox></v:shape></w:pict>'
_BOXES = {
    "drawn": _DRAWN,
    "drawn, with a fallback": f"<mc:AlternateContent {_MC}><mc:Choice Requires='wps'>{_DRAWN}</mc:Choice>"
    f"<mc:Fallback>{_VML}</mc:Fallback></mc:AlternateContent>",
    "drawn, with a picture as fallback": f"<mc:AlternateContent {_MC}><mc:Choice Requires='wps'>{_DRAWN}</mc:Choice>"
    "<mc:Fallback/></mc:AlternateContent>",
    "of older programs": _VML,
    "a shape": f"<w:drawing><wp:inline {_A}><a:graphic><a:graphicData><a:sp><a:txBody><a:bodyPr/>"
    "<a:p><a:r><a:t>Closed in </a:t></a:r><a:r><a:t>winter.</a:t></a:r></a:p><a:p><a:r><a:t>Ask Renk.</a:t></a:r></a:p>"
    "</a:txBody></a:sp></a:graphicData></a:graphic></wp:inline></w:drawing>",
}


@pytest.mark.parametrize("kind", _BOXES)
def test_text_boxes_are_read_once_after_their_paragraph(tmp_path: Path, kind: str) -> None:
    body = _paragraph("The mill stands at the Ister.", more=f"<w:r>{_BOXES[kind]}</w:r>") + _paragraph("It burned.")

    assert list(_texts(tmp_path, _document(body)).values()) == [
        "The mill stands at the Ister.\n\nClosed in winter.\n\nAsk Renk.\n\nIt burned."
    ]


def _level(depth: int, form: str, shown: str, more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>{more}<w:lvlText w:val="{shown}"/>'
        "</w:lvl>"
    )


_NUMBERING = (
    '<w:abstractNum w:abstractNumId="5">'
    + _level(0, "decimal", "%1.", '<w:pStyle w:val="Klausel"/>')
    + _level(1, "decimal", "%1.%2")
    + _level(2, "lowerLetter", "(%3)")
    + '</w:abstractNum><w:abstractNum w:abstractNumId="6">'
    + _level(0, "upperRoman", "Article %1")
    + _level(1, "decimalZero", "Section %1.%2", "<w:isLgl/>")
    + _level(2, "bullet", "•")
    + '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="5"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="6"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="5"/>'
    '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>'
)


def _item(text: str, list_id: int, level: int) -> str:
    number = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>'
    return f"<w:p><w:pPr>{number}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


@pytest.mark.parametrize(
    ("items", "lines"),
    [
        (
            [_item("The tenant pays monthly.", 1, 0), _item("It is due on the 1st.", 1, 1), _item("In cash.", 1, 2),
             _item("Or by cheque.", 1, 2), _item("Late rent bears interest.", 1, 1), _item("Pets are let in.", 1, 0),
             _item("Dogs are.", 1, 1)],
            ["1. The tenant pays monthly.", "1.1 It is due on the 1st.", "(a) In cash.", "(b) Or by cheque.",
             "1.2 Late rent bears interest.", "2. Pets are let in.", "2.1 Dogs are."],
        ),
        (
            [_item("Sweep it.", 1, 0), _paragraph("Wait for an hour."), _item("Oil it.", 1, 0)],
            ["1. Sweep it.", "Wait for an hour.", "2. Oil it."],
        ),
        (
            [_item("Sweep it.", 1, 0), _item("Begin again.", 3, 0), _item("Go on.", 3, 0)],
            ["1. Sweep it.", "7. Begin again.", "8. Go on."],
        ),
        (
            [_item("Rent is due.", 2, 0), _item("It is paid.", 2, 0), _item("Monthly.", 2, 1), _item("Cash.", 2, 2)],
            ["Article I Rent is due.", "Article II It is paid.", "Section 2.01 Monthly.", "Cash."],
        ),
        (
            [_paragraph("Of a style.", "Klausel"), _paragraph("And another.", "Klausel")],
            ["1. Of a style.", "2. And another."],
        ),
        ([_item("Other.", 0, 0), _item("And other.", 9, 0)], ["Other.", "And other."]),
    ],
)  # fmt: skip
def test_the_numbers_that_word_counts_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, items: list[str], lines: list[str]
) -> None:
    of_list = '<w:name w:val="Clause"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'
    monkeypatch.setitem(_STYLES, "Klausel", of_list)

    (text,) = _texts(tmp_path, _document("".join(items), numbering=_NUMBERING)).values()

    assert [line.strip("- ") for line in str(text).split("\n") if line] == lines


def test_headings_have_the_numbers_that_word_counts_and_deleted_ones_are_not_counted(tmp_path: Path) -> None:
    def heading(text: str, style: str, level: int, mark: str = "") -> str:
        numbered = _item(text, 1, level).replace("<w:pPr>", f'<w:pPr><w:pStyle w:val="{style}"/>', 1)
        return numbered.replace("</w:numPr></w:pPr>", f"</w:numPr>{mark}</w:pPr>")

    deleted = heading("", "berschrift1", 0, "<w:rPr><w:del/></w:rPr>")
    body = [
        _paragraph("Lease", "Titel"), heading("Parties", "berschrift1", 0), _paragraph("Ada and Bo."), deleted,
        heading("Rent", "berschrift1", 0), heading("Due dates", "berschrift2", 1), _paragraph("On the first."),
    ]  # fmt: skip

    assert _texts(tmp_path, _document("".join(body), numbering=_NUMBERING)) == {
        "1. Parties (Lease)": "Ada and Bo.",
        "2.1 Due dates (Lease, 2. Rent)": "On the first.",
    }


def test_a_temporary_file_of_word_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "~$mills.docx").write_bytes(b"\x05User")

    assert list(_texts(tmp_path, _document(_paragraph("It burned.")))) == ["mills"]


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (b"PK", "it cannot be read as a Word document (File is not a zip file): save it as .docx in Word"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "it is a .doc file or wants a password: save it as .docx, without a password"),
        (_document("<w:p>"), "it cannot be read as a Word document (Opening and ending tag mismatch"),
        (_document(""), "expected a document with text, got one without: has it only pictures?"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, written: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=rf"mills\.docx: {re.escape(says)}"):
        _texts(tmp_path, written)


def test_a_small_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_parts, "_LARGEST", 10_000)

    with pytest.raises(DocumentError, match="it cannot be read as a Word document \\(it has [0-9,]+ bytes of text"):
        _texts(tmp_path, _document(_paragraph("x" * 10_000)))


def test_a_long_line_of_formulas_and_a_chain_of_styles_are_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = {f"s{n}": f'<w:name w:val="s{n}"/><w:basedOn w:val="s{n + 1}"/>' for n in range(2_000)}
    for id_, style in {**chain, "s2000": '<w:name w:val="heading 1"/>'}.items():
        monkeypatch.setitem(_STYLES, id_, style)
    written = _document(
        _paragraph("Mills", "s0") + f"<w:p>{'<m:oMath/>' * 10_000}<w:r><w:t>It burned.</w:t></w:r></w:p>"
    )

    assert _texts(tmp_path, written) == {"Mills": "It burned."}


def test_fonts_and_pictures_of_a_file_may_be_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = BytesIO(_document(_paragraph("It burned.")))
    with ZipFile(written, "a", ZIP_DEFLATED) as file:
        file.writestr("word/fonts/font1.odttf", bytes(10_000))
        monkeypatch.setattr(word_parts, "_LARGEST", sum(part.file_size for part in file.infolist()) - 1)

    assert _texts(tmp_path, written.getvalue()) == {"mills": "It burned."}
