"""Mails as mail programs save them."""

from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

import pytest

from langgraph_rag.errors import DocumentError
from langgraph_rag.tools.documents.files import read_documents


def saved(folder: Path, message: EmailMessage) -> Path:
    file = folder / "mail.eml"
    file.write_bytes(message.as_bytes(policy=SMTP))
    return file


@pytest.fixture
def message() -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "Jörg Kell <kell@ost.example>", "Ada Renk <renk@ost.example>"
    message["Subject"], message["Date"] = "The mill’s gate", "Mon, 02 Mar 2026 10:12:00 +0100"
    return message


HEAD = (
    "From: Jörg Kell <kell@ost.example>\nTo: Ada Renk <renk@ost.example>\n"
    "Date: Mon, 02 Mar 2026 10:12:00 +0100\nSubject: The mill’s gate"
)


def test_a_mail_is_its_head_and_its_text_not_the_page_beside_it(tmp_path: Path, message: EmailMessage) -> None:
    message.set_content("It costs 450 €.\n", cte="quoted-printable")
    message.add_alternative("<p>It costs <b>450</b> €.</p>", subtype="html")
    message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="offer.pdf")

    (document,) = read_documents(saved(tmp_path, message).parent)  # also where a folder is named

    assert (document["title"], document["text"]) == ("The mill’s gate", f"{HEAD}\n\nIt costs 450 €.")
    assert document["metadata"] == {"attachments": ["offer.pdf"]}


def test_a_mail_that_is_only_a_page_is_read_as_one(tmp_path: Path, message: EmailMessage) -> None:
    message.set_content("<p>It costs <s>400</s> 450 €.</p><ul><li>one<li>two</ul>", subtype="html", cte="base64")

    (document,) = read_documents(saved(tmp_path, message))

    assert document["text"] == f"{HEAD}\n\nIt costs 450 €.\n\n- one\n- two"


def test_a_text_in_an_encoding_that_nobody_knows_is_read(tmp_path: Path) -> None:
    (tmp_path / "mail.eml").write_bytes(
        b"From: a@ost.example\nContent-Type: text/plain; charset=unknown-8bit\n\nGr\xfc\xdfe aus Ost.\n"
    )

    (document,) = read_documents(tmp_path / "mail.eml")

    assert (document["title"], document["text"]) == ("mail", "From: a@ost.example\n\nGrüße aus Ost.")


@pytest.mark.parametrize(
    ("written", "told"),
    [(b"No mail at all.", "expected a mail with From or Subject"), (b"From: a@ost.example\n\n\n", "without")],
)
def test_what_is_no_mail_says_so(tmp_path: Path, written: bytes, told: str) -> None:
    (tmp_path / "mail.eml").write_bytes(written)

    with pytest.raises(DocumentError, match=told):
        read_documents(tmp_path / "mail.eml")
