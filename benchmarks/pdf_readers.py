"""Compares readers of PDF files: how much of what people see is read whole, and how long a page takes.

A fragment is whole if a paragraph of the reader's text has it, with spaces, quotes and dashes unified. The files are
those of Debian 12's packages r-cran-lme4, -mvtnorm, -rcpp, -sandwich, -strucchange, -survival, -vcd, -zoo, glpk-doc and
libtasn1-doc, unpacked (`apt-get download`, `dpkg-deb -x`); the other readers are installed for this comparison only.

python benchmarks/pdf_readers.py FOLDER
"""

import argparse
import re
import time
import unicodedata
from collections.abc import Callable, Iterator
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from measuring import report

from langgraph_rag.tools.documents.pdf import read_pdf

Reader = Callable[[bytes], list[str]]
_FRAGMENTS: dict[str, dict[str, list[str]]] = {
    "MVT_Rnews": {
        "sentence": [
            "correlation matrix cr of Cβ. Finally, we are interested in the 95% quantile of W.",
            "Robust integration error bounds are obtained by introducing additional shifts",
            "the investigators were interested in a simultaneous confidence intervals for the following pairwise",
        ],
        "hyphen": ["two functions: pmvnorm for the computation of multivariate normal probabilities and"],
    },
    "lmer": {
        "sentence": [
            "This article is organized into four main sections (Sections 2, 3, 4, and 5), each of which corresponds to",
            "Just as a linear model is described by the distribution of a vector-valued random response variable",
        ],
        "hyphen": [
            "with structure in the residuals (various forms of heteroscedasticity",
            "remains an active area of research with many open problems",
            "Z⊤Z will be block diagonal.",
        ],
        "raised": ["multivariate normal, Y ∼ N (Xβ + o, σ^2W^−1)"],
    },
    "strucplot": {
        "sentence": ["whereas the parameter functions (created by spacing_foo () and shading_foo ())"],
        "hyphen": [
            "Figure 5 shows the hierarchical relationship between the various components",
            "is passed as “hyperparameters” to strucplot()",
        ],
        "row": ["Male Black 32 11 10 3", "Brown 66 34 29 14", "Blond 4 64 5 8"],
    },
    "Rcpp-quickref": {
        "sentence": ["This document provides short code snippets that are helpful for using the Rcpp"],
        "column": ["// If you experience compiler errors, please check // that you have an appropriate version of"],
        "hyphen": ["(Eddelbuettel et al., 2022; Eddelbuettel and François, 2011; Eddelbuettel, 2013)"],
    },
    "Rcpp-introduction": {
        "column": [
            "Based on the C language, it uses a number of macros and other low-level constructs to exchange",
            "has established itself as both an increasingly dominant facility for data analysis, and the lingua franca",
            "This last addition is profound. If and when suitable and performant software for a task exists,",
            "The macOS can offer additional challenges as toolchain elements can be obtained in",
            "While such a simple expression is not interesting in itself, it serves a useful purpose",
            "Typed languages generally offer benefits in terms of both correctness (as it is harder to",
        ],
        "hyphen": ["process are available in-depth when the verbose option of the function is set"],
    },
    "zoo-quickref": {
        "sentence": ["but may lead to inferior naming in some situations hence merge is preferred"],
        "row": ["2005-02-11 43.79 43.78", "2005-03-10 43.58 43.67", "2005-02-28 43.64 43.69"],
    },
    "glpk": {
        "sentence": [
            "It is a subprogram that transforms the original LP problem specified in the problem object to an",
            "However, on performing re-optimization the presolver should be disabled.",
            "GLP_ENOPFS The LP problem instance has no primal feasible solution (only if the LP presolver is used).",
        ],
    },
    "compete": {
        "row": ["sex=F, (s0) 631 0 9.853608", "sex=M, death 753 490 10.260294", "(s0) 115 860 409"],
    },
    "sandwich-CL": {
        "sentence": ["This shows that institutional owners are have a small but positive impact in both submodels"],
        "row": [
            "count_log(sales) 0.0126165 0.0322071 0.0499917 0.0612687",
            "count_(Intercept) 0.2249894 0.6034277 0.8944541 0.8667209",
            "zero_institutions 0.0013508 0.0013473 0.0020870 0.0020777",
        ],
        "hyphen": ["ordinary or weighted least squares regression models"],
    },
    "libtasn1": {
        "sentence": [
            "Creates a length-value DER encoding for the input data as it would have been for a BIT STRING.",
            "This function does not return any value because it is expected that der_len will contain enough bytes",
        ],
        "row": ["bit len: number of meaningful bits in STR."],
    },
    "Theory": {
        "sentence": ["determining the solution to a penalized, weighted least squares (PWLS) problem."],
        "hyphen": [
            "such problems must be solved repeatedly during the optimization process",
            "the q-dimensional random effects vector, B",
        ],
    },
    "strucchange-intro": {"hyphen": ["for testing for structural change in linear regression models"]},
}  # fmt: skip
_ALIKE = str.maketrans(
    {**dict.fromkeys("‘’", "'"), **dict.fromkeys("“”", '"'), **dict.fromkeys("‐‑–—−", "-"), "\ufffe": "-"}
)


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder with the PDF files, also in folders below")
    folder = parser.parse_args().folder
    files = {name: next(folder.rglob(f"{name}.pdf")).read_bytes() for name in _FRAGMENTS}
    kinds = sorted({kind for own in _FRAGMENTS.values() for kind in own})
    of_kind = {kind: sum(len(own.get(kind, [])) for own in _FRAGMENTS.values()) for kind in kinds}
    rows = [("reader", ", ".join(f"{kind} ({count})" for kind, count in of_kind.items()), "ms a page")]
    results: dict[str, Any] = {}
    for reader, read in _readers():
        whole, pages, seconds = dict.fromkeys(kinds, 0), 0, 0.0
        missed: list[str] = []
        for name, written in files.items():
            begun = time.process_time() + _of_children()
            texts = read(written)
            seconds += time.process_time() + _of_children() - begun
            pages += len(texts)
            paragraphs = [_unified(part) for text in texts for part in text.split("\n\n")]
            for kind, fragments in _FRAGMENTS[name].items():
                lost = [one for one in fragments if not any(_unified(one) in part for part in paragraphs)]
                whole[kind] += len(fragments) - len(lost)
                missed += lost
        milliseconds = 1000 * seconds / pages
        results[reader] = {"whole": whole, "pages": pages, "milliseconds_a_page": milliseconds, "missed": missed}
        rows.append((reader, " / ".join(map(str, whole.values())), f"{milliseconds:.0f}"))
    report("pdf_readers", folder, {"fragments": of_kind, "readers": results}, rows)


def _of_children() -> float:
    """Return the seconds that the processor worked for other processes that this one started."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _unified(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text.translate(_ALIKE))).strip()


def _readers() -> Iterator[tuple[str, Reader]]:
    """Yield the names of the readers that are installed, each with a function from a file to the texts of its pages."""
    yield "langgraph_rag", lambda written: read_pdf(written).pages
    pypdf, plumber, miner, pdfium = (
        _module(name) for name in ("pypdf", "pdfplumber", "pdfminer.high_level", "pypdfium2")
    )
    if pypdf:
        yield "pypdf", lambda written: [page.extract_text() for page in pypdf.PdfReader(BytesIO(written)).pages]
        yield (
            "pypdf, layout",
            lambda written: [
                page.extract_text(extraction_mode="layout") for page in pypdf.PdfReader(BytesIO(written)).pages
            ],
        )
    if plumber:
        yield (
            "pdfplumber",
            lambda written: [page.extract_text(x_tolerance=1.5) for page in plumber.open(BytesIO(written)).pages],
        )
    if miner:
        yield "pdfminer.six", lambda written: miner.extract_text(BytesIO(written)).split("\f")[:-1]
    if pdfium:
        yield (
            "pypdfium2",
            lambda written: [
                page.get_textpage().get_text_range().replace("\r", "") for page in pdfium.PdfDocument(written)
            ],
        )


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None


if __name__ == "__main__":
    main()
