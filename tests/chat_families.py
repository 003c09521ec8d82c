"""Tiny chat models with templates of the forms that five families of models have, each made in a second."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from langgraph_rag.prompts import cirag, dualrag

_TEXTS = [cirag.INTEGRATE.instructions, dualrag.REASON.instructions, dualrag.SUMMARIZE.instructions] * 4


@dataclass(frozen=True)
class Family:
    """A family's template, its special tokens, and how it writes the system's and the user's message and the reply.

    `ends` are the stop tokens of the model beside the one of the tokenizer. `spaced` is whether a word begins with its
    space, as with SentencePiece.
    """

    template: str
    special: tuple[str, ...]
    stop: str
    context: str
    written: str
    ends: tuple[str, ...] = ()
    spaced: bool = False


FAMILIES = {
    # an empty thought in the last turn only, and in what asks for a reply
    "chatml": Family(
        "{% for m in messages %}<|im_start|>{{ m.role }}\n"
        "{% if m.role == 'assistant' and loop.last %}<think>\n\n</think>\n\n{% endif %}{{ m.content }}<|im_end|>\n"
        "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
        "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}",
        ("<|im_start|>", "<|im_end|>", "<think>", "</think>"),
        "<|im_end|>",
        "<|im_start|>system\n{s}<|im_end|>\n<|im_start|>user\n{u}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
        "{r}<|im_end|>",
    ),
    # a beginning of text, and roles between marks
    "headers": Family(
        "<|begin|>{% for m in messages %}<|head|>{{ m.role }}<|/head|>\n\n{{ m.content | trim }}<|eot|>{% endfor %}"
        "{% if add_generation_prompt %}<|head|>assistant<|/head|>\n\n{% endif %}",
        ("<|begin|>", "<|head|>", "<|/head|>", "<|eot|>"),
        "<|eot|>",
        "<|begin|><|head|>system<|/head|>\n\n{s}<|eot|><|head|>user<|/head|>\n\n{u}<|eot|><|head|>assistant<|/head|>\n\n",
        "{r}<|eot|>",
    ),
    # no system message, and another name for the assistant
    "turns": Family(
        "<bos>{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
        "{% for m in messages %}<turn>{{ 'model' if m.role == 'assistant' else m.role }}\n"
        "{{ m.content | trim }}</turn>\n{% endfor %}{% if add_generation_prompt %}<turn>model\n{% endif %}",
        ("<bos>", "<eos>", "<turn>", "</turn>"),
        "<eos>",
        "<bos><turn>user\n{s}\n\n{u}</turn>\n<turn>model\n",
        "{r}</turn>",
        ends=("</turn>",),
    ),
    # the system message within the user's, and a space before the reply
    "instructions": Family(
        "<s>{% set system = messages[0].content + '\n\n' if messages[0].role == 'system' else '' %}"
        "{% for m in messages %}{% if m.role == 'user' %}[INST] {{ system }}{{ m.content }}[/INST]"
        "{% elif m.role == 'assistant' %} {{ m.content }}</s>{% endif %}{% endfor %}",
        ("<s>", "</s>", "[INST]", "[/INST]"),
        "</s>",
        "<s>[INST] {s}\n\n{u}[/INST]",
        " {r}</s>",
        spaced=True,
    ),
    # a stop token that only the model knows
    "ends": Family(
        "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}<|end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>\n{% else %}<|endoftext|>{% endif %}",
        ("<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|endoftext|>"),
        "<|endoftext|>",
        "<|system|>\n{s}<|end|>\n<|user|>\n{u}<|end|>\n<|assistant|>\n",
        "{r}<|end|>",
        ends=("<|end|>",),
    ),
}


def make_family_model(folder: Path, name: str, *, context: int = 8192) -> Path:
    """Write a random model with the template of a family, which likes to end its strings and lists."""
    family = FAMILIES[name]
    tokenizer = Tokenizer(models.BPE())
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    if family.spaced:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        word_start, spaced = decoders.Replace("\u2581", " "), decoders.Strip(" ", 1, 0)
        tokenizer.decoder = decoders.Sequence([word_start, decoders.ByteFallback(), decoders.Fuse(), spaced])
        alphabet = [chr(code) for code in range(32, 127)] + [*"\në—“”"]
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=900, initial_alphabet=alphabet, special_tokens=[*family.special])
    tokenizer.train_from_iterator(_TEXTS, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=family.stop, chat_template=family.template)
    fast.add_special_tokens({"additional_special_tokens": [*family.special]})
    torch.manual_seed(0)
    ends = fast.convert_tokens_to_ids([family.stop, *family.ends])
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=context,
        eos_token_id=fast.eos_token_id,
        bos_token_id=None,
        initializer_range=0.3,  # an adapter can turn what the head reads
    )
    model: Any = LlamaForCausalLM(config)
    likes = {'"': 20.0, "]": 10.0, "}": 10.0, (family.ends or (family.stop,))[0]: 10.0}
    biases = [[fast.convert_tokens_to_ids([sign]), bias] for sign, bias in likes.items()]
    model.generation_config = GenerationConfig(eos_token_id=ends, sequence_bias=biases)
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
