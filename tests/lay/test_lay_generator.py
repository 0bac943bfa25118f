"""From a lay set to a generator that writes lay reports, on a random model of two layers."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from layman_rrg.set_reports import write_training_data

from radgauge.core.errors import InputError
from radgauge.lay.build import build_sets
from radgauge.lay.encoder import FindingEncoder
from radgauge.lay.refine import Refinement
from radgauge.lay.translators import EmbeddedTranslator

RECIPE = Path(__file__).parents[2] / "recipes" / "lay_generator" / "train.py"
REPORTS = {
    "1": "Small left pleural effusion.",
    "2": "Cardiomegaly.",
    "3": "No pneumothorax.",
    "kept": "Quixotic hila.",
    "bare": "Clear lungs.",
}


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    encoder = FindingEncoder()
    how = Refinement(EmbeddedTranslator(), ("fidelity",), encoder)
    build_sets(REPORTS, tmp_path / "sets", how=how, encoder=encoder)
    return tmp_path / "sets"


@pytest.fixture
def images(tmp_path: Path) -> Mapping[str, Sequence[str]]:
    image = pytest.importorskip("PIL.Image")
    found = {}
    for number, study in enumerate(("1", "2", "3", "kept")):
        path = tmp_path / f"{study}.png"
        image.fromarray(np.full((40, 36), 20 + 70 * number, np.uint8)).save(path)
        found[study] = [str(path)]
    return found


def test_training_sets_are_nested_and_hold_complete_lay_reports(
    sets: Path, images: Mapping[str, Sequence[str]], tmp_path: Path
) -> None:
    out = tmp_path / "data"
    written = write_training_data(sets, out, images=images, sizes=(2, 3, 4))
    assert written == [("professional_2", 2), ("lay_2", 2), ("professional_3", 3), ("lay_3", 3)]
    small, large = (json.loads((out / name / "llava.json").read_text("utf-8")) for name in ("lay_2", "lay_3"))
    assert large[:2] == small
    assert {record["study"] for record in large} == {
        "1",
        "2",
        "3",
    }  # neither the kept one nor the one without image
    assert large[0]["conversations"][0]["value"].startswith("<image>\n")
    captions = json.loads((out / "lay_3" / "filter_cap.json").read_text("utf-8"))["annotations"]
    assert [each["caption"] for each in captions] == [each["conversations"][1]["value"] for each in large]
    assert all((out / "image" / f"{each['image_id']}.jpg").is_file() for each in captions)
    with pytest.raises(InputError, match="fewer than the smallest set, 4"):
        write_training_data(sets, tmp_path / "more", images=images, sizes=(4,))


@pytest.mark.models
@pytest.mark.long
def test_a_tiny_model_learns_to_write_the_lay_reports(
    sets: Path, images: Mapping[str, Sequence[str]], tmp_path: Path
) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    recipe = _recipe()
    write_training_data(sets, tmp_path / "data", images=images, sizes=(3,))
    records = json.loads((tmp_path / "data/lay_3/llava.json").read_text("utf-8"))
    tokenizer = _tokenizer(transformers, [turn["value"] for each in records for turn in each["conversations"]])
    model = _model(torch, transformers, len(tokenizer))
    frozen = {name: each.clone() for name, each in model.named_parameters()}
    settings = recipe.Settings(
        epochs=60,
        batch=3,
        at_once=2,
        rate=0.02,
        rank=8,
        max_tokens=24,
        targets=("q_proj", "v_proj", "down_proj", "lm_head"),  # a random model has nothing to build on
    )
    losses = list(recipe.train(model, tokenizer, records, tmp_path / "data/image", settings))
    assert losses[-1] < 0.1 * losses[0]
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            assert torch.equal(parameter, frozen[name.replace(".layer.", ".")])
    for record in records:
        said = recipe.write(
            model,
            tokenizer,
            tmp_path / "data/image" / record["image"],
            settings,
            instruction=record["conversations"][0]["value"].removeprefix("<image>\n"),
        )
        assert said.split() == tokenizer.tokenize(record["conversations"][1]["value"])


def _recipe() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lay_generator_train", RECIPE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _tokenizer(transformers: Any, texts: Sequence[str]) -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    split = tokenizers.pre_tokenizers.Whitespace()
    words = {word for text in [*texts, "USER: \n ASSISTANT: "] for word, _ in split.pre_tokenize_str(text)}
    names = ["<pad>", "<eos>", "<unk>", "<image>", *sorted(words - {"image"})]
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({name: number for number, name in enumerate(names)}, unk_token="<unk>")
    )
    made.pre_tokenizer = split
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )


def _model(torch: Any, transformers: Any, words: int) -> Any:
    torch.manual_seed(0)
    vision = transformers.CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=28,
        patch_size=14,
    )
    text = transformers.LlamaConfig(
        vocab_size=words,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
    )
    config = transformers.LlavaConfig(
        vision_config=vision, text_config=text, image_token_index=3, vision_feature_layer=-1
    )
    return transformers.LlavaForConditionalGeneration(config)
