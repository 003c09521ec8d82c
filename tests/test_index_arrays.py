"""Arrays on disk: what was written is read as it was, whole or not at all, by any number of readers."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from langgraph_rag.tools.index import arrays
from langgraph_rag.tools.index.arrays import Array, Arrays, open_newest, remove, write

TEXTS = ["Kell", "", "東京の塔", "Kell", "o’clock", "\ud800", "a" * 70_000]
WRITER = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path
import numpy as np
spec = spec_from_file_location("arrays", sys.argv[1])  # alone, as importing the whole package takes longer
arrays = sys.modules["arrays"] = module_from_spec(spec)
spec.loader.exec_module(arrays)
for at in count(int(sys.argv[3])):
    arrays.write(Path(sys.argv[2]), "words", at, {"numbers": np.full(300_000, at)}, {"texts": [str(at)] * 2_000})
    print(at, flush=True)
"""


def written(folder: Path, at: int = 7) -> Arrays:
    numbers = np.arange(12, dtype=np.float32).reshape(3, 4)
    parts = (np.full(2, part, np.int16) for part in range(3))
    return write(folder, "words", at, {"numbers": numbers, "parts": parts, "none": list[Array]()}, {"texts": TEXTS})


def test_what_was_written_is_read(tmp_path: Path) -> None:
    written(tmp_path / "new" / "folder")

    read = open_newest(tmp_path / "new" / "folder", "words")

    assert read is not None and read.at == 7 and read.intact()
    assert read["numbers"].dtype == np.float32 and read["numbers"].tolist()[2] == [8, 9, 10, 11]
    assert read["parts"].tolist() == [0, 0, 1, 1, 2, 2]
    assert len(read["none"]) == 0
    assert list(read.strings("texts")) == TEXTS
    assert read.strings("texts").take([4, 2]) == [TEXTS[4], TEXTS[2]]
    assert read.strings("texts").find(["東京の塔", "Kell", "unknown", "", "\ud800"]).tolist() == [2, 0, -1, 1, 5]
    with pytest.raises(IndexError):
        read.strings("texts")[-1]
    with pytest.raises(ValueError, match="read-only"):
        read["numbers"][0, 0] = 1


def test_strings_with_the_same_hash_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_rag.tools.index.arrays._hashes", lambda texts: np.full(len(texts), 5, np.uint64))
    texts = written(tmp_path).strings("texts")

    assert texts.find(["o’clock", "Kell", "unknown"]).tolist() == [4, 0, -1]


def test_the_newest_takes_the_place_of_others_and_readers_keep_theirs(tmp_path: Path) -> None:
    first = written(tmp_path)
    write(tmp_path, "words_of_titles", 1, {})  # another index
    write(tmp_path, "words", 10, {"numbers": np.ones(1)}, about={"history": "x"})
    (tmp_path / "words-left.unfinished").write_bytes(b"x")
    newest = write(tmp_path, "words", 30, {}, format_=2)

    assert sorted(path.name.split("-")[0] for path in tmp_path.iterdir()) == ["words", "words_of_titles"]
    assert newest.path.name.startswith("words-2-")
    assert open_newest(tmp_path, "words") is None  # of format 1
    assert first["numbers"][2, 3] == 11  # still mapped
    assert open_newest(tmp_path, "unknown") is None
    assert open_newest(tmp_path / "missing", "words") is None

    remove(tmp_path, "words")
    assert open_newest(tmp_path, "words", format_=2) is None
    assert open_newest(tmp_path, "words_of_titles") is not None


def test_a_version_that_does_not_fit_is_left_out(tmp_path: Path) -> None:
    old = written(tmp_path, 5).path.read_bytes()
    new = written(tmp_path, 9).path
    new.with_name(new.name.replace("9", "5")).write_bytes(old)

    fitting = open_newest(tmp_path, "words", fits=lambda arrays: arrays.at < 9)

    assert fitting is not None and fitting.at == 5


@pytest.mark.parametrize("kept", [0, 1, 20, 40, 200, -1, -8, -30])
def test_a_file_that_was_cut_off_is_as_if_it_was_not_there(tmp_path: Path, kept: int) -> None:
    path = written(tmp_path).path
    path.write_bytes(path.read_bytes()[:kept])

    assert open_newest(tmp_path, "words") is None
    assert written(tmp_path).intact()


def test_a_file_without_its_middle_is_as_if_it_was_not_there(tmp_path: Path) -> None:
    path = written(tmp_path).path
    content = path.read_bytes()
    path.write_bytes(content[:100] + content[200:])

    assert open_newest(tmp_path, "words") is None


def test_changed_bytes_are_noticed(tmp_path: Path) -> None:
    path = written(tmp_path).path
    content = bytearray(path.read_bytes())
    content[70] ^= 1
    path.write_bytes(content)

    read = open_newest(tmp_path, "words")

    assert read is not None and not read.intact()


def test_a_failed_write_leaves_the_older_version(tmp_path: Path) -> None:
    written(tmp_path)
    parts: list[Array] = [np.zeros(1), np.zeros(1, np.int8)]

    with pytest.raises(ValueError, match="expected parts"):
        write(tmp_path, "words", 8, {"parts": parts})

    (path,) = tmp_path.iterdir()
    assert path.name.endswith("7.arrays")


def test_killed_writers_leave_what_was_there_before(tmp_path: Path) -> None:
    last = 0
    for pause in (0.0, 0.004, 0.011, 0.017):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, arrays.__file__, str(tmp_path), str(last + 1)],
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            last = int(process.stdout.readline())
            time.sleep(pause)
            process.send_signal(signal.SIGKILL)
            last = max([last, *map(int, process.stdout.read().split())])

        read = open_newest(tmp_path, "words")

        assert read is not None and read.intact()
        assert read.at >= last  # it may have been killed before it could tell
        assert read.strings("texts")[0] == str(read.at) == str(read["numbers"][-1])
        last = read.at
    written(tmp_path, last + 1)
    assert len(list(tmp_path.iterdir())) == 1
