"""Which of the passages found belong to a question: those with a name of it, and those that such passages lead to."""

from collections.abc import Sequence

from langgraph_rag.normal_forms import apart, normalise, words_of
from langgraph_rag.records import Record, titled_text
from langgraph_rag.tools.language.spans import spot_names
from langgraph_rag.tools.language.topics import topic_of


def led_first(question: str, passages: Sequence[Record], kept: int = 0) -> list[Record]:
    """Put passages behind all others to which no name of the question leads.

    A name leads to the passages that have all of its words. These lead to what they mention by its title and to other
    passages of their document, and so on. Both parts keep their order; a question without names leaves it as it is.

    Args:
        question: its names count, but for a single word at its beginning, which may have its capital from there.
        passages: best first.
        kept: the number of first passages that stay where they are, led to or not.
    """
    spotted = [name for name in spot_names(question) if name.start or " " in name.text]
    names = [set(words_of(name.text)) for name in spotted]
    if not names:
        return list(passages)
    said = [set(words_of(titled_text(passage))) for passage in passages]
    led = {place for place, words in enumerate(said) if any(name <= words for name in names)}
    topics = [f" {normalise(apart(topic_of(passage['title'])))} " for passage in passages]
    texts = [f" {normalise(apart(passage['text']))} " for passage in passages]
    added = led
    while added:
        documents = {passages[place].get("document") for place in added} - {None, ""}
        added = {
            place
            for place, passage in enumerate(passages)
            if place not in led
            and (passage.get("document") in documents or any(topics[place] in texts[other] for other in added))
        }
        led = led | added
    order = sorted(range(len(passages)), key=lambda place: place >= kept and place not in led)
    return [passages[place] for place in order]
