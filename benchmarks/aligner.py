"""Measures what a trained aligner gains for KiRAG, against the knowledge base's own embedder.

python benchmarks/aligner.py ROOT ALIGNER

ALIGNER is a folder that `langgraph-rag train-aligner` wrote, trained on other questions than those in ROOT.
"""

import argparse
import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import data_sets, indexed, report

from langgraph_rag import KnowledgeBase, create_kirag, load_embeddings, load_model
from langgraph_rag.evaluation.questions import load_questions
from langgraph_rag.evaluation.runner import evaluate
from langgraph_rag.evaluation.summary import Summary, summarise
from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder with a folder for each data set")
    parser.add_argument("aligner", type=Path, help="folder of the trained aligner")
    parser.add_argument("--kb", type=Path, help="folder to keep the indexes in for the next run")
    arguments = parser.parse_args()

    found = {folder.name: _ask(folder, arguments.kb, arguments.aligner) for folder in data_sets(arguments.root)}
    rows = [
        (f"{name}, {aligner}", f"{row['recall_at_5']} / {row['f1']}", "")
        for name, summaries in found.items()
        for aligner, row in summaries.items()
    ]
    report("aligner", arguments.root, found, [("data, aligner", "R@5 / F1", ""), *rows])


def _ask(data: Path, kept: Path | None, trained: Path) -> dict[str, Summary]:
    llm, asked, minilm = load_model("offline"), load_questions(data / "questions.jsonl"), MiniLMEmbeddings()
    with (
        TemporaryDirectory() as folder,
        indexed(data, kept and kept / data.name, minilm) as path,
        KnowledgeBase.open(path, minilm) as kb,
    ):
        aligner = load_embeddings(str(trained))
        graphs = {
            "own": create_kirag(llm, kb),
            "own, whole chain only": create_kirag(llm, kb, aligner="untrained"),
            "trained": create_kirag(llm, kb, aligner=aligner),
            "trained, best score": create_kirag(llm, kb, aligner=aligner, ranking="best_score"),
        }
        return {
            name: summarise(asyncio.run(evaluate(graph.compile(), asked, Path(folder) / name)))
            for name, graph in graphs.items()
        }


if __name__ == "__main__":
    main()
