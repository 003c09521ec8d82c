"""Parts of the documentation that are generated from code, between `<!-- name -->` and `<!-- end of name -->`."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def check_part(page: Path, name: str, text: str) -> None:
    """Fail if a page does not hold a part as the code makes it; with UPDATE_SNAPSHOTS write it."""
    part = f"<!-- {name} -->\n{text.strip()}\n<!-- end of {name} -->"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        pattern = rf"<!-- {name} -->(.*<!-- end of {name} -->)?"
        page.write_text(re.sub(pattern, lambda _: part, page.read_text(), count=1, flags=re.DOTALL))
    assert part in page.read_text(), f"{page}: UPDATE_SNAPSHOTS=1 make test writes the part {name!r} anew"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)
