"""Selects the place of the vectors of a knowledge base: next to its records, or on a server."""

from pathlib import Path
from uuid import uuid4

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.tools.storage.chroma import FOLDER, in_folder, on_server
from langgraph_rag.tools.storage.folder import VECTORS
from langgraph_rag.tools.storage.record_store import RecordStore
from langgraph_rag.tools.storage.vector_files import VectorFiles
from langgraph_rag.tools.storage.vector_index import VectorIndex

_PLACE, _OWNER = "vectors", "vectors_owner"  # the properties with the place of the vectors, and their owner on a server


def open_vectors(folder: Path, records: RecordStore, asked: str | None, *, writable: bool) -> VectorIndex:
    """Open the vectors of a knowledge base in the place that is asked for (a checked address), or else in the last one.

    A new place is empty; its vectors must be restored from the records.

    Raises:
        KnowledgeBaseError: when that place cannot be used, or is another one and this process may not change it.
    """
    last = records.meta(_PLACE) or FOLDER
    place = asked or last
    moves = place != last
    if moves and not writable:
        raise KnowledgeBaseError(f"the vectors of {folder} stay in {last}: it is open elsewhere, or read-only here")
    owner = uuid4().hex if moves else str(records.meta(_OWNER))  # new, so that copies of the folder separate
    vectors = (
        VectorFiles(in_folder(folder / VECTORS), records.vector_changes)
        if place == FOLDER
        else VectorIndex(on_server(place, owner))
    )
    if moves:
        vectors.delete(vectors.ids(), vectors.triple_ids())  # from an earlier use of the folder
        records.set_meta(_OWNER, owner)
        records.set_meta(_PLACE, place)
    return vectors
