"""What files say of the documents in them."""

from pathlib import Path

import pytest

from langgraph_rag.tools.documents import to_passages
from langgraph_rag.tools.files import read_documents


@pytest.mark.parametrize(
    ("markdown", "title", "text"),
    [
        ("# Pellworth #\n\nA town.", "Pellworth", "A town."),
        ("## Pellworth\n\nA town.", "Pellworth", "A town."),
        ("A word.\n\n## Streets\n\n# Pellworth\n", "Pellworth", "A word.\n\n## Streets\n\n# Pellworth"),
        ("Kell is an isle.\n\n## Streets\n\nTwo.", "Kell", "Kell is an isle.\n\n## Streets\n\nTwo."),
        ("---\ntitle: 'The Salt Road'\ndate: 1968\n---\n# A film\n\nOf 1968.", "The Salt Road", "# A film\n\nOf 1968."),
        ("---\ndate: 1968\n---\n# A film\n\nOf 1968.", "A film", "Of 1968."),
        ("---\ntitle: Only that\n---\n", "Only that", "---\ntitle: Only that\n---"),
        ("---\ntitle:\ndate: 1968\n---\n# A film\n\nOf 1968.", "A film", "Of 1968."),
        ("---\ntitle: 'A: B\n---\n# A film\n\nOf.", "A film", "---\ntitle: 'A: B\n---\n# A film\n\nOf."),
        ("---\nSome prose.\n---\nMore.", "notes", "---\nSome prose.\n---\nMore."),
        ("Kell is an isle.\n\n```\n# sail\n```", "Kell", "Kell is an isle.\n\n```\n# sail\n```"),
        ("--- so it began.\n---\nAnd ended.", "notes", "--- so it began.\n---\nAnd ended."),
    ],
)
def test_a_markdown_file_is_titled_by_its_front_matter_or_heading(
    tmp_path: Path, markdown: str, title: str, text: str
) -> None:
    file = tmp_path / "notes.md"
    file.write_text(markdown, encoding="utf-8")

    (document,) = read_documents([file])
    (passage,) = to_passages([document])

    assert (passage["title"], passage["text"]) == (title, text)
