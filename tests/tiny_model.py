"""A language model of a few thousand weights with its own tokenizer, made in a second."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

_TEMPLATE = (
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
_LIKES = {'"': 20.0, "]": 10.0, "}": 10.0, "<end>": 10.0}
_TEXT = ['{"thought": "Ilse Tarrant directed Nine Tides.", "answer": "Ilse Tarrant"}', "Who died later? unknown"]


def make_tiny_model(folder: Path, *, context: int = 8192) -> Path:
    """Write a random model that likes to end its strings, lest it never came to an end."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, special_tokens=["<none>", "<end>"])
    tokenizer.train_from_iterator(_TEXT, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", chat_template=_TEMPLATE)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=context,
        eos_token_id=fast.eos_token_id,
        bos_token_id=None,
    )
    model = LlamaForCausalLM(config)
    likes = [[fast.convert_tokens_to_ids([sign]), bias] for sign, bias in _LIKES.items()]
    model.generation_config = GenerationConfig(eos_token_id=fast.eos_token_id, sequence_bias=likes)
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
