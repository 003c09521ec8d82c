"""The methods by name, for the command line, the evaluation and LangGraph Studio."""

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, get_args

from langgraph.graph.state import CompiledStateGraph

from langgraph_rag.arguments import expect
from langgraph_rag.context import Context
from langgraph_rag.errors import UnknownNameError
from langgraph_rag.graphs import adaptive
from langgraph_rag.graphs.cirag import create_cirag
from langgraph_rag.graphs.dualrag import create_dualrag
from langgraph_rag.graphs.ircot import create_ircot
from langgraph_rag.graphs.kirag import create_kirag
from langgraph_rag.graphs.mgranrag import create_mgranrag
from langgraph_rag.graphs.native_rag import create_native_rag
from langgraph_rag.graphs.par_rag import create_par_rag
from langgraph_rag.machine import Machine
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.naming import expect_name
from langgraph_rag.nodes.receive_question import QuestionInput
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.retrieve.retriever import Retriever

_ENTRY_POINTS = "langgraph_rag.methods"
_log = logging.getLogger(__name__)
Graph = Machine[Any, Any, Any, Any]
"""The graph of a method, not compiled yet."""


@dataclass(frozen=True)
class Method:
    """A method: `create(llm, kb, **options)` builds its graph.

    `ablations` are the named options that leave out a part of the method, as in its paper; `case` says when to use it.
    """

    create: Callable[..., Graph]
    paper: str
    ablations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    case: str = ""


def create_adaptive(
    llm: ChatModel,
    kb: Retriever,
    *,
    fallback: CompiledStateGraph[Any, Any, Any, Any] | None = None,
    reader: ChatModel | None = None,
) -> Machine[Any, Context, QuestionInput, adaptive.AdaptiveResult]:
    """Build our own method as a state machine; compile it with a checkpointer and a store of your choice.

    Args:
        llm: the default model, used by every step that is not given another one.
        kb: the knowledge base to ask.
        fallback: the compiled graph of the method that goes on where reading twice does not suffice; by default DualRAG
            with `llm`. Its nodes become part of this graph.
        reader: the model that reads, answers and says what is missing.

    Raises:
        TypeError: when a model is not a chat model, `kb` is not a knowledge base, or `fallback` is not compiled.
        ValueError: when `fallback` is not the graph of a method of this package or like it.
    """
    return adaptive.create_adaptive(llm, kb, fallback or create_dualrag(llm, kb).compile(), reader=reader)


METHODS = {
    "adaptive": Method(
        create_adaptive,
        "Our own: read once, look up what is missing, then another method; each only where it is needed",
        case="Not sure: as much effort as the question needs",
    ),
    "native_rag": Method(
        create_native_rag,
        "Single-shot RAG: retrieve once, read (baseline)",
        case="Questions with one part, or a yardstick for all else",
    ),
    "ircot": Method(
        create_ircot,
        "Trivedi et al. 2023, Interleaving Retrieval with Chain-of-Thought Reasoning (baseline)",
        case="A yardstick that thinks and searches by turns",
    ),
    "kirag": Method(
        create_kirag,
        "Fang et al. 2025, Knowledge-Driven Iterative Retriever",
        {
            "without-retriever": {"retriever": "none"},
            "without-aligner": {"aligner": "none"},
            "without-training": {"aligner": "untrained"},
            "without-constructor": {"constructor": "none"},
            "documents": {"knowledge": "documents"},
            "sentences": {"knowledge": "sentences"},
            "best-score": {"ranking": "best_score"},
            "published": {"ranking": "best_score", "construction": "first", "reading": "passages"},
        },
        case="A chain of facts, each leading to the next",
    ),
    "cirag": Method(
        create_cirag,
        "Wei et al. 2026, Construction-Integration Retrieval and Adaptive Generation",
        {
            "without-reranker": {"ranking": "none"},
            "without-passages": {"granularities": ("triples", "sentences")},
            "without-sentences": {"granularities": ("triples", "passages")},
            "without-triples": {"granularities": ("sentences", "passages")},
            "only-triples": {"granularities": ("triples",)},
            "only-sentences": {"granularities": ("sentences",)},
            "only-passages": {"granularities": ("passages",)},
            "published": {"variant": "published"},
        },
        case="Facts of the kind who, when, where; evidence down to single triples",
    ),
    "dualrag": Method(
        create_dualrag,
        "Cheng et al. 2025, A Dual-Process Approach to Integrate Reasoning and Retrieval",
        {
            "published": {"course": "published"},
            "without-reasoner": {"detect_gaps": False},
            "without-entity-identifier": {"identify_entities": False},
            "without-outline": {"keep_outline": False},
        },
        case="Several things at once; wordy documents",
    ),
    "mgranrag": Method(
        create_mgranrag,
        "Hu et al. 2026, Iterative Multi-Granular RAG with Contextual Hierarchical Graph",
        {
            "published": {"course": "published"},
            "graph": {"parts": "graph"},
            "graph+decomposition": {"parts": "graph+decomposition"},
        },
        case="Few model calls (3 per round); passages that share names rather than words with the question",
    ),
    "par_rag": Method(
        create_par_rag,
        "Zhang et al. 2025, Plan-then-Act-and-Review (Credible plan-driven RAG)",
        {
            "published": {"course": "published"},
            "without-plan": {"plan": False},
            "without-review": {"review": False},
        },
        case="A plan that people can see and change",
    ),
}


def register(name: str, method: Method) -> None:
    """Add a method of your own to `create`, `parse_methods` and the evaluation, in this process.

        register("self_ask", Method(create_self_ask, "Press et al. 2023, Self-Ask"))

    Args:
        name: letters, digits and underscores; it must not begin with a digit.
        method: the function that creates its graph, its paper and its ablations.

    Raises:
        TypeError: when the method is not a `Method`, or its name is not text.
        ValueError: when the name is taken, reserved ("all", "ablations"), or has other characters.
    """
    expect(Method, method, "a Method", "Method(create_mine, PAPER) is one")
    expect(str, name, "a name for the method", "register('self_ask', METHOD)")
    if not name.isidentifier() or name in (*METHODS, "all", "ablations"):
        raise ValueError(f"expected a new name of letters, digits and underscores, got {name!r}")
    METHODS[name] = method


def register_installed() -> None:
    """Register the methods in the entry points `langgraph_rag.methods` of installed packages.

    The command line does this at its start. A method that cannot be loaded is skipped with a warning.
    """
    for offered in entry_points(group=_ENTRY_POINTS):
        if offered.name in METHODS:
            continue
        try:
            register(offered.name, offered.load())
        except Exception as error:
            _log.warning("method %s cannot be loaded from %s: %r", offered.name, offered.value, error)


def create(name: str, llm: ChatModel, kb: KnowledgeBase, **options: Any) -> Graph:
    """Create the graph of a method or of one of its ablations, by name.

    Args:
        name: a method ("cirag") or an ablation ("cirag/without-reranker").
        llm: the model of all its steps.
        kb: the knowledge base to ask.
        options: options of the method's own function; they take precedence over those of the ablation.

    Returns:
        The graph that the method's own function, such as `create_cirag`, returns. Compile it to run it.

    Raises:
        UnknownNameError: when the method or ablation does not exist.
        TypeError: when `llm` is not a chat model, `kb` is not a knowledge base, or the method has no such option.
    """
    method, of_ablation = _found(name)
    return method.create(llm, kb, **{**of_ablation, **options})


def parts_of(name: str) -> list[str]:
    """Return the options of a method, or of one of its ablations, that take a model of their own, such as `reader`."""
    method, _ = _found(name)
    options = inspect.signature(method.create).parameters.values()
    return [option.name for option in options if ChatModel in get_args(option.annotation)]


def parse_methods(names: str) -> list[str]:
    """Return the names in a comma-separated list of methods, as in `--method` of the command line.

    Args:
        names: for example "cirag,kirag/without-aligner"; "all" stands for all methods, "ablations" for all methods and
            their ablations.

    Returns:
        Names for `create`, each once, in the order given.

    Raises:
        UnknownNameError: when a method or ablation does not exist.
        TypeError: when the names are not one text.
    """
    expect(str, names, "the names of methods in one text", "'cirag,kirag'")
    chosen: dict[str, None] = {}
    for name in map(str.strip, names.split(",")):
        if name == "all":
            chosen |= dict.fromkeys(METHODS)
        elif name == "ablations":
            for method, about in METHODS.items():
                chosen |= dict.fromkeys([method, *(f"{method}/{ablation}" for ablation in about.ablations)])
        else:
            _found(name, "all", "ablations")
            chosen[name] = None
    return list(chosen)


def _found(name: str, *others: str) -> tuple[Method, Mapping[str, Any]]:
    """Return the method with a name and the options of its ablation; error messages also list `others`."""
    method, slash, ablation = str(name).partition("/")
    if method not in METHODS:
        raise UnknownNameError("method", method, [*METHODS, *others])
    ablations = METHODS[method].ablations
    if slash:
        expect_name(f"ablation of {method}", ablation, ablations)
    return METHODS[method], ablations[ablation] if slash else {}
