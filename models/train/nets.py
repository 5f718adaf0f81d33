"""The three small networks in transformers' own classes: configs, saving in the published layout, and text helpers."""

from __future__ import annotations

import json
import pathlib

import torch
from tokenizers import Tokenizer
from transformers import (CLIPConfig, CLIPModel, GroundingDinoConfig, GroundingDinoForObjectDetection, SamConfig, SamModel,
                          SwinConfig)

import vocabulary

DEMO = pathlib.Path(__file__).resolve().parent.parent / "demo"
DINO_SHORT, DINO_LONG = 160, 240
CLIP_SIDE, SAM_SIDE = 64, 128
MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
CLIP_MEAN, CLIP_DEVIATION = [0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]


def clip_config(tok: Tokenizer) -> CLIPConfig:
    vocab = tok.get_vocab()
    text = dict(vocab_size=len(vocab), hidden_size=96, intermediate_size=288, projection_dim=64, num_hidden_layers=2, num_attention_heads=4,
                max_position_embeddings=77, hidden_act="quick_gelu", bos_token_id=vocab["<|startoftext|>"], eos_token_id=vocab["<|endoftext|>"],
                pad_token_id=vocab["<|endoftext|>"])
    vision = dict(hidden_size=128, intermediate_size=384, projection_dim=64, num_hidden_layers=4, num_attention_heads=4, image_size=CLIP_SIDE,
                  patch_size=8, hidden_act="quick_gelu")
    return CLIPConfig(text_config=text, vision_config=vision, projection_dim=64)


def sam_config() -> SamConfig:
    grid = SAM_SIDE // 8
    vision = dict(hidden_size=96, output_channels=64, num_hidden_layers=4, num_attention_heads=4, image_size=SAM_SIDE, patch_size=8, mlp_ratio=3,
                  window_size=8, global_attn_indexes=[1, 3], num_pos_feats=32, mlp_dim=288)
    prompt = dict(hidden_size=64, image_size=SAM_SIDE, patch_size=8, mask_input_channels=8, image_embedding_size=grid)
    decoder = dict(hidden_size=64, mlp_dim=192, num_hidden_layers=2, num_attention_heads=4, iou_head_hidden_dim=64)
    return SamConfig(vision_config=vision, prompt_encoder_config=prompt, mask_decoder_config=decoder)


def dino_config(tok: Tokenizer) -> GroundingDinoConfig:
    swin = SwinConfig(embed_dim=24, depths=[1, 2, 4, 1], num_heads=[1, 2, 4, 8], window_size=7, mlp_ratio=2.0, drop_path_rate=0.0,
                      out_indices=[2, 3, 4])
    bert = dict(model_type="bert", vocab_size=tok.get_vocab_size(), hidden_size=64, num_hidden_layers=1, num_attention_heads=4,
                intermediate_size=128, max_position_embeddings=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return GroundingDinoConfig(backbone_config=swin, text_config=bert, num_queries=30, encoder_layers=2, encoder_ffn_dim=192,
                               encoder_attention_heads=4, decoder_layers=2, decoder_ffn_dim=192, decoder_attention_heads=4, d_model=64,
                               dropout=0.0, attention_dropout=0.0, fusion_dropout=0.0, fusion_droppath=0.0, max_text_len=64,
                               use_pretrained_backbone=False, auxiliary_loss=False)


PREPROCESSORS = {
    "clip": {"crop_size": {"height": CLIP_SIDE, "width": CLIP_SIDE}, "do_center_crop": True, "do_convert_rgb": True, "do_normalize": True,
             "do_rescale": True, "do_resize": True, "image_mean": CLIP_MEAN, "image_processor_type": "CLIPImageProcessor",
             "image_std": CLIP_DEVIATION, "resample": 3, "rescale_factor": 1 / 255, "size": {"shortest_edge": CLIP_SIDE}},
    "sam": {"do_convert_rgb": True, "do_normalize": True, "do_pad": True, "do_rescale": True, "do_resize": True, "image_mean": MEAN,
            "image_processor_type": "SamImageProcessor", "image_std": DEVIATION, "pad_size": {"height": SAM_SIDE, "width": SAM_SIDE},
            "processor_class": "SamProcessor", "resample": 2, "rescale_factor": 1 / 255, "size": {"longest_edge": SAM_SIDE}},
    "grounding-dino": {"do_convert_annotations": True, "do_normalize": True, "do_pad": True, "do_rescale": True, "do_resize": True,
                       "format": "coco_detection", "image_mean": MEAN, "image_processor_type": "GroundingDinoImageProcessor",
                       "image_std": DEVIATION, "processor_class": "GroundingDinoProcessor", "resample": 2, "rescale_factor": 1 / 255,
                       "size": {"shortest_edge": DINO_SHORT, "longest_edge": DINO_LONG}},
}


def fresh(name: str):
    """A network with random weights, and its tokenizer (None for sam)."""
    if name == "clip":
        tok = vocabulary.clip_bpe()
        return CLIPModel(clip_config(tok)), tok
    if name == "sam":
        model = SamModel(sam_config())
        _smooth_positions(model)
        for head in model.mask_decoder.output_hypernetworks_mlps:
            torch.nn.init.normal_(head.proj_out.weight, std=0.02)  # mask logits start near 0
        return model, None
    tok = vocabulary.wordpiece()
    model = GroundingDinoForObjectDetection(dino_config(tok))
    _spread(model)
    _start_low(model)
    return model, tok


@torch.no_grad()
def _spread(model: GroundingDinoForObjectDetection) -> None:
    """Weights of deviation 1/sqrt(inputs) in backbone, text network and attention. The library's 0.02 is meant for wide layers
    and makes layers of 24 to 192 nearly empty, so that the first hundreds of steps only grow them."""
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear) and not any(w in name for w in ("sampling_offsets", "attention_weights", "bbox_embed")):
            torch.nn.init.xavier_normal_(module.weight)
        elif isinstance(module, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(module.weight, nonlinearity="linear")
        elif isinstance(module, torch.nn.Embedding) and "text_backbone" in name:
            module.weight.normal_(0, 0.5)


@torch.no_grad()
def _smooth_positions(model: SamModel) -> None:
    """Random Fourier positions of deviation 1, as the original has them. transformers draws them at half the hidden size,
    where neighbouring points have unrelated codes and box prompts cannot be learned."""
    codes = torch.randn_like(model.shared_image_embedding.positional_embedding) * 0.8
    model.shared_image_embedding.positional_embedding.copy_(codes)
    model.prompt_encoder.shared_embedding.positional_embedding.copy_(codes)


@torch.no_grad()
def _start_low(model: GroundingDinoForObjectDetection) -> None:
    """Lets every score start near sigmoid(-4). The published head has no bias, so opposite norm biases stand in for it."""
    axis = torch.nn.functional.normalize(torch.randn(model.config.d_model), dim=0)
    text = model.model.encoder.layers[-1].text_enhancer_layer.layer_norm_after
    text.bias.copy_(2 * axis)
    text.weight.fill_(0.5)
    for norm in (model.model.enc_output_norm, model.model.decoder.layer_norm):
        norm.bias.copy_(-2 * axis)
        norm.weight.fill_(0.3)


def load(name: str, root: pathlib.Path = DEMO):
    """A saved network and its tokenizer (None for sam)."""
    kind = {"clip": CLIPModel, "sam": SamModel, "grounding-dino": GroundingDinoForObjectDetection}[name]
    tok = None if name == "sam" else Tokenizer.from_file(str(root / name / "tokenizer.json"))
    return kind.from_pretrained(root / name, attn_implementation="eager"), tok


def save(name: str, model, tok: Tokenizer | None, root: pathlib.Path = DEMO) -> None:
    """Writes the four files of a Hugging Face folder; weights stay float32."""
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder, safe_serialization=True)
    (folder / "preprocessor_config.json").write_text(json.dumps(PREPROCESSORS[name], indent=2) + "\n")
    if tok is not None:
        vocabulary.save(tok, folder)


def clip_tokens(tok: Tokenizer, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and attention mask, padded with the end token on the right: int64 [n, longest]."""
    end = tok.token_to_id("<|endoftext|>")
    rows = [e.ids for e in tok.encode_batch([t.strip().lower() for t in texts])]
    longest = max(map(len, rows))
    ids = torch.tensor([r + [end] * (longest - len(r)) for r in rows])
    mask = torch.tensor([[1] * len(r) + [0] * (longest - len(r)) for r in rows])
    return ids, mask


def dino_tokens(tok: Tokenizer, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and attention mask, padded with 0 on the right: int64 [n, longest]. Texts end in "." already."""
    rows = [e.ids for e in tok.encode_batch(texts)]
    longest = max(map(len, rows))
    ids = torch.tensor([r + [0] * (longest - len(r)) for r in rows])
    mask = torch.tensor([[1] * len(r) + [0] * (longest - len(r)) for r in rows])
    return ids, mask


def parameters(model) -> int:
    return sum(p.numel() for p in model.parameters())
