"""Each module imports only from layers below its own."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import langgraph_rag

ROOT = Path(langgraph_rag.__file__).parent
PACKAGE = "langgraph_rag"

LAYERS = [
    {
        "records",
        "arguments",
        "characters",
        "normal_forms",
        "concurrency",
        "write_ahead",
        "vllm_server",
        "error_texts",
        "progress",
    },
    {"errors", "refusals", "matching"},
    {"filters"},
    {"context"},
    {"naming", "conclusions", "metering"},
    {"prompts", "tools"},
    {"offline"},
    {"models"},
    {"llm"},
    {"nodes", "checkpoints"},
    {"machine"},
    {"graphs", "agents", "retriever", "conversation"},
    {"methods"},
    {PACKAGE},
    {"events", "narration", "evaluation", "exchange", "graph_pictures", "testing"},
    {"chat", "training", "distributed"},
    {"cli", "studio"},
    {"__main__"},
]
HEIGHT = {unit: height for height, layer in enumerate(LAYERS) for unit in layer}
OFFLINE_MAY_IMPORT = {"records", "errors", "normal_forms", "refusals", "prompts", "tools", "offline"}


def module_name(file: Path) -> str:
    parts = (PACKAGE, *file.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(file): file for file in sorted(ROOT.rglob("*.py"))}


def unit(module: str) -> str:
    """Return what a module belongs to: the subpackage or module below the package, or the package itself."""
    return module.split(".")[1] if "." in module else PACKAGE


def imports(source: str) -> Iterator[str]:
    """Yield every module that a source text imports, also inside functions and for type checking."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that this test can follow them"
            assert node.module
            for alias in node.names:
                below = f"{node.module}.{alias.name}"
                yield below if below in MODULES else node.module


def own(module: str) -> list[str]:
    """Return the modules of this package that a module imports."""
    found = imports(MODULES[module].read_text(encoding="utf-8"))
    return [name for name in found if name == PACKAGE or name.startswith(f"{PACKAGE}.")]


def test_imports_are_found_wherever_they_stand() -> None:
    source = """
import os.path, langgraph_rag.llm
from langgraph_rag import prompts, KnowledgeBase
def later():
    from langgraph_rag.prompts import cirag
    from langgraph_rag.errors import RagError
"""
    assert set(imports(source)) == {
        "os.path",
        "langgraph_rag.llm",
        "langgraph_rag.prompts",
        "langgraph_rag",
        "langgraph_rag.prompts.cirag",
        "langgraph_rag.errors",
    }


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_its_layer_and_imports_only_from_lower_ones(module: str) -> None:
    assert unit(module) in HEIGHT, f"{module} has no layer yet: give it one in LAYERS"
    upward = [
        imported
        for imported in own(module)
        if unit(imported) != unit(module) and HEIGHT[unit(imported)] >= HEIGHT[unit(module)]
    ]
    assert not upward, f"{module} must not import {', '.join(upward)}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    TopologicalSorter({module: set(own(module)) - {module} for module in MODULES}).prepare()


def test_every_layer_is_of_what_there_is_and_stands_in_the_page_for_contributors() -> None:
    assert set(HEIGHT) == set(map(unit, MODULES))
    page = (ROOT.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = [re.findall(r"`(\w+)/?`", row) for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)]
    assert [set(row) for row in rows] == [layer for layer in LAYERS if layer.isdisjoint({PACKAGE, "__main__"})]


@pytest.mark.parametrize("module", [module for module in MODULES if unit(module) == "offline"])
def test_the_offline_model_knows_nothing_of_what_uses_it(module: str) -> None:
    assert {unit(imported) for imported in own(module)} <= OFFLINE_MAY_IMPORT


@pytest.mark.parametrize("module", [module for module in MODULES if module.startswith(f"{PACKAGE}.graphs.")])
def test_graphs_do_not_import_each_other(module: str) -> None:
    assert not [imported for imported in own(module) if unit(imported) == "graphs"]


def test_prompts_and_tools_and_records_need_no_chat_model() -> None:
    below = [module for module in MODULES if HEIGHT[unit(module)] < HEIGHT["offline"]]
    assert not [
        module
        for module in below
        for imported in imports(MODULES[module].read_text(encoding="utf-8"))
        if imported.startswith(("langchain_core.language_models", "langchain.chat_models"))
    ]


def test_chroma_is_imported_in_one_place() -> None:
    importing = [
        module
        for module, file in MODULES.items()
        if "chromadb" in {name.split(".")[0] for name in imports(file.read_text(encoding="utf-8"))}
    ]
    assert importing == [f"{PACKAGE}.tools.stores.chroma"]
