"""Arrays and tables of strings in one file that is written once, put in place whole, and memory-mapped by readers.

A file is a version of an index: `NAME-FORMAT-AT.arrays`, where AT is the position in a change log that it stands for.
It is written under a temporary name, synchronised with the disk and renamed, so that a killed writer leaves no version
behind. A reader opens the newest version that is whole; what it has open stays as it is when newer ones take its place.
"""

import json
import mmap
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, overload
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Rows = NDArray[np.int64]

_MAGIC = b"LGRAGARR"  # at both ends of a file
_ALIGNMENT = 64  # bytes
_LENGTHS = 8  # bytes each: of the length of the description, and of its checksum
_SUFFIX, _UNFINISHED = ".arrays", ".unfinished"
_NAME = re.compile(r"[a-z0-9_]+")
_AT_ONCE = 2**22  # bytes of an array that are written or checked at once


class Strings(Sequence[str]):
    """A table of strings on disk, in the order in which they were written; each can be found without reading others."""

    def __init__(self, arrays: "Arrays", name: str) -> None:
        self._bytes, self._ends = arrays[f"{name}.bytes"], arrays[f"{name}.ends"]
        self._hashes, self._rows = arrays[f"{name}.hashes"], arrays[f"{name}.rows"]

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return self.take(range(*row.indices(len(self))))
        if not 0 <= row < len(self):  # an array would count from its end
            raise IndexError(f"expected a row from 0 to {len(self) - 1}, got {row}")
        start = int(self._ends[row - 1]) if row else 0
        return self._bytes[start : int(self._ends[row])].tobytes().decode("utf-8", "surrogatepass")

    def take(self, rows: Iterable[int]) -> list[str]:
        """Return the strings of some rows."""
        taken = np.fromiter(rows, np.int64)
        if taken.size and not 0 <= taken.min() <= taken.max() < len(self):
            raise IndexError(f"expected rows from 0 to {len(self) - 1}, got {taken.min()} to {taken.max()}")
        return [str(text, "utf-8", "surrogatepass") for text in self._encoded(taken)]

    def find(self, texts: Sequence[str]) -> Rows:
        """Return the row of each text, the first one of equal strings; -1 of an unknown text. Shape: texts."""
        found = np.full(len(texts), -1, np.int64)
        if not len(self):
            return found
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        hashes = _hashes(encoded)
        places = self._hashes.searchsorted(hashes)
        hits = np.flatnonzero(self._hashes.take(places, mode="clip") == hashes)
        rows = self._rows.take(places[hits]).astype(np.int64)
        for number, row, text in zip(hits.tolist(), rows.tolist(), self._encoded(rows), strict=True):
            found[number] = row if text == encoded[number] else self._find_behind(int(places[number]), encoded[number])
        return found

    def _find_behind(self, place: int, text: bytes) -> int:
        """Return the row of a text behind another one with its hash; -1 if it is unknown."""
        last = int(self._hashes.searchsorted(self._hashes[place], side="right"))
        rows = self._rows[place + 1 : last].astype(np.int64)
        return next((row for row, other in zip(rows.tolist(), self._encoded(rows), strict=True) if other == text), -1)

    def _encoded(self, rows: Rows) -> Iterator[bytes]:
        """Yield the bytes of the strings of some rows."""
        starts = np.where(rows, self._ends.take(rows - 1, mode="wrap"), 0)
        whole = self._bytes.data
        places = zip(starts.tolist(), self._ends.take(rows).tolist(), strict=True)
        return (bytes(whole[start:end]) for start, end in places)


class Arrays(Mapping[str, Array]):
    """The arrays of a file, read-only and memory-mapped. Open files with `open_newest`.

    Attributes:
        path: the file.
        at: the position in the change log that they stand for.
        about: what was written about them.

    Raises:
        ValueError: when the file is not whole.
        OSError: when it cannot be read.
    """

    def __init__(self, path: Path, at: int) -> None:
        self.path, self.at = path, at
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < 2 * (len(_MAGIC) + _LENGTHS):
                raise ValueError(f"{path} is cut off")
            self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        described = _description(self._mapped)
        self.about: Mapping[str, Any] = described["about"]
        self._arrays: dict[str, Array] = {}
        self._checksums: dict[str, int] = {}
        for name, (kind, shape, start, checksum) in described["arrays"].items():
            self._arrays[name] = np.ndarray(shape, np.dtype(kind), self._mapped, start)
            self._checksums[name] = checksum

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def strings(self, name: str) -> Strings:
        """Return a table of strings."""
        return Strings(self, name)

    def intact(self) -> bool:
        """Return whether all bytes are as they were written; it reads all of them."""
        return all(_checksum(_parts(array)) == self._checksums[name] for name, array in self._arrays.items())


def write(
    folder: Path,
    name: str,
    at: int,
    arrays: Mapping[str, Array | Iterable[Array]],
    strings: Mapping[str, Iterable[str]] | None = None,
    *,
    format_: int = 1,
    about: Mapping[str, Any] | None = None,
) -> Arrays:
    """Write a version of an index, remove older ones and what killed writers left, and open it.

    Only one thread of one process may write an index of this name at a time, with any number of readers.

    Args:
        folder: it is created if it is missing.
        name: the name of the index: small letters, digits and underscores.
        at: the position in the change log that it stands for; a version of the same position is replaced.
        arrays: by name; one that does not fit into memory can be given in parts, which are joined on the first axis.
        strings: the tables of strings, by name.
        format_: of these arrays; versions of another one are removed.
        about: anything else that JSON can describe, such as positions in other logs.

    Raises:
        OSError: when it cannot be written; older versions stay.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"expected a name of small letters, digits and underscores, got {name!r}")
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{name}-*{_UNFINISHED}"):
        _remove(left)
    path = folder / f"{name}-{format_}-{at:019}{_SUFFIX}"
    unfinished = path.with_name(f"{name}-{uuid4().hex}{_UNFINISHED}")
    try:
        with unfinished.open("wb") as file:
            _write(file, arrays, strings or {}, about or {})
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        _remove(unfinished)
    _synchronise(folder)
    for other in _versions(folder, name):
        if other != path:
            _remove(other)
    return Arrays(path, at)


def open_newest(
    folder: Path, name: str, *, format_: int = 1, fits: Callable[[Arrays], bool] = lambda _: True
) -> Arrays | None:
    """Open the newest version of an index that is whole and fits; None if there is none. It writes nothing.

    Args:
        folder: it may be missing.
        name: the name of the index.
        format_: of its arrays.
        fits: whether a version can be used, such as one whose position is still in the change log.
    """
    for path in sorted(_versions(folder, name, format_), reverse=True):
        with suppress(OSError, ValueError):  # removed meanwhile, or not whole
            arrays = Arrays(path, int(path.stem.rpartition("-")[2]))
            if fits(arrays):
                return arrays
    return None


def remove(folder: Path, name: str) -> None:
    """Remove all versions of an index, as when they belong to other records."""
    for path in [*_versions(folder, name), *folder.glob(f"{name}-*{_UNFINISHED}")]:
        _remove(path)


def names(folder: Path, beginning: str) -> set[str]:
    """Return the names of all indexes in a folder that begin so, also of those that were never finished."""
    found = (path.name.partition("-")[0] for path in _files(folder) if path.suffix in (_SUFFIX, _UNFINISHED))
    return {name for name in found if name.startswith(beginning)}


def _versions(folder: Path, name: str, format_: int | None = None) -> list[Path]:
    formats = r"\d+" if format_ is None else str(format_)
    of = re.compile(rf"{name}-{formats}-\d+{re.escape(_SUFFIX)}")
    return [path for path in _files(folder) if of.fullmatch(path.name)]


def _files(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _remove(path: Path) -> None:
    with suppress(OSError):  # on Windows, one that is mapped stays until a later writer removes it
        path.unlink()


def _synchronise(folder: Path) -> None:
    """Make a renaming in a folder last, where the system can."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _write(
    file: BinaryIO,
    arrays: Mapping[str, Array | Iterable[Array]],
    strings: Mapping[str, Iterable[str]],
    about: Mapping[str, Any],
) -> None:
    """Write the arrays, each aligned, and behind them a description of all with its length and checksum."""
    file.write(_MAGIC)
    described: dict[str, tuple[str, Sequence[int], int, int]] = {}
    tables = chain.from_iterable(_table(name, texts).items() for name, texts in strings.items())
    for name, given in chain(arrays.items(), tables):
        file.write(bytes(-file.tell() % _ALIGNMENT))
        start, checksum, length = file.tell(), 0, 0
        kind, shape = np.dtype(np.uint8), tuple[int, ...]()
        for whole in [given] if isinstance(given, np.ndarray) else given:
            if length and (whole.dtype, whole.shape[1:]) != (kind, shape):
                raise ValueError(f"expected parts of {name} as the first one, {kind} {shape}, got {whole.dtype}")
            kind, shape, length = whole.dtype, whole.shape[1:], length + len(whole)
            for part in _parts(whole):
                checksum = zlib.crc32(part, checksum)
                file.write(part)
        described[name] = kind.str, (length, *shape), start, checksum
    description = json.dumps({"start": file.tell(), "arrays": described, "about": about}).encode()
    file.write(description)
    for number in (len(description), zlib.crc32(description)):
        file.write(number.to_bytes(_LENGTHS, "little"))
    file.write(_MAGIC)


def _description(file: mmap.mmap) -> Any:
    """Return what is written about arrays at the end of their file."""
    end = len(file) - len(_MAGIC) - 2 * _LENGTHS
    length, checksum = (int.from_bytes(file[place : place + _LENGTHS], "little") for place in (end, end + _LENGTHS))
    text = file[max(end - length, 0) : end]
    if file[: len(_MAGIC)] != _MAGIC or file[-len(_MAGIC) :] != _MAGIC or zlib.crc32(text) != checksum:
        raise ValueError("the file is no file of arrays, or it is not whole")
    described = json.loads(text)
    if described["start"] != end - length:
        raise ValueError(f"expected {described['start']} bytes of arrays, got {end - length}")
    return described


def _table(name: str, texts: Iterable[str]) -> dict[str, Array]:
    """Return the arrays of a table of strings: bytes, where each ends, and the hashes in order with their rows."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.uint64)
    hashes = _hashes(encoded)
    order = np.argsort(hashes, kind="stable")
    return {
        f"{name}.bytes": np.frombuffer(b"".join(encoded), np.uint8),
        f"{name}.ends": ends.astype(smallest(int(ends[-1]) if len(ends) else 0)),
        f"{name}.hashes": hashes[order],
        f"{name}.rows": order.astype(smallest(len(encoded))),
    }


def smallest(largest: int) -> Any:
    """Return the type of array that holds numbers up to the largest in the fewest bytes."""
    return np.min_scalar_type(largest)


def _hashes(texts: Sequence[bytes]) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join(blake2b(text, digest_size=8).digest() for text in texts), "<u8")


def _parts(array: Array) -> Iterator[memoryview]:
    """Yield the bytes of an array in parts."""
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return (flat[start : start + _AT_ONCE].data for start in range(0, len(flat), _AT_ONCE))


def _checksum(parts: Iterable[memoryview]) -> int:
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    return checksum
