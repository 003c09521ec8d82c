"""Warns about passages whose triples were not extracted yet."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from langgraph_rag.naming import counted
from langgraph_rag.tools.language.extraction import PlaceholderExtractor, TripleExtractor

_log = logging.getLogger(__name__)


@dataclass
class UnreadNotice:
    """One warning per knowledge base, with the effect on questions and the remedy.

    `unread` returns the ids of the passages that an extractor of some version has not read.
    """

    unread: Callable[[str], Awaitable[list[str]]]
    _told: bool = False
    _walked: bool = False

    async def tell_to_walk(self, extractor: TripleExtractor) -> None:
        """Warn if the graph lacks the facts of some passages; look only once, as that takes longer than the walk."""
        if not self._walked:
            self._walked = True
            await self.tell(extractor)

    async def tell(self, extractor: TripleExtractor) -> None:
        """Warn if there are such passages."""
        if self._told:
            return
        self._told = True  # before the await, so that parallel calls do not warn
        unread = await self.unread(extractor.version)
        self._told = bool(unread)
        if unread:
            _log.warning(
                "%s not read by %s yet: graph search does not walk to these, and methods that need their facts %s; "
                "`kb.add([])` with that extractor reads them all beforehand, and so does `langgraph-rag index` with "
                "the same model",
                counted(len(unread), "passage"),
                extractor.version,
                "do without" if isinstance(extractor, PlaceholderExtractor) else "wait until they are read",
            )
