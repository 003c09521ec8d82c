"""Subtitles (WebVTT, SubRip) as a running text with its speakers."""

import re
from html import unescape

from langgraph_rag.tools.ingest.splitting import turns_of

_SUBTITLES = re.compile(r"\s*(?:WEBVTT(?:[ \t].*)?\n|(?:\d{1,6}[ \t]*\n)?[\d:]{4,9}[.,]\d{3}[ \t]+-->)")
_BEFORE_CUE = re.compile(  # its name or number, and its times
    r"(?:^[ \t]*\n(?:^\S.*\n)?)?^[ \t]*[\d:]{4,9}[.,]\d{3}[ \t]+-->.*$", re.MULTILINE
)
_REMARK = re.compile(r"\n[ \t]*\n(?:NOTE|STYLE|REGION)\b.*(?:\n.*\S.*)*")
_VOICE = re.compile(r"<v(?:\.\S{1,30})?[ \t]([^<>\n]{1,60})>")
_TAG = re.compile(r"</?(?:[bciuv]|ruby|rt|lang|font|\d[\d:.]+)\b[^<>\n]*>|\{\\[^{}\n]*\}")
_BEGINS = ("- ", "\u2013 ", "\u2014 ", ">>")  # what somebody else says


def are_subtitles(text: str) -> bool:
    """Return whether a text is of subtitles, which may be in a file with another ending."""
    return _SUBTITLES.match(text) is not None


def without_times(subtitles: str) -> str:
    """Return what subtitles say: a line for each turn, without times and marks, and lines that are shown again."""
    cues: list[str] = []
    named = set[str]()
    speaker, last = "", ""
    for cue in _BEFORE_CUE.split(_REMARK.sub("\n\n", subtitles))[1:]:
        said = []
        for line in cue.split("\n"):
            voice = _VOICE.match(line.strip())
            text = " ".join(unescape(_TAG.sub("", line)).split())
            if text and text != last:
                last = text
                if voice and voice[1].strip() != speaker:
                    speaker = voice[1].strip()
                    text = f"{speaker}: {text}"
                    named.add(text)
                said.append(text)
        cues += ["\n".join(said)] if said else []
    text = "\n\n".join(cues)
    turns = turns_of(text)
    told = ""
    for found in re.finditer(r".+", text):
        begins = found.start() in turns or found[0] in named or found[0].startswith(_BEGINS)
        told += ("\n" if begins else " ") + found[0]
    return told.strip()
