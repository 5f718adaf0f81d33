"""A tiny Grounding DINO checkpoint in the published folder layout, and its stages for pictures and phrases."""

from pathlib import Path

import torch
from PIL import Image
from safetensors.torch import save_file
from transformers import (
    BertTokenizerFast,
    GroundingDinoConfig,
    GroundingDinoForObjectDetection,
    GroundingDinoImageProcessor,
    GroundingDinoProcessor,
)
from transformers.models.grounding_dino.modeling_grounding_dino import (
    generate_masks_with_special_tokens_and_transfer_map as phrase_masks,
)

from .common import WORDS, Stages, picture, randomise, write_json

SEED = 59
BOX_THRESHOLD, TEXT_THRESHOLD = 0.3, 0.25
# name → (picture, text, keep every stage)
CASES = {
    "cat": ("picture", "a cat.", False),
    "two": ("picture", "a cat. a red ball.", True),
    "tail": ("picture", "is it a small dog? a house next to the tree", False),
    "wide": ("picture-wide", "a blue car.", False),
}
# How far the decoder's norm leans away from the direction that all text features share: sets the share of kept boxes.
LEAN = 0.084


def write_tokenizer(folder: Path) -> int:
    """tokenizer.json of a BERT uncased WordPiece vocabulary with the published places of [CLS], [SEP], `.` and `?`."""
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    fixed = {0: "[PAD]", 100: "[UNK]", 101: "[CLS]", 102: "[SEP]", 103: "[MASK]", 1010: ",", 1012: ".", 1029: "?"}
    others = [*"!'-/0123456789", *letters, *("##" + c for c in [*letters, *"0123456789"]), "##s", "##ing", "##ed"]
    others += [word for word in WORDS if len(word) > 1]
    queue = iter(dict.fromkeys(others))
    table = []
    for number in range(1030):
        # Real words from 900 on; the places before stay unused as in the published vocabulary.
        word = fixed.get(number) or (next(queue, None) if number >= 850 else None)
        table.append(word or f"[unused{number}]")
    table.extend(queue)
    vocab = folder / "vocab.txt"
    vocab.write_text("\n".join(table) + "\n")
    fast = BertTokenizerFast(str(vocab), do_lower_case=True)
    fast.backend_tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    vocab.unlink()
    return len(table)


def write_checkpoint(folder: Path) -> None:
    vocabulary = write_tokenizer(folder)
    # Like the published file: of the backbone and the text model only what differs from their defaults stands here
    # (window 7, patch 4, MLP ratio 4; 512 positions, 2 types, GELU).
    config = {
        "activation_dropout": 0.0,
        "activation_function": "relu",
        "architectures": ["GroundingDinoForObjectDetection"],
        "attention_dropout": 0.0,
        "auxiliary_loss": False,
        "backbone_config": {
            "depths": [2, 2, 2, 2], "embed_dim": 8, "model_type": "swin", "num_heads": [1, 2, 4, 8],
            "out_features": ["stage2", "stage3", "stage4"], "out_indices": [2, 3, 4],
        },
        "d_model": 64,
        "decoder_attention_heads": 4,
        "decoder_bbox_embed_share": True,
        "decoder_ffn_dim": 96,
        "decoder_layers": 2,
        "decoder_n_points": 4,
        "disable_custom_kernels": False,
        "dropout": 0.1,
        "embedding_init_target": True,
        "encoder_attention_heads": 4,
        "encoder_ffn_dim": 96,
        "encoder_layers": 2,
        "encoder_n_points": 4,
        "init_std": 0.02,
        "is_encoder_decoder": True,
        "layer_norm_eps": 1e-05,
        "max_text_len": 256,
        "model_type": "grounding-dino",
        "num_feature_levels": 4,
        "num_queries": 30,
        "position_embedding_type": "sine",
        "positional_embedding_temperature": 20,
        "query_dim": 4,
        "text_config": {
            "hidden_size": 40, "intermediate_size": 80, "model_type": "bert", "num_attention_heads": 4,
            "num_hidden_layers": 2, "vocab_size": vocabulary,
        },
        "torch_dtype": "float32",
        "two_stage": True,
        "two_stage_bbox_embed_share": False,
    }
    write_json(folder / "config.json", config)
    write_json(
        folder / "preprocessor_config.json",
        {
            "do_normalize": True, "do_pad": True, "do_rescale": True, "do_resize": True, "format": "coco_detection",
            "image_mean": [0.485, 0.456, 0.406], "image_processor_type": "GroundingDinoImageProcessor",
            "image_std": [0.229, 0.224, 0.225], "processor_class": "GroundingDinoProcessor", "resample": 2,
            "rescale_factor": 0.00392156862745098, "size": {"longest_edge": 421, "shortest_edge": 105},
        },
    )
    model = GroundingDinoForObjectDetection(GroundingDinoConfig.from_pretrained(folder))
    groups = {f"input_proj_vision.{level}.1.weight": 1.0 for level in range(4)}
    randomise(model, SEED, special={"sampling_offsets.bias": 1.5, "layers.2.weight": 0.12, "query_position_embeddings.weight": 2.0, **groups})
    shape_scores(model)
    # One box head serves every layer and is stored once, as in the published file.
    tensors = {
        name: value.clone().contiguous()
        for name, value in model.state_dict().items()
        if not name.startswith("model.decoder.bbox_embed.") and not name.startswith("bbox_embed.1.")
    }
    assert sum("relative_position_index" in name for name in tensors) == 8
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def shape_scores(model) -> None:
    """Give all text features a shared direction and let the decoder's norm lean away from it, so that scores straddle 0.3."""
    shared = torch.randn(64, generator=torch.Generator().manual_seed(SEED + 7))
    shared *= 8 / shared.norm()
    model.model.encoder.layers[-1].text_enhancer_layer.layer_norm_after.bias.data += shared
    model.model.decoder.layer_norm.bias.data -= LEAN * shared
    model.model.decoder.layer_norm.weight.data *= 0.45
    # All invalid proposals share one score: make it low, or ties would leave their order to the sorting routine.
    model.model.enc_output.bias.data = -0.1 * shared
    # Boxes larger than the proposals, which are small on such small pictures.
    model.model.encoder_output_bbox_embed.layers[-1].bias.data[2:] += 1.0
    model.bbox_embed[0].layers[-1].bias.data[2:] += 0.6


def load(folder: Path):
    """(model, processor) of a Grounding DINO folder; eager attention, and the slow image processor, which uses PIL."""
    model = GroundingDinoForObjectDetection.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = BertTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), do_lower_case=True)
    return model, GroundingDinoProcessor(GroundingDinoImageProcessor.from_pretrained(folder), tokenizer)


def detect(model, processor, image: Image.Image, text: str) -> dict:
    """Kept detections in query order. Boxes are x0 y0 x1 y1 as fractions of the picture's sides."""
    inputs = processor(images=image, text=text, return_tensors="pt")
    output = model(**inputs)
    scores = torch.sigmoid(output.logits[0])
    best = scores.max(-1).values
    queries = torch.nonzero(best > BOX_THRESHOLD)[:, 0]
    theirs = processor.post_process_grounded_object_detection(
        output, inputs["input_ids"], threshold=BOX_THRESHOLD, text_threshold=TEXT_THRESHOLD
    )[0]
    ids = inputs["input_ids"][0]
    kept = []
    for number, query in enumerate(queries.tolist()):
        tokens = torch.nonzero(scores[query, : len(ids)] > TEXT_THRESHOLD)[:, 0]
        kept.append(
            {
                "query": query,
                "box": theirs["boxes"][number].tolist(),
                "score": best[query].item(),
                # transformers leaves token 0 out of the phrase; the second reading keeps every token.
                "phrase": theirs["text_labels"][number],
                "phrase_all_tokens": processor.tokenizer.decode(ids[tokens]),
                "tokens": tokens.tolist(),
            }
        )
    return {"kept": kept, "inputs": inputs, "output": output}


def make(folder: Path) -> None:
    write_checkpoint(folder)
    picture(151, 111, 51, 7).save(folder / "picture.png")
    picture(240, 52, 52, 9).save(folder / "picture-wide.png")
    model, processor = load(folder)
    stages = Stages()
    found = {}
    for name, (file, text, everything) in CASES.items():
        image = Image.open(folder / f"{file}.png")
        hooks = watch(model, stages, name, everything)
        result = detect(model, processor, image, text)
        for hook in hooks:
            hook.remove()
        keep_result(stages, name, result, everything, first=file if name == "cat" else None)
        check(stages, name, result)
        found[name] = {"picture": f"{file}.png", "text": text, "kept": result["kept"]}
    write_json(folder / "detections.json", {"box_threshold": BOX_THRESHOLD, "text_threshold": TEXT_THRESHOLD, "cases": found})
    stages.save(folder / "stages.safetensors")


def watch(model, stages: Stages, name: str, everything: bool) -> list:
    """Hooks that keep the stages of one case."""
    base = model.model
    hooks = [stages.hook(base.text_projection, f"{name}.text_projected")]
    hooks.append(base.encoder.register_forward_hook(lambda _m, _a, out: keep_encoder(stages, name, out)))
    hooks.append(
        base.decoder.register_forward_pre_hook(
            lambda _m, _a, kwargs: stages.keep(f"{name}.decoder_reference", kwargs["reference_points"]), with_kwargs=True
        )
    )
    if not everything:
        return hooks
    swin = base.backbone.conv_encoder.model
    hooks.append(stages.hook(swin.embeddings, f"{name}.swin_embeddings"))
    hooks.append(stages.hook(swin.encoder.layers[0].blocks[0], f"{name}.swin_stage1_block0"))
    hooks.append(stages.hook(swin.encoder.layers[0].blocks[1], f"{name}.swin_stage1_block1"))
    hooks.append(stages.hook(swin.encoder.layers[0].downsample, f"{name}.swin_stage1_down"))
    hooks.append(base.backbone.register_forward_hook(lambda _m, _a, out: keep_backbone(stages, name, out)))
    hooks += [stages.hook(m, f"{name}.input_projection{i}") for i, m in enumerate(base.input_proj_vision)]
    hooks.append(stages.hook(base.text_backbone.embeddings, f"{name}.bert_embeddings"))
    hooks.append(stages.hook(base.text_backbone.encoder.layer[0], f"{name}.bert_layer0"))
    hooks.append(stages.hook(base.text_backbone, f"{name}.bert_last", pick=lambda out: out.last_hidden_state))
    hooks.append(
        base.encoder.register_forward_pre_hook(
            lambda _m, _a, kwargs: stages.keep(f"{name}.vision_position", kwargs["vision_position_embedding"]),
            with_kwargs=True,
        )
    )
    for i, layer in enumerate(base.encoder.layers):
        hooks.append(layer.register_forward_hook(lambda _m, _a, out, i=i: keep_layer(stages, f"{name}.encoder{i}", out)))
    fusion = base.encoder.layers[0].fusion_layer
    hooks.append(
        fusion.register_forward_hook(
            lambda _m, _a, out: keep_layer(stages, f"{name}.encoder0_fusion", ((out[0][0], out[1][0]), None))
        )
    )
    hooks.append(stages.hook(base.encoder.layers[0].text_enhancer_layer, f"{name}.encoder0_text_enhanced"))
    hooks += [stages.hook(layer, f"{name}.decoder{i}") for i, layer in enumerate(base.decoder.layers)]
    return hooks


def keep_backbone(stages: Stages, name: str, out) -> None:
    for level, (feature, _mask) in enumerate(out[0]):
        stages.keep(f"{name}.swin_feature{level}", feature)


def keep_encoder(stages: Stages, name: str, out) -> None:
    stages.keep(f"{name}.encoder_text", out.last_hidden_state_text)


def keep_layer(stages: Stages, name: str, out) -> None:
    (vision, text), _attention = out
    stages.keep(f"{name}_vision", vision)
    stages.keep(f"{name}_text", text)


def keep_result(stages: Stages, name: str, result: dict, everything: bool, first: str | None) -> None:
    inputs, output = result["inputs"], result["output"]
    if first:
        stages.keep(f"{first}.pixels", inputs["pixel_values"])
        assert inputs["pixel_mask"].all()
    ids = inputs["input_ids"]
    mask, positions = phrase_masks(ids)
    stages.keep(f"{name}.ids", ids)
    stages.keep(f"{name}.positions", positions)
    stages.keep(f"{name}.phrase_mask", mask)
    scores = output.enc_outputs_class.max(-1).values
    stages.keep(f"{name}.proposal_scores", scores)
    stages.keep(f"{name}.top", torch.topk(scores, 30, dim=1)[1])
    if everything or name == "wide":
        # Infinite coordinates mark invalid proposals.
        stages.keep(f"{name}.proposal_boxes_logit", output.enc_outputs_coord_logits)
    stages.keep(f"{name}.references", output.intermediate_reference_points)
    stages.keep(f"{name}.decoder_normed", output.intermediate_hidden_states)
    stages.keep(f"{name}.logits", output.logits[..., : ids.shape[1]])
    assert torch.isinf(output.logits[..., ids.shape[1] :]).all()
    stages.keep(f"{name}.boxes_cxcywh", output.pred_boxes)


def check(stages: Stages, name: str, result: dict) -> None:
    """Detections must exist and be missed, and float noise must change neither the ranks nor what is kept."""
    best = torch.sigmoid(stages.tensors[f"{name}.logits"]).max(-1).values[0]
    ranked = torch.sort(stages.tensors[f"{name}.proposal_scores"][0], descending=True).values[:31]
    gap = (ranked[:-1] - ranked[1:]).min().item()
    margin = (best - BOX_THRESHOLD).abs().min().item()
    tokens = torch.sigmoid(stages.tensors[f"{name}.logits"][0])
    token_margin = (tokens - TEXT_THRESHOLD).abs().min().item()
    print(f"  {name}: kept {len(result['kept'])} of 30, rank gap {gap:.1e}, margins {margin:.1e} and {token_margin:.1e}")
    assert 0 < len(result["kept"]) < 30 and gap > 1e-3 and margin > 1e-3 and token_margin > 1e-3
    for detection in result["kept"][:6]:
        print("    ", detection["query"], [round(v, 3) for v in detection["box"]], round(detection["score"], 3), detection["phrase"])
