"""The command line: `langgraph-rag index | ask | chat | info | methods | eval | demo`."""

import asyncio
import inspect
import json
import sys
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from tqdm.auto import tqdm

from langgraph_rag.chat import serve
from langgraph_rag.checkpoints import checkpoints_in
from langgraph_rag.context import Context, Search
from langgraph_rag.errors import RagError, UnknownNameError
from langgraph_rag.evaluation.judging import Judgement, judge
from langgraph_rag.evaluation.outcomes import Configuration, Outcome
from langgraph_rag.evaluation.pictures import draw_comparison
from langgraph_rag.evaluation.questions import Question, load_questions
from langgraph_rag.evaluation.report import Summary, markdown_table, summarise, write_report
from langgraph_rag.evaluation.runner import evaluate
from langgraph_rag.methods import METHODS, create, named
from langgraph_rag.models import MODEL_FORMS, load_model
from langgraph_rag.narration import narrate
from langgraph_rag.nodes.extract_triples import ModelExtractor
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.documents import to_passages
from langgraph_rag.tools.embeddings import load_embeddings
from langgraph_rag.tools.extraction import TripleExtractor
from langgraph_rag.tools.files import READABLE, read_documents
from langgraph_rag.tools.knowledge_base import KnowledgeBase

app = typer.Typer(
    help="Multi-hop question answering over your own documents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

KbFolder = Annotated[Path, typer.Option("--kb", help="Folder of the knowledge base.")]
MethodName = Annotated[str, typer.Option("--method", help=f"One of: {', '.join(METHODS)}.")]
ModelName = Annotated[str, typer.Option("--model", help=f"One of: {'; '.join(MODEL_FORMS)}.")]
SearchName = Annotated[Search, typer.Option("--search", help="How passages are found.")]
EmbeddingsName = Annotated[
    str | None,
    typer.Option("--embeddings", help="Embedder by name or folder; all-MiniLM-L6-v2 by default. Always the same one."),
]
TopK = Annotated[int, typer.Option("--top-k", min=1, help="Passages retrieved per query.")]
MaxSteps = Annotated[
    int | None, typer.Option("--max-steps", min=1, help="Rounds at most; as many as in the method's paper by default.")
]
MaxModelCalls = Annotated[int | None, typer.Option("--max-model-calls", min=1, help="Model calls per question.")]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", min=1, help="Tokens per question, read and written.")]
Cache = Annotated[Path | None, typer.Option("--cache", help="File that keeps the model's replies.")]
Deadline = Annotated[float | None, typer.Option("--deadline", min=0.001, help="Seconds per question.")]

_DEFAULTS = Context()
_DEMO_QUESTIONS = ("q01", "q05", "q08", "q10", "q04")  # one or two of each kind that has an answer


@app.command()
def index(
    sources: Annotated[list[Path], typer.Argument(help=f"Files ({', '.join(READABLE)}) or folders of such files.")],
    kb: KbFolder,
    model: Annotated[
        str | None, typer.Option(help="Model that reads triples out of the passages; sentence rules by default.")
    ] = None,
    embeddings: EmbeddingsName = None,
    embed_triples: Annotated[
        bool, typer.Option("--embed-triples", help="Embed the triples now instead of when they are first needed.")
    ] = False,
) -> None:
    """Add documents to a knowledge base, making it if need be; an interrupted run goes on where it stopped."""
    documents = to_passages(read_documents(sources))  # before the folder is made: bad documents leave nothing behind
    extractor: TripleExtractor | None = ModelExtractor(load_model(model)) if model else None
    with KnowledgeBase.open(kb, _embedder(embeddings), extractor=extractor) as base:
        added = base.add(documents)
        if embed_triples:
            base.embed_triples()
        typer.echo(f"{added['added']} passages added, {added['unchanged']} were there already.")
        for number, what in ((added["without_triples"], "gave no triples"), (added["failed"], "could not be read")):
            if number:
                typer.echo(f"warning: {number} passages {what}.", err=True)
        _show(dict(base.info()))


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    kb: KbFolder,
    method_name: MethodName = "cirag",
    model: ModelName = "offline",
    embeddings: EmbeddingsName = None,
    search: SearchName = _DEFAULTS.search,
    top_k: TopK = _DEFAULTS.top_k,
    max_steps: MaxSteps = None,
    max_model_calls: MaxModelCalls = None,
    max_tokens: MaxTokens = None,
    deadline: Deadline = None,
    cache: Cache = None,
    checkpoints: Annotated[
        Path | None, typer.Option(help="File to keep the steps in (SQLite), so that a stopped question can go on.")
    ] = None,
    thread: Annotated[
        str | None, typer.Option(help="Name of the question in that file; asked again, it goes on where it stopped.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Answer a question, showing the steps as they happen, then the answer with its evidence."""
    if (checkpoints is None) != (thread is None):
        raise typer.BadParameter("--checkpoints and --thread go together: give both or none")
    context = Context(
        search=search,
        top_k=top_k,
        max_steps=max_steps,
        max_model_calls=max_model_calls,
        max_tokens=max_tokens,
        deadline_s=deadline,
    )
    with KnowledgeBase.open(kb, _embedder(embeddings), create=False) as base:
        graph = create(method_name, load_model(model, cache=cache), base)
        if checkpoints is None or thread is None:
            result = _run(graph.compile(), question, context, show=not as_json)
        else:
            with checkpoints_in(checkpoints) as saver:
                kept = graph.compile(checkpointer=saver)
                result = _run(kept, question, context, show=not as_json, thread=f"{method_name}/{thread}")
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        _show_answer(result)


@app.command()
def chat(
    kb: KbFolder,
    method_name: MethodName = "cirag",
    model: ModelName = "offline",
    embeddings: EmbeddingsName = None,
    cache: Cache = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but the default lets others use the page.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 takes a free one.")] = 8501,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Serve a chat page: ask, watch the steps, look into the evidence, add documents."""
    if method_name not in METHODS:
        raise UnknownNameError("method", method_name, list(METHODS))
    load_model(model, cache=cache)  # a name or a file that cannot be used is told here, not in the page
    with KnowledgeBase.open(kb, _embedder(embeddings)) as base:
        serve(base, method=method_name, model=model, cache=cache, host=host, port=port, show=browser)


@app.command()
def info(kb: KbFolder, embeddings: EmbeddingsName = None) -> None:
    """Show what a knowledge base holds and how it was made."""
    with KnowledgeBase.open(kb, _embedder(embeddings), create=False) as base:
        _show(dict(base.info()))


@app.command("methods")
def show_methods() -> None:
    """List the methods with their papers, nodes, options and ablations."""
    with TemporaryDirectory() as folder, KnowledgeBase.open(folder) as base:
        for name, method in METHODS.items():
            graph = create(name, load_model("offline"), base)
            options = list(inspect.signature(method.create).parameters)[2:]
            typer.secho(name, bold=True)
            _show(
                {
                    "paper": method.paper,
                    "nodes": ", ".join(graph.nodes),
                    "options": ", ".join(options) or "none",
                    "ablations": ", ".join(method.ablations) or "none",
                },
                indent=2,
            )


@app.command("eval")
def evaluate_methods(
    kb: KbFolder,
    questions: Annotated[Path, typer.Option(help="JSON lines with id, question, answers, supporting_ids.")],
    out: Annotated[Path, typer.Option(help="Folder for the outcomes and the report.")],
    method_names: Annotated[
        str, typer.Option("--method", help="Methods, separated by commas; all; or ablations, which is all with theirs.")
    ] = "cirag",
    model: ModelName = "offline",
    embeddings: EmbeddingsName = None,
    search: SearchName = _DEFAULTS.search,
    top_k: TopK = _DEFAULTS.top_k,
    max_steps: MaxSteps = _DEFAULTS.max_steps,
    max_model_calls: MaxModelCalls = None,
    max_tokens: MaxTokens = None,
    deadline: Deadline = None,
    cache: Cache = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Ask only the first so many.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Questions under way at once.")] = 1,
    judge_name: Annotated[
        str | None, typer.Option("--judge", help="Model that judges the answers (Acc†); none by default.")
    ] = None,
) -> None:
    """Ask many questions and score the answers and the passages; a stopped run goes on where it stopped."""
    asked, names = load_questions(questions, limit), named(method_names)
    context = Context(
        search=search,
        top_k=top_k,
        max_steps=max_steps,
        max_model_calls=max_model_calls,
        max_tokens=max_tokens,
        deadline_s=deadline,
    )
    rows: dict[str, Summary] = {}
    with KnowledgeBase.open(kb, _embedder(embeddings), create=False) as base:
        llm = load_model(model, cache=cache)
        judging = load_model(judge_name, cache=cache) if judge_name else None
        for name in names:
            configuration = Configuration(method=name, model=model, knowledge_base=str(kb))
            graph, folder = create(name, llm, base).compile(), out if len(names) == 1 else out / name
            outcomes = _evaluate(graph, asked, folder, context, configuration, concurrency)
            judgements = _judge(judging, str(judge_name), outcomes, folder, concurrency) if judging else []
            rows[name] = summarise(outcomes, judgements)
    write_report(rows, out)
    typer.echo(markdown_table(rows))
    if len(names) > 1:
        draw_comparison(rows, out)
    typer.echo(f"Outcomes and report are in {out}.")


def _embedder(name: str | None) -> Embeddings | None:
    return load_embeddings(name) if name else None


def _evaluate(
    graph: Any, asked: list[Question], out: Path, context: Context, configuration: Configuration, concurrency: int
) -> list[Outcome]:
    with tqdm(total=len(asked), desc=configuration["method"], unit="question") as bar:

        def advance(outcome: Outcome) -> None:
            bar.update()
            if outcome["error"]:
                tqdm.write(f"failed: {outcome['id']}: {outcome['error']}", file=sys.stderr)

        outcomes = asyncio.run(
            evaluate(
                graph,
                asked,
                out,
                context=context,
                configuration=configuration,
                concurrency=concurrency,
                on_result=advance,
            )
        )
        bar.update(len(asked) - bar.n)  # answered by an earlier run
    return outcomes


def _judge(llm: BaseChatModel, name: str, outcomes: list[Outcome], out: Path, concurrency: int) -> list[Judgement]:
    with tqdm(desc=f"judged by {name}", unit="answer") as bar:

        def advance(judgement: Judgement) -> None:
            bar.update()
            if judgement["error"]:
                tqdm.write(f"judge failed: {judgement['id']}: {judgement['error']}", file=sys.stderr)

        return asyncio.run(judge(llm, name, outcomes, out, concurrency=concurrency, on_result=advance))


@app.command()
def demo(kb: KbFolder = Path("demo_kb")) -> None:
    """Index the sample corpus and answer five of its questions with the offline model, step by step."""
    with resources.as_file(resources.files("langgraph_rag") / "sample") as folder:
        corpus, questions = read_documents([folder / "corpus.jsonl"]), load_questions(folder / "questions.jsonl")
    chosen = [question for id_ in _DEMO_QUESTIONS for question in questions if question["id"] == id_]
    right = 0
    with KnowledgeBase.open(kb) as base:
        base.add(corpus)
        _show(dict(base.info()))
        graph = create("cirag", load_model("offline"), base).compile()
        for asked in chosen:
            typer.secho(f"\n{'-' * 100}\nQuestion: {asked['question']}", bold=True)
            result = _run(graph, asked["question"], None, show=True)
            _show_answer(result)
            fits = result["answer"].casefold() in [answer.casefold() for answer in asked["answers"]]
            right += fits
            typer.echo(f"Expected: {' / '.join(asked['answers'])} ({'right' if fits else 'wrong'})")
    typer.echo(f"\n{right} of {len(chosen)} answers are right. Ask your own: langgraph-rag ask QUESTION --kb {kb}")


def _run(
    graph: Any, question: str, context: Context | None, *, show: bool, thread: str | None = None
) -> dict[str, Any]:
    asked: dict[str, str] | None = {"question": question}
    options: dict[str, Any] = {"context": context, "stream_mode": ["custom", "values"]}
    if thread is not None:
        options |= {"config": {"configurable": {"thread_id": thread}}, "durability": "sync"}
        stopped = graph.get_state(options["config"])
        if stopped.next and stopped.values.get("question") == question.strip():
            asked = None
            if show:
                typer.echo(f"Going on with {', '.join(stopped.next)}.")
    result: dict[str, Any] = {}
    for mode, chunk in graph.stream(asked, output_keys=graph.output_channels, **options):
        if mode == "values":
            result = chunk
        elif show and (line := narrate(chunk)):
            typer.echo(line)
    return result


def _show_answer(result: dict[str, Any]) -> None:
    typer.secho(f"\nAnswer: {result['answer']}", bold=True, fg="yellow" if is_refusal(result["answer"]) else "green")
    for number, evidence in enumerate(result["evidence"], start=1):
        typer.echo(f"  [{number}] {' | '.join(evidence['triple']) or evidence['title']}")
        typer.echo(
            f"      {evidence['title']} ({evidence['passage_id']}), step {evidence['step']}: {evidence['sentence']}"
        )
    usage = result["usage"]
    answered_from = f"  answered from: {result['granularity']}; " if "granularity" in result else "  "
    typer.echo(
        f"{answered_from}{usage['calls']} model calls, "
        f"{usage['input_tokens'] + usage['output_tokens']} tokens, {usage['seconds']:.2f} s"
        + (f"; stopped by {usage['stopped_by']}" if usage["stopped_by"] else "")
    )


def _show(properties: dict[str, Any], indent: int = 0) -> None:
    width = max(map(len, properties))
    for name, value in properties.items():
        typer.echo(f"{' ' * indent}{name.replace('_', ' '):<{width}}  {value}")


def main() -> None:
    """Run the command line; errors of the package end it with a message and exit code 2."""
    try:
        app()
    except RagError as error:
        typer.secho(f"error: {error}", fg="red", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("stopped; the same command goes on from here", err=True)
        sys.exit(130)
