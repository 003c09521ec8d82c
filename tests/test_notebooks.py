"""The notebooks run from top to bottom."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_to_its_end(notebook: Path, tmp_path: Path) -> None:
    shutil.copy(notebook, tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "jupyter", "execute", str(tmp_path / notebook.name)],
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert done.returncode == 0, done.stderr[-2000:]


def test_notebooks_are_kept_without_outputs() -> None:
    assert NOTEBOOKS
    for notebook in NOTEBOOKS:
        assert '"output_type"' not in notebook.read_text(), f"{notebook.name}: clear its outputs before committing it"
