"""The documentation shows what the code does."""

import ast
import inspect
import json
import os
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

import griffe
import pytest
import results_page
import tokens
from fakes import ScriptedModel
from langgraph.graph.state import CompiledStateGraph
from pages import DOCS, ROOT, check_part, table
from pydantic import TypeAdapter
from test_cli import run
from typer.cli import get_docs_for_click
from typer.main import get_command

import langgraph_rag
from langgraph_rag import KnowledgeBase, RagError
from langgraph_rag.cli import app
from langgraph_rag.context import Context
from langgraph_rag.evaluation import Outcome, summarise
from langgraph_rag.methods import METHODS
from langgraph_rag.models.bindings import ChatModel

SETTINGS = TypeAdapter(Context).json_schema()["properties"]
FOR_ALL = {"max_question_chars", "max_concurrency", "max_model_calls", "max_tokens", "deadline_s"}


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    with KnowledgeBase.open(tmp_path_factory.mktemp("docs") / "kb") as kb:
        yield {name: method.create(ScriptedModel(), kb) for name, method in METHODS.items()}


def test_the_five_minute_start_shows_what_is_printed(sample_folder: Path) -> None:
    page = (DOCS / "quickstart.md").read_text()
    asked = re.findall(r'^    langgraph-rag ask "(.*)" --kb kb$', page, re.MULTILINE)[0]

    printed = run("ask", asked, "--kb", sample_folder).stdout.replace(str(ROOT) + os.sep, "")
    held = run("info", "--kb", sample_folder).stdout.replace(str(sample_folder), "kb")

    assert "\nAnswer: " in printed and held
    assert _titles_sorted(re.sub(r"[\d.]+ s\n$", "", printed)) in _titles_sorted(page)
    assert [line for line in held.splitlines() if not line.startswith("triple vectors") and line not in page] == []


def _titles_sorted(text: str) -> str:
    """Sort the titles of a search: processors round differently, so that neighbours change places."""
    return re.sub(r"(?<=  found     ).+(?= and \d+ more)", lambda found: ", ".join(sorted(found[0].split(", "))), text)


@pytest.mark.parametrize("name", METHODS)
def test_the_diagram_of_each_method_is_the_one_of_its_graph(name: str, graphs: dict[str, Any]) -> None:
    mermaid = graphs[name].compile().get_graph().draw_mermaid()
    check_part(DOCS / f"{name}.md", "diagram", f"```mermaid\n{mermaid.strip()}\n```")


@pytest.mark.parametrize("name", METHODS)
def test_the_options_of_each_method_are_those_of_its_function(name: str) -> None:
    create = METHODS[name].create
    sections = griffe.Docstring(inspect.getdoc(create) or "").parse("google", warnings=False)
    said = {
        arg.name: arg.description for section in sections if section.kind.value == "parameters" for arg in section.value
    }
    options = list(inspect.signature(create).parameters.values())[2:]
    rows = [[f"`{o.name}`", _line(said[o.name]), _values(o.annotation), f"`{_code(o.default)}`"] for o in options]
    check_part(DOCS / f"{name}.md", "options", table(["Option", "What it does", "Values", "Default"], rows))


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.ablations])
def test_the_ablations_of_each_method_are_those_it_has(name: str) -> None:
    rows = [
        [f"`{name}/{ablation}`", ", ".join(f"`{option}={_code(value)}`" for option, value in options.items())]
        for ablation, options in METHODS[name].ablations.items()
    ]
    check_part(DOCS / f"{name}.md", "ablations", table(["Name", "Options"], rows))


@pytest.mark.parametrize("name", METHODS)
def test_the_settings_of_each_method_are_those_its_nodes_read(name: str, graphs: dict[str, Any]) -> None:
    home = f"langgraph_rag.graphs.{name}"
    modules = {home, *(type(node.runnable.step).__module__ for node in graphs[name].nodes.values())}
    read = set().union(*map(_settings_read_in, modules)) - FOR_ALL
    defaults = sys.modules[home].DEFAULTS
    values = [f"`{setting}` ({_code(getattr(defaults, setting))})" for setting in SETTINGS if setting in read]
    check_part(DOCS / f"{name}.md", "settings", f"{', '.join(values)}.")


def test_the_page_of_settings_has_all_of_the_context() -> None:
    rows = [
        [f"`{setting}`", f"`{_code(about['default'])}`", _line(about["description"])]
        for setting, about in SETTINGS.items()
    ]
    check_part(DOCS / "settings.md", "settings", table(["Setting", "Default", "What it is"], rows))


@pytest.mark.parametrize("name", METHODS)
def test_the_readme_says_when_to_choose_a_method_as_the_method_does(name: str) -> None:
    rows = [line for line in (ROOT / "README.md").read_text().splitlines() if f"](docs/{name}.md)" in line]
    assert rows[0].startswith(f"| {METHODS[name].case} | ")


def test_the_costs_on_the_first_page_are_those_that_were_measured() -> None:
    cells = [
        line.strip("| ").split(" | ") for line in (DOCS / "cost.md").read_text().splitlines() if line.count(" | ") > 2
    ]
    rows = [[f"[{name}]({name}.md)", calls, tokens] for name, calls, *_, tokens in cells if name in METHODS]
    check_part(DOCS / "index.md", "costs", table(["Method", "Calls", "Tokens"], rows))


def test_the_page_of_the_command_line_is_its_help() -> None:
    command = get_command(app)
    help_text = get_docs_for_click(obj=command, ctx=command.context_class(command), name="langgraph-rag")  # type: ignore[arg-type]
    check_part(DOCS / "command-line.md", "help", _brief(help_text[help_text.index("\n## ") :].replace("  [", " [")))


def _brief(help_text: str) -> str:
    """Say once what several commands have, and leave settings to their page."""
    usage, heads = r"\*\*Usage\*\*:\s+```[^`]*```\n\n", r"\*\*\w+\*\*:\n\n"
    commands = re.sub(rf"{usage}|{heads}|^\* `--help.*\n|^\* .*\.\.\.\n", "", help_text, flags=re.MULTILINE)
    told = Counter(re.findall(r"^\* `--.*$", commands, re.MULTILINE))
    settings = {name.removesuffix("_s").replace("_", "-") for name in SETTINGS}
    common = [line for line, times in told.items() if times > 1 and _option(line) not in settings]
    set_per_run = {line for line, times in told.items() if times > 1 and _option(line) in settings}

    def brief(command: str) -> str:
        lines = command.rstrip().split("\n")
        also = [f"`--{_option(line)}`" for line in lines if line in common]
        also += ["all [settings](settings.md)"] if set_per_run.intersection(lines) else []
        kept = [line for line in lines if line not in common and line not in set_per_run]
        return "\n".join([*kept, *([f"* Also {', '.join(also)}."] if also else [])])

    parts = [
        brief(command.strip()) for command in re.split(r"^(?=##+ )", commands, flags=re.MULTILINE) if command.strip()
    ]
    return "\n\n".join([*parts, "## Options of several commands\n\n" + "\n".join(common)])


def _option(line: str) -> str:
    return found[1] if (found := re.match(r"\* `--([\w-]+)", line)) else ""


def test_every_error_is_in_the_page_of_troubles() -> None:
    ours = [
        error
        for error in _errors(RagError)
        if error.__module__.startswith("langgraph_rag") and error.__name__[0] != "_"
    ]
    rows = [
        [f"`{e.__name__}`", ", ".join(f"`{b.__name__}`" for b in e.__bases__), _line(e.__doc__ or "")] for e in ours
    ]
    check_part(DOCS / "troubleshooting.md", "errors", table(["Error", "Is a", "When"], rows))


def test_every_extra_is_in_the_page_of_installation() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    rows = re.findall(r"^\| (`.*`) \|", (DOCS / "installation.md").read_text(), re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(extras)


@pytest.mark.parametrize("package", [langgraph_rag, langgraph_rag.evaluation], ids=lambda package: package.__name__)
def test_every_public_name_is_in_the_reference(package: ModuleType) -> None:
    shown = re.findall(r"^::: ([\w.]+)$", (DOCS / "api.md").read_text(), re.MULTILINE)
    homes = {f"{public.__module__}.{public.__name__}" for name in package.__all__ if (public := getattr(package, name))}
    assert {home for home in homes if home not in shown and home.rpartition(".")[0] not in shown} == set()


def test_the_pages_of_results_show_the_figures_that_were_measured() -> None:
    """`python benchmarks/comparing.py` writes the figures and both pages; nobody edits either."""
    figures = ROOT / "benchmarks" / "results" / "comparing.json"
    measured = json.loads(figures.read_text(encoding="utf-8"))
    assert results_page.results_page(measured) == (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert results_page.readme_table(measured) in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_page_of_costs_shows_the_figures_that_were_measured() -> None:
    """`python benchmarks/tokens.py` writes the figures and the page; nobody edits either."""
    measured = json.loads((ROOT / "benchmarks" / "results" / "tokens.json").read_text(encoding="utf-8"))
    assert tokens.page(measured["figures"]) == tokens.PAGE.read_text(encoding="utf-8")


def test_pages_of_results_are_made_of_summaries() -> None:
    outcome: Any = dict.fromkeys(Outcome.__annotations__)
    answered = summarise([{**outcome, "em": 1.0, "f1": 0.5, "acc": 1.0, "answer": "x", "wall_seconds": 1.0}])  # type: ignore[typeddict-item]
    less: Any = {**answered, "f1": 40.0, "recall_at_5": 30.0, "calls": 3.0, "tokens": 99.0}
    whole = {**less, "recall_at_5": 50.0}
    rows = {results_page.DENSE: whole, "cirag": whole, "cirag/only-triples": less}
    figures = {
        "commit": "abc", "date": "2026-01-31", "machine": {"cores": 2, "cpu": "one"}, "questions": 2,
        "minutes": {"dense": 1.0, "methods": 2.4}, "data": {"2wiki": rows, "hotpotqa": rows},
    }  # fmt: skip

    assert "| cirag | 50.0 | 40.0 | 50.0 | 40.0 | 3.0 | 99 |" in results_page.readme_table(figures)
    assert "only-triples" not in results_page.readme_table(figures)
    shown = results_page.results_page(figures)
    assert "| cirag/only-triples | -20.0 | +0.0 | -20.0 | +0.0 |" in shown
    assert shown.index("## HotpotQA") < shown.index("## 2WikiMultiHopQA")
    assert "at commit abc on 2026-01-31: 2 cores (one)" in shown and "2 minutes for the methods." in shown
    readme = "before\n<!-- results -->\nold\n<!-- end of results -->\nafter\n"
    written = results_page.with_table(readme, figures)
    assert results_page.readme_table(figures) in written and "old" not in written and written.endswith("\nafter\n")
    assert results_page.with_table(written, figures) == written
    assert "<!-- results -->" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_of_the_readme_gives_the_answer_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert example is not None
    names: dict[str, Any] = {}
    exec(example[1], names)
    names["kb"].close()
    assert names["result"]["answer"] == re.search(r'result\["answer"\] +# "(.*)"', example[1])[1]  # type: ignore[index]


def _errors(error: type[RagError]) -> Iterator[type[RagError]]:
    yield error
    for kind in error.__subclasses__():
        yield from _errors(kind)


def _settings_read_in(module: str) -> set[str]:
    """Return the settings that a module reads from `context(...)`, at once or by way of `settings`."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {
        attribute.attr
        for attribute in ast.walk(tree)
        if isinstance(attribute, ast.Attribute)
        and attribute.attr in SETTINGS
        and ast.unparse(attribute.value).startswith(("context(", "settings"))
    }


def _values(annotation: Any) -> str:
    parts = [part for part in get_args(annotation) if part is not type(None)]
    if annotation == ChatModel:
        return "a chat model"
    if get_origin(annotation) is CompiledStateGraph:
        return "a compiled graph"
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{_code(value)}`" for value in parts)
    if annotation is bool:
        return "`True`, `False`"
    if getattr(get_origin(annotation), "__name__", "") == "Sequence":
        return f"some of {_values(parts[0])}"
    if parts:
        return ", ".join(map(_values, parts))
    return f"`{annotation.__name__}`"


def _code(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value).replace("'", '"')


def _line(text: str) -> str:
    return " ".join(text.split())
