"""Reads mails as mail programs save them (.eml, RFC 5322), with `email` of the standard library."""

from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from typing import NamedTuple

from langgraph_rag.characters import is_blank

_HEAD = ("From", "To", "Cc", "Date", "Subject")


class Mail(NamedTuple):
    """A mail: its subject, its head as lines, its text or page, and the names of what is attached."""

    subject: str
    head: str
    text: str
    html: str
    attached: list[str]


def read_mail(written: bytes) -> Mail:
    """Read a mail; of a body that is there as text and as a page, the text.

    Raises:
        ValueError: when it is no mail, or has nothing to read.
    """
    message = BytesParser(EmailMessage, policy=policy.default).parsebytes(written)
    if not message["From"] and not message["Subject"]:
        raise ValueError(
            "expected a mail with From or Subject (RFC 5322), got neither: name the file .txt if it is text"
        )
    body = message.get_body(("plain", "html"))
    told = _content(body) if body else ""
    if is_blank(told):
        raise ValueError("expected a mail with a text, got one without")
    is_page = body is not None and body.get_content_subtype() == "html"
    head = "\n".join(f"{name}: {_line(message[name])}" for name in _HEAD if message[name])
    attached = [name for part in message.iter_attachments() if (name := part.get_filename())]
    return Mail(_line(message["Subject"] or ""), head, "" if is_page else told, told if is_page else "", attached)


def _content(body: MIMEPart) -> str:
    """Return the text of a body; what its encoding cannot tell, or an unknown one, is read as Latin-1."""
    try:
        return str(body.get_content(errors="strict"))
    except (LookupError, UnicodeDecodeError):
        payload = body.get_payload(decode=True)
        return payload.decode("latin-1") if isinstance(payload, bytes) else ""


def _line(value: object) -> str:
    return " ".join(str(value).split())
