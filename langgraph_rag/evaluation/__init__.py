"""Evaluation: asks a graph many questions, scores the answers and passages, and reports the scores."""

from langgraph_rag.evaluation.comparison import Comparison, Difference, compare
from langgraph_rag.evaluation.judging import Judgement, judge, judgements_of, read_judgements
from langgraph_rag.evaluation.origin import Origin
from langgraph_rag.evaluation.outcomes import Configuration, Outcome, read_outcomes
from langgraph_rag.evaluation.pictures import draw_comparison
from langgraph_rag.evaluation.places import located
from langgraph_rag.evaluation.question_files import QuestionFileError
from langgraph_rag.evaluation.questions import Place, Question, load_questions
from langgraph_rag.evaluation.report import differences, markdown_table, overview, write_report
from langgraph_rag.evaluation.run_folder import OutcomesError
from langgraph_rag.evaluation.runner import evaluate
from langgraph_rag.evaluation.summary import Summary, by_type, summarise

__all__ = [
    "Comparison",
    "Configuration",
    "Difference",
    "Judgement",
    "Origin",
    "Outcome",
    "OutcomesError",
    "Place",
    "Question",
    "QuestionFileError",
    "Summary",
    "by_type",
    "compare",
    "differences",
    "draw_comparison",
    "evaluate",
    "judge",
    "judgements_of",
    "load_questions",
    "located",
    "markdown_table",
    "overview",
    "read_judgements",
    "read_outcomes",
    "summarise",
    "write_report",
]
