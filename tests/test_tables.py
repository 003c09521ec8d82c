import re
from pathlib import Path

import pytest

from langgraph_rag.errors import DocumentError
from langgraph_rag.tools.documents.files import read_documents, read_what_can_be


def _read(tmp_path: Path, text: str, name: str = "mills.csv") -> list[dict[str, object]]:
    (tmp_path / name).write_text(text, encoding="utf-8-sig", newline="")
    return read_documents(tmp_path / name)


def test_rows_with_a_text_are_documents_as_in_json_lines(tmp_path: Path) -> None:
    (document,) = _read(tmp_path, 'id\ttext\ttitle\tpage\r\n1\t"It burned.\nIt was ""rebuilt""."\tMill\t\r\n', "a.tsv")

    assert document == {
        "id": "1",
        "title": "Mill",
        "text": 'It burned.\nIt was "rebuilt".',
        "source": str(tmp_path / "a.tsv"),
    }


@pytest.mark.parametrize("separator", ",;\t|")
def test_rows_without_a_text_are_described_by_the_names_of_columns(tmp_path: Path, separator: str) -> None:
    rows = [["built_in", "name", "owner", ""], ["1883", "Upper Mill", "", "x"], [], ["1890", "Low Mill", "Ada Renk"]]

    upper, low = _read(tmp_path, "\n".join(separator.join(row) for row in rows))

    assert (upper["title"], upper["text"]) == ("Upper Mill", "- Built in: 1883")
    assert (low["title"], low["text"]) == ("Low Mill", "- Built in: 1890\n- Owner: Ada Renk")
    assert low["metadata"] == {"built_in": "1890", "name": "Low Mill", "owner": "Ada Renk"}


def test_the_first_column_titles_rows_where_none_is_called_name(tmp_path: Path) -> None:
    assert [row["title"] for row in _read(tmp_path, "Mill,Owner\nUpper Mill,Ada Renk")] == ["Upper Mill"]


def test_columns_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "mills.csv").write_text("mill,body\nUpper Mill,It burned.\nLow Mill,\n")

    read = read_what_can_be([tmp_path / "mills.csv"], {"text": "body", "title": "mill"})

    assert [(passage["title"], passage["text"]) for passage in read.documents] == [("Upper Mill", "It burned.")]
    (problem,) = read.problems
    assert "mills.csv, line 3: expected a text in 'body', got the fields 'mill'" in problem


@pytest.mark.parametrize(
    ("table", "title", "text"),
    [
        (",city,pop\n0,Tolmar,5", "Tolmar", "- Pop: 5"),
        ("id,first_name,age\n17,Ada,5", "Ada", "- Id: 17\n- Age: 5"),
        ("name,town\nAda,", "Ada", "Ada"),
        ("name\nAda", "Ada", "Ada"),
        ("name,died,town:\nAda,NULL,Tolmar,", "Ada", "- Town: Tolmar"),
        ("name,notes,born\nAda,one\u2028two\x85three,1850", "Ada", "- Notes: one two three\n- Born: 1850"),
        ('name;notes\nAda;"one\n\ntwo"', "Ada", "- Notes: one two"),
        ('name;crew\nAda;"- Bo Ek\n- Cy, who\nleft.\n- Di"', "Ada", "- Crew: Bo Ek, Cy, who left. Di"),
        ("sep=;\nname, given;town\nAda;Tolmar", "Ada", "- Town: Tolmar"),
        ('"name, given, all";town\nAda;Tolmar', "Ada", "- Town: Tolmar"),
        ('name, town\nAda, "Tolmar, Ister"', "Ada", "- Town: Tolmar, Ister"),
        ("name;size, in m, outside\nHut;1,2,3", "Hut", "- Size, in m, outside: 1,2,3"),
        ("name,towns; or rivers\nAda,Tolmar", "Ada", "- Towns; or rivers: Tolmar"),
        ("key,owner\n" + "k" * 1_001 + ",Ada", "k" * 1_000, "- Key: " + "k" * 1_001 + "\n- Owner: Ada"),
    ],
)
def test_tables_are_read_as_people_have_them(tmp_path: Path, table: str, title: str, text: str) -> None:
    (row,) = _read(tmp_path, table)

    assert (row["title"], row["text"]) == (title, text)
    assert row["source"] == str(tmp_path / "mills.csv")


def test_things_in_the_first_row_are_rows(tmp_path: Path) -> None:
    rows = _read(tmp_path, "Feature,A1,B2\nPower,5 kW,7 kW\nWeight,20 kg,30 kg\nSeal,,yes\n")

    assert [(row["title"], row["text"]) for row in rows] == [
        ("A1", "- Power: 5 kW\n- Weight: 20 kg"),
        ("B2", "- Power: 7 kW\n- Weight: 30 kg\n- Seal: yes"),
    ]
    assert rows[0]["metadata"] == {"Name": "A1", "Power": "5 kW", "Weight": "20 kg"}


def test_quotation_marks_of_texts_between_tabs_are_left_as_they_are(tmp_path: Path) -> None:
    rows = _read(tmp_path, 'id\ttext\n1\t"Ada" was a miller.\n2\tBob said "no', "a.tsv")

    assert [row["text"] for row in rows] == ['"Ada" was a miller.', 'Bob said "no']


def test_the_column_named_for_titles_is_the_title_and_the_first_is_told(tmp_path: Path) -> None:
    (tmp_path / "tools.csv").write_text("code,label,price\nHX-1,Hammer,5\n")

    (row,) = read_what_can_be([tmp_path / "tools.csv"], {"text": "text", "title": "label", "id": "id"}).documents

    assert (row["title"], row["text"]) == ("Hammer", "- Code: HX-1\n- Price: 5")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name,town\nAda,Tolmar,5", "mills.csv, line 2: expected 2 cells, as the first row has, got 3"),
        ("name,town,town\nAda,Tolmar,5", "mills.csv: expected columns with different names, got 'town' twice"),
        ('name,text\nAda,"Tol', "mills.csv, line 2: expected a row of a table, got unexpected end of data"),
        ("name,town\n", "mills.csv: expected rows below the names of columns, got none"),
        ("name,,\n\n,\n", "mills.csv: expected rows below the names of columns, got none"),
        (",,\n,,", "mills.csv: expected rows below the names of columns, got none"),
        ('""', "mills.csv: expected rows below the names of columns, got none"),
        ("name,text\nAda," + "x" * 10_000_001, "mills.csv, line 2: expected a row of a table, got field larger than"),
    ],
)
def test_what_is_no_table_is_told(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(DocumentError, match=re.escape(says)):
        _read(tmp_path, text)


@pytest.mark.parametrize("name", ["mills.csv", "deep/er/mills.tsv", "MILLS.CSV"])
def test_tables_in_folders_are_read(tmp_path: Path, name: str) -> None:
    file = tmp_path / "data" / name
    file.parent.mkdir(parents=True)
    file.write_text("name,built\nUpper Mill,1883\n".replace(",", "\t" if name.endswith("tsv") else ","))

    assert [(row["title"], row["text"]) for row in read_documents(tmp_path / "data")] == [
        ("Upper Mill", "- Built: 1883")
    ]
