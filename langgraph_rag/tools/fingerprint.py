"""A short digest of what the answers of a knowledge base depend on."""

import json
from collections.abc import Collection, Mapping, Sequence
from hashlib import file_digest, sha256
from pathlib import Path


def fingerprint_of(
    hashes: Mapping[str, str],
    unread: Collection[str],
    names: Mapping[str, str],
    made_by: str,
    mark: Sequence[float],
    aligner: Path,
) -> str:
    """Return the digest, after the number of passages and the names in `made_by`.

    Args:
        hashes: the hash of each passage, by id.
        unread: the passages whose triples could not be extracted.
        names: the names that were given to entities.
        made_by: the names of the embedder and the extractor.
        mark: the rounded vector by which embedders of the same name are told apart.
        aligner: the folder of a trained aligner; it may be missing.
    """
    files = [_digest(file) for file in sorted(aligner.rglob("*")) if file.is_file()]
    state = json.dumps([sorted(hashes.items()), made_by, mark, sorted(hashes.keys() & unread), names, *files])
    return f"{len(hashes)} passages, {made_by}, {sha256(state.encode()).hexdigest()[:16]}"


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()
