"""Weights of hub checkpoints under the names of the authors' own files.

Written from the authors' code, the other way round than EditScope's lists, and checked by loading the result into that code (`make_layouts.py`)
or by comparing names and shapes with it (`layouts/*.original.txt`).
"""

import re

import torch


def sam(hub: dict) -> dict:
    """segment-anything: one flat dictionary."""
    steps = [
        (r"^shared_image_embedding\.positional_embedding$", "prompt_encoder.pe_layer.positional_encoding_gaussian_matrix"),
        (r"^vision_encoder\.", "image_encoder."),
        (r"^image_encoder\.patch_embed\.projection", "image_encoder.patch_embed.proj"),
        (r"^image_encoder\.layers", "image_encoder.blocks"),
        (r"neck\.conv1", "neck.0"), (r"neck\.layer_norm1", "neck.1"), (r"neck\.conv2", "neck.2"), (r"neck\.layer_norm2", "neck.3"),
        (r"mask_embed\.conv1", "mask_downscaling.0"), (r"mask_embed\.layer_norm1", "mask_downscaling.1"),
        (r"mask_embed\.conv2", "mask_downscaling.3"), (r"mask_embed\.layer_norm2", "mask_downscaling.4"),
        (r"mask_embed\.conv3", "mask_downscaling.6"),
        (r"\.point_embed\.", ".point_embeddings."),
        (r"upscale_conv1", "output_upscaling.0"), (r"upscale_layer_norm", "output_upscaling.1"),
        (r"upscale_conv2", "output_upscaling.3"),
        (r"((?:mlps\.\d+|prediction_head)\.)layers\.0", r"\1layers.1"),
        (r"((?:mlps\.\d+|prediction_head)\.)proj_in", r"\1layers.0"),
        (r"((?:mlps\.\d+|prediction_head)\.)proj_out", r"\1layers.2"),
        (r"\.layer_norm_final_attn", ".norm_final_attn"), (r"\.layer_norm(\d)", r".norm\1"),
    ]
    original = {}
    for name, value in hub.items():
        if name == "prompt_encoder.shared_embedding.positional_embedding":
            continue
        for pattern, replacement in steps:
            name = re.sub(pattern, replacement, name)
        original[name] = value
    return original


def joined(hub: dict, names: list[str]) -> torch.Tensor:
    return torch.cat([hub[name] for name in names])


def clip(hub: dict) -> dict:
    """openai/CLIP, `clip/model.py`."""
    original = {
        "visual.conv1.weight": hub["vision_model.embeddings.patch_embedding.weight"],
        "visual.class_embedding": hub["vision_model.embeddings.class_embedding"],
        "visual.positional_embedding": hub["vision_model.embeddings.position_embedding.weight"],
        "visual.proj": hub["visual_projection.weight"].T.contiguous(),
        "token_embedding.weight": hub["text_model.embeddings.token_embedding.weight"],
        "positional_embedding": hub["text_model.embeddings.position_embedding.weight"],
        "text_projection": hub["text_projection.weight"].T.contiguous(),
        "logit_scale": hub["logit_scale"],
    }
    for kind in ["weight", "bias"]:
        original[f"visual.ln_pre.{kind}"] = hub[f"vision_model.pre_layrnorm.{kind}"]
        original[f"visual.ln_post.{kind}"] = hub[f"vision_model.post_layernorm.{kind}"]
        original[f"ln_final.{kind}"] = hub[f"text_model.final_layer_norm.{kind}"]
    for ours, theirs in [("vision_model", "visual.transformer"), ("text_model", "transformer")]:
        for name in [name for name in hub if name.startswith(f"{ours}.encoder.layers.")]:
            head, number, layer, kind = re.fullmatch(rf"({ours}\.encoder\.layers)\.(\d+)\.(.*)\.(weight|bias)", name).groups()
            block = f"{theirs}.resblocks.{number}"
            places = {
                "layer_norm1": "ln_1", "layer_norm2": "ln_2", "mlp.fc1": "mlp.c_fc", "mlp.fc2": "mlp.c_proj",
                "self_attn.out_proj": "attn.out_proj",
            }
            if layer in places:
                original[f"{block}.{places[layer]}.{kind}"] = hub[name]
            elif layer == "self_attn.q_proj":
                parts = [f"{head}.{number}.self_attn.{part}_proj.{kind}" for part in "qkv"]
                original[f"{block}.attn.in_proj_{kind}"] = joined(hub, parts)
    return original


def grounding_dino(hub: dict, decoder_layers: int) -> dict:
    """GroundingDINO's state dict, without the buffers and the tensors that only training needs."""
    original = {}
    for name, value in hub.items():
        if "relative_position_index" in name or "bbox_embed." in name and "encoder_output" not in name:
            continue
        new = grounding_dino_name(name)
        if new is None:
            continue
        if match := re.fullmatch(r"(.*?)(attn\.qkv\.|in_proj_)\{query\}(weight|bias)", new):
            parts = [name.replace("query", part) for part in ["query", "key", "value"]]
            original["".join(match.groups())] = joined(hub, parts)
        else:
            original[new] = value
    for layer in range(decoder_layers):
        for place in ["bbox_embed", "transformer.decoder.bbox_embed"]:
            for name, value in hub.items():
                if name.startswith("bbox_embed.0."):
                    original[f"{place}.{layer}.{name.removeprefix('bbox_embed.0.')}"] = value
    return original


GROUNDING_DINO = [
    # (hub, original); the first that fits counts.
    (r"model\.backbone\.conv_encoder\.model\.embeddings\.patch_embeddings\.projection\.(.*)", r"backbone.0.patch_embed.proj.\1"),
    (r"model\.backbone\.conv_encoder\.model\.embeddings\.norm\.(.*)", r"backbone.0.patch_embed.norm.\1"),
    (r"model\.backbone\.conv_encoder\.model\.hidden_states_norms\.stage(\d)\.(.*)", lambda m: f"backbone.0.norm{int(m[1]) - 1}.{m[2]}"),
    (r"model\.backbone\.conv_encoder\.model\.encoder\.(layers\.\d+)\.downsample\.(.*)", r"backbone.0.\1.downsample.\2"),
    (r"model\.backbone\.conv_encoder\.model\.encoder\.(.*)\.layernorm_before\.(.*)", r"backbone.0.\1.norm1.\2"),
    (r"model\.backbone\.conv_encoder\.model\.encoder\.(.*)\.layernorm_after\.(.*)", r"backbone.0.\1.norm2.\2"),
    (r"model\.backbone\.conv_encoder\.model\.encoder\.(.*)\.attention\.self\.query\.(.*)", r"backbone.0.\1.attn.qkv.{query}\2"),
    (r"model\.backbone\.conv_encoder\.model\.encoder\.(.*)\.attention\.self\.relative_position_bias_table", r"backbone.0.\1.attn.relative_position_bias_table"),
    (r"model\.backbone\.conv_encoder\.model\.encoder\.(.*)\.attention\.output\.dense\.(.*)", r"backbone.0.\1.attn.proj.\2"),
    (r"model\.backbone\.conv_encoder\.model\.encoder\.(.*)\.intermediate\.dense\.(.*)", r"backbone.0.\1.mlp.fc1.\2"),
    (r"model\.backbone\.conv_encoder\.model\.encoder\.(layers\.\d+\.blocks\.\d+)\.output\.dense\.(.*)", r"backbone.0.\1.mlp.fc2.\2"),
    (r"model\.input_proj_vision\.(.*)", r"input_proj.\1"),
    (r"model\.text_backbone\.(.*)", r"bert.\1"),
    (r"model\.text_projection\.(.*)", r"feat_map.\1"),
    (r"model\.encoder\.layers\.(\d+)\.deformable_layer\.self_attn_layer_norm\.(.*)", r"transformer.encoder.layers.\1.norm1.\2"),
    (r"model\.encoder\.layers\.(\d+)\.deformable_layer\.final_layer_norm\.(.*)", r"transformer.encoder.layers.\1.norm2.\2"),
    (r"model\.encoder\.layers\.(\d+)\.deformable_layer\.fc(\d)\.(.*)", r"transformer.encoder.layers.\1.linear\2.\3"),
    (r"model\.encoder\.layers\.(\d+)\.deformable_layer\.self_attn\.(.*)", r"transformer.encoder.layers.\1.self_attn.\2"),
    (r"model\.encoder\.layers\.(\d+)\.text_enhancer_layer\.self_attn\.query\.(.*)", r"transformer.encoder.text_layers.\1.self_attn.in_proj_{query}\2"),
    (r"model\.encoder\.layers\.(\d+)\.text_enhancer_layer\.self_attn\.out_proj\.(.*)", r"transformer.encoder.text_layers.\1.self_attn.out_proj.\2"),
    (r"model\.encoder\.layers\.(\d+)\.text_enhancer_layer\.fc(\d)\.(.*)", r"transformer.encoder.text_layers.\1.linear\2.\3"),
    (r"model\.encoder\.layers\.(\d+)\.text_enhancer_layer\.layer_norm_before\.(.*)", r"transformer.encoder.text_layers.\1.norm1.\2"),
    (r"model\.encoder\.layers\.(\d+)\.text_enhancer_layer\.layer_norm_after\.(.*)", r"transformer.encoder.text_layers.\1.norm2.\2"),
    (r"model\.encoder\.layers\.(\d+)\.fusion_layer\.vision_param", r"transformer.encoder.fusion_layers.\1.gamma_v"),
    (r"model\.encoder\.layers\.(\d+)\.fusion_layer\.text_param", r"transformer.encoder.fusion_layers.\1.gamma_l"),
    (r"model\.decoder\.layers\.(\d+)\.self_attn\.query\.(.*)", r"transformer.decoder.layers.\1.self_attn.in_proj_{query}\2"),
    (r"model\.decoder\.layers\.(\d+)\.encoder_attn_text\.query\.(.*)", r"transformer.decoder.layers.\1.ca_text.in_proj_{query}\2"),
    (r"model\.decoder\.layers\.(\d+)\.self_attn\.out_proj\.(.*)", r"transformer.decoder.layers.\1.self_attn.out_proj.\2"),
    (r"model\.decoder\.layers\.(\d+)\.encoder_attn_text\.out_proj\.(.*)", r"transformer.decoder.layers.\1.ca_text.out_proj.\2"),
    (r"model\.decoder\.layers\.(\d+)\.encoder_attn\.(.*)", r"transformer.decoder.layers.\1.cross_attn.\2"),
    (r"model\.decoder\.layers\.(\d+)\.encoder_attn_layer_norm\.(.*)", r"transformer.decoder.layers.\1.norm1.\2"),
    (r"model\.decoder\.layers\.(\d+)\.self_attn_layer_norm\.(.*)", r"transformer.decoder.layers.\1.norm2.\2"),
    (r"model\.decoder\.layers\.(\d+)\.encoder_attn_text_layer_norm\.(.*)", r"transformer.decoder.layers.\1.catext_norm.\2"),
    (r"model\.decoder\.layers\.(\d+)\.final_layer_norm\.(.*)", r"transformer.decoder.layers.\1.norm3.\2"),
    (r"model\.decoder\.layers\.(\d+)\.fc(\d)\.(.*)", r"transformer.decoder.layers.\1.linear\2.\3"),
    (r"model\.decoder\.layer_norm\.(.*)", r"transformer.decoder.norm.\1"),
    (r"model\.decoder\.reference_points_head\.(.*)", r"transformer.decoder.ref_point_head.\1"),
    (r"model\.query_position_embeddings\.weight", r"transformer.tgt_embed.weight"),
    (r"model\.encoder_output_bbox_embed\.(.*)", r"transformer.enc_out_bbox_embed.\1"),
    (r"model\.(level_embed|enc_output\..*|enc_output_norm\..*)", r"transformer.\1"),
]


def grounding_dino_name(name: str) -> str | None:
    """The original's name; None for keys and values, which go with their queries."""
    if re.search(r"\.(key|value)\.(weight|bias)$", name) and "text_backbone" not in name:
        return None
    if match := re.fullmatch(r"model\.encoder\.layers\.(\d+)\.fusion_layer\.(layer_norm_|attn\.)(.*)", name):
        rest = match[3].replace("vision", "v").replace("text", "l")
        return f"transformer.encoder.fusion_layers.{match[1]}.{match[2]}{rest}"
    for pattern, replacement in GROUNDING_DINO:
        if match := re.fullmatch(pattern, name):
            return replacement(match) if callable(replacement) else match.expand(replacement)
    raise ValueError(f"no original name for {name}")
