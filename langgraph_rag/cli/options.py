"""Options that several commands share, and the setup of each process of the command line."""

import functools
import inspect
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from langchain_core.embeddings import Embeddings
from pydantic import TypeAdapter

from langgraph_rag.context import Context
from langgraph_rag.errors import FilterError
from langgraph_rag.filters import filter_in
from langgraph_rag.methods import METHODS, parts_of, register_installed
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.models.loading import MODEL_FORMS, load_model
from langgraph_rag.naming import expect_name
from langgraph_rag.tools.ingest.embeddings import CPU, MINILM, embed_queries, last_embedder, load_embeddings
from langgraph_rag.tools.stores.opening import is_address


class _Shown(logging.Handler):
    """Shows log messages of this package in the format of the commands' warnings."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(f"{record.levelname.lower()}: {self.format(record)}", err=True)


_shown = _Shown(logging.WARNING)


def begin() -> None:
    """Show the log messages of this package, and register the methods of installed packages."""
    logging.getLogger("langgraph_rag").addHandler(_shown)
    register_installed()


def named_path(given: str | Path) -> Path:
    """Return a path; refuse an empty one, as from an unset variable, because it would be the current folder.

    `~` is the home folder also where the shell leaves it, as in `--kb=~/kb`.
    """
    if not given:
        raise typer.BadParameter("expected a file or a folder, got ''")
    if ":///" in str(given):  # which a path would lose
        raise typer.BadParameter(f"expected postgresql://USER@/DATABASE?host=FOLDER for a local socket, got {given}")
    return Path(os.path.expanduser(given))  # noqa: PTH111 - `Path` raises where `~name` is no user but a file


def path_option(*names: str, help: str, envvar: str | None = None) -> Any:  # noqa: A002 - as typer calls it
    """Return the declaration of an option that takes a path."""
    return typer.Option(*names, parser=named_path, metavar="<path>", help=help, envvar=envvar)


# the variables are those of `langgraph_rag.studio`
_KB = "Folder of the knowledge base, or postgresql://USER@HOST/DATABASE#NAME."
KbFolder = Annotated[Path, path_option("--kb", help=_KB, envvar="LANGGRAPH_RAG_KB")]
_METHODS = f"One of: {', '.join(METHODS)}"
MethodName = Annotated[str, typer.Option("--method", help=f"{_METHODS}; or a method of an installed package.")]
MethodOrAblation = Annotated[
    str, typer.Option("--method", help=f"{_METHODS}; or an ablation of one, such as cirag/only-triples.")
]
ModelName = Annotated[
    str, typer.Option("--model", help=f"One of: {'; '.join(MODEL_FORMS)}.", envvar="LANGGRAPH_RAG_MODEL")
]
EmbeddingsName = Annotated[
    str | None,
    typer.Option(
        "--embeddings",
        help="Embedder of the knowledge base: name, folder, vllm:MODEL or PROVIDER:MODEL; default all-MiniLM-L6-v2.",
        envvar="LANGGRAPH_RAG_EMBEDDINGS",
    ),
]
Parts = Annotated[
    list[str] | None,
    typer.Option(
        "--part",
        metavar="<part>=<model>",
        help="Another model for a part of the method, such as integrator=vllm:NAME; may be given several times.",
    ),
]
Cache = Annotated[Path | None, path_option("--cache", help="File to cache the model's replies in.")]

ENGINES = ("local", "ray")
EngineName = Annotated[
    str, typer.Option("--engine", help="Where the work is done: local, or ray, on the machines of a Ray cluster.")
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address", help="Ray cluster, such as 10.0.0.1:6379; by default one here or a new one.", envvar="RAY_ADDRESS"
    ),
]

DEFAULTS = Context()
_LEAST = {int: 1, int | None: 1, float | None: 0.001}
_PANEL, _KIND = "Settings of a question", inspect.Parameter.POSITIONAL_OR_KEYWORD
_PROBE = "Are you there?"


def with_context(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the argument `context` of a command by one option for each setting; the context is built from them."""
    settings = _settings()
    parameters = inspect.signature(command).parameters.values()
    shown = [p for own in parameters for p in (settings if own.name == "context" else [own])]

    @functools.wraps(command)
    def with_options(**given: Any) -> None:
        chosen = {setting.name: given.pop(setting.name) for setting in settings}
        try:
            context = Context(**chosen)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
        command(**given, context=context)

    with_options.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    with_options.__annotations__ = {p.name: p.annotation for p in shown}
    return with_options


def _settings() -> list[inspect.Parameter]:
    types, described = get_type_hints(Context), TypeAdapter(Context).json_schema()["properties"]
    return [_setting(f.name, types[f.name], f.default, described[f.name]["description"]) for f in fields(Context)]


def _setting(name: str, kind: Any, default: object, description: str) -> inspect.Parameter:
    if name == "filter":
        option = typer.Option("--filter", parser=_filter, metavar="<json>", help=description, rich_help_panel=_PANEL)
        return inspect.Parameter(name, _KIND, default=default, annotation=Annotated[Any, option])
    flag = f"--{name.removesuffix('_s').replace('_', '-')}"
    option = typer.Option(flag, min=_LEAST.get(kind), help=description, rich_help_panel=_PANEL)
    annotation = Annotated[kind, option]
    return inspect.Parameter(name, _KIND, default=default, annotation=annotation)


def _filter(text: str) -> dict[str, Any]:
    try:
        return filter_in(text)
    except FilterError as error:
        raise typer.BadParameter(str(error)) from error


Filter = Annotated[
    Any,
    typer.Option("--filter", parser=_filter, metavar="<json>", help="Passages to use, by metadata, title or source."),
]


def part_names(given: Sequence[str] | None, methods: Sequence[str]) -> dict[str, str]:
    """Return the names of models by the parts that they are for; each method must have these parts."""
    parts = dict[str, str]()
    for one in given or ():
        part, _, model = one.partition("=")
        for method in methods:
            expect_name(f"part of {method} (<part>=<model>)", part, parts_of(method))
        parts[part] = model
    return parts


def load_parts(parts: Mapping[str, str], cache: Path | None) -> dict[str, ChatModel]:
    """Load the models of parts, each once."""
    models = {name: load_model(name, cache=cache) for name in dict.fromkeys(parts.values())}
    return {part: models[name] for part, name in parts.items()}


def on_ray(engine: str) -> bool:
    """Return whether the engine is Ray; refuse what is none."""
    if engine not in ENGINES:
        raise typer.BadParameter(f"--engine: expected one of {', '.join(ENGINES)}, got {engine!r}")
    return engine == "ray"


def embedder(name: str | None, device: str = CPU) -> Embeddings | None:
    """Load an embedder by name, for a device; None by default, so that the knowledge base chooses."""
    return load_embeddings(name or MINILM, device) if name or device != CPU else None


def embedder_of(kb: Path, name: str | None = None, device: str = CPU) -> Embeddings | None:
    """Load an embedder for indexing; for a new folder, test it first, so that a failure leaves no folder behind."""
    given = embedder(name, device)
    if not is_address(kb) and not os.path.exists(kb):  # noqa: PTH110 - `Path` raises without permission, which the knowledge base reports
        given = given or last_embedder(None)
        embed_queries(given, [_PROBE])
    return given


def tell_loading() -> None:
    """Show on a terminal why there is no output yet."""
    if sys.stderr is not None and sys.stderr.isatty():  # None in a service on Windows
        typer.echo("loading ...", err=True)
