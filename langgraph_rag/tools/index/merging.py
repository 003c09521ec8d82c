"""Writes the files of a graph, as they are after all changes; run as a program beside the one that changes the records.

python merging.py FOLDER NAME [EXTRACTOR]
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from filelock import FileLock, Timeout


def main() -> None:
    """Write the files, unless another process is about to."""
    folder, name, *extractor = sys.argv[1:]
    package = ModuleType("langgraph_rag")
    package.__path__ = [str(Path(__file__).parents[2])]  # without its methods and models, which take seconds to import
    sys.modules.setdefault("langgraph_rag", package)
    from langgraph_rag.tools.index.derived_graphs import DerivedGraphs
    from langgraph_rag.tools.stores.folder import RECORDS
    from langgraph_rag.tools.stores.records import INDEXES, RecordStore

    if hasattr(os, "nice"):
        os.nice(5)
    (Path(folder) / INDEXES).mkdir(exist_ok=True)
    with suppress(Timeout), FileLock(Path(folder) / INDEXES / f"{name}.lock", blocking=False):
        records = RecordStore(Path(folder) / RECORDS)
        try:
            DerivedGraphs(records, Path(folder)).save(*extractor)
        finally:
            records.close()


if __name__ == "__main__":
    main()
