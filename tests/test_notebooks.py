"""The notebooks run from top to bottom."""

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_a_notebook_runs_to_its_end_in_jupyter(tmp_path: Path) -> None:
    """There an event loop runs while a graph is invoked."""
    shutil.copy(FOLDER / "quickstart.ipynb", tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "jupyter", "execute", str(tmp_path / "quickstart.ipynb")],
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize(
    "notebook", [path for path in NOTEBOOKS if path.stem != "quickstart"], ids=lambda path: path.stem
)
async def test_a_notebook_runs_to_its_end(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells run one after the other, in a loop that runs already, as in Jupyter."""
    monkeypatch.setattr(sys, "displayhook", sys.displayhook)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    untyped: Any = InteractiveShell
    shell = untyped()
    assert asyncio.get_running_loop().is_running()
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "code":
            source = shell.transform_cell("".join(cell["source"]))
            done = await shell.run_cell_async(source, transformed_cell=source)
            done.raise_error()


def test_notebooks_are_kept_without_outputs() -> None:
    assert NOTEBOOKS
    for notebook in NOTEBOOKS:
        assert '"output_type"' not in notebook.read_text(), f"{notebook.name}: clear its outputs before committing it"
