"""Checkpoints of the published sizes with random weights, and what PyTorch makes of one picture. Called by `full_size.py`."""

import json
import time
from pathlib import Path

import torch
from PIL import Image
from safetensors.torch import save_file

from . import originals
from .common import picture, randomise, write_json
from .make_layouts import products, tree, without_buffers

ASSETS = Path(__file__).resolve().parents[3] / "assets" / "tokenizers"
TEXTS = ["a red ball", "make the small dog bigger", "a photograph of two horses in front of a wooden house at night", "café, 3 o'clock"]
# x0 y0 x1 y1 in pixels of the picture.
BOXES = [[60.5, 80.25, 260.0, 300.75], [200.0, 20.0, 480.0, 450.0], [10.0, 300.0, 150.0, 490.0]]
BOX_THRESHOLD, TEXT_THRESHOLD = 0.3, 0.25


def clip_l14(folder: Path) -> tuple[dict, dict]:
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPTokenizerFast

    hub = folder / "hub"
    hub.mkdir(exist_ok=True)
    text = dict(hidden_size=768, intermediate_size=3072, num_attention_heads=12, num_hidden_layers=12, projection_dim=768, eos_token_id=2)
    vision = dict(hidden_size=1024, intermediate_size=4096, num_attention_heads=16, num_hidden_layers=24, patch_size=14, projection_dim=768)
    config = {"model_type": "clip", "projection_dim": 768, "text_config_dict": text, "vision_config_dict": vision, "torch_dtype": "float32"}
    write_json(hub / "config.json", config)
    write_json(hub / "preprocessor_config.json", {"crop_size": 224, "size": 224, "resample": 3, "do_resize": True, "do_center_crop": True, "do_normalize": True})
    model = CLIPModel(CLIPConfig.from_pretrained(hub)).eval()
    randomise(model, 101, special={"projection.weight": 0.05, "logit_scale": 1.0})
    tensors = {name: value.contiguous() for name, value in model.state_dict().items()}
    original = originals.clip(tensors)
    tensors["text_model.embeddings.position_ids"] = torch.arange(77)[None]
    tensors["vision_model.embeddings.position_ids"] = torch.arange(257)[None]
    save_file(tensors, hub / "model.safetensors", metadata={"format": "pt"})
    torch.save(original, folder / "ViT-L-14.pt")
    half = {name: value.half() if products(name) else value for name, value in original.items()}
    torch.jit.save(torch.jit.script(tree(half)), folder / "ViT-L-14-script.pt")
    vocabulary = clip_vocabulary(folder)
    tokenizer = CLIPTokenizerFast(*map(str, vocabulary))
    tokenizer.backend_tokenizer.save(str(hub / "tokenizer.json"))
    picture(640, 480, 7, 9).save(folder / "picture.png")
    pixels = CLIPImageProcessor.from_pretrained(hub)(Image.open(folder / "picture.png"), return_tensors="pt")["pixel_values"]
    start = time.time()
    pictures = model.get_image_features(pixel_values=pixels).tolist()
    texts = [model.get_text_features(**tokenizer(text, return_tensors="pt"))[0].tolist() for text in TEXTS]
    inputs = {"picture": str(folder / "picture.png"), "texts": TEXTS}
    return inputs, {"pictures": pictures, "texts": texts, "seconds": time.time() - start}


def clip_vocabulary(folder: Path) -> tuple[Path, Path]:
    from .make_clip import byte_letters

    merges = (ASSETS / "clip-merges.txt").read_text().splitlines()
    letters = list(byte_letters().values())
    tokens = [*letters, *(letter + "</w>" for letter in letters), *(merge.replace(" ", "") for merge in merges), "<|startoftext|>", "<|endoftext|>"]
    assert len(tokens) == 49408
    (folder / "vocab.json").write_text(json.dumps({token: number for number, token in enumerate(tokens)}))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
    return folder / "vocab.json", folder / "merges.txt"


def sam(folder: Path, vision: dict, seed: int, original: str | None) -> tuple[dict, dict]:
    from transformers import SamConfig, SamImageProcessor, SamModel

    from .make_sam import mask_logits

    hub = folder / "hub"
    hub.mkdir(exist_ok=True)
    write_json(hub / "config.json", {"model_type": "sam", "vision_config": vision})
    side = {"height": 1024, "width": 1024}
    write_json(hub / "preprocessor_config.json", {"resample": 2, "size": {"longest_edge": 1024}, "pad_size": side})
    model = SamModel(SamConfig.from_pretrained(hub, attn_implementation="eager")).eval()
    # A gentle decoder (its 4096 keys would drown in sharp attention), and masks that cover neither nothing nor all.
    randomise(model, seed, special={"pos_embed": 0.5, "rel_pos_h": 0.1, "rel_pos_w": 0.1, "no_mask_embed.weight": 0.3})
    gaussian = torch.randn((2, 128), generator=torch.Generator().manual_seed(seed + 1))
    for place in [model.shared_image_embedding, model.prompt_encoder.shared_embedding]:
        place.positional_embedding.data.copy_(gaussian)
    save_file({name: value.contiguous().clone() for name, value in model.state_dict().items()}, hub / "model.safetensors", metadata={"format": "pt"})
    if original:
        torch.save(originals.sam(dict(model.state_dict())), folder / original)
    picture(500, 500, 8, 9).save(folder / "picture.png")
    pixels = SamImageProcessor.from_pretrained(hub)(Image.open(folder / "picture.png"), return_tensors="pt")["pixel_values"]
    start = time.time()
    embedding = model.get_image_embeddings(pixels)
    prompt = torch.tensor(BOXES)[None] * (1024 / 500)
    low = model(image_embeddings=embedding, input_boxes=prompt, multimask_output=False).pred_masks[0, :, 0]
    masks = mask_logits(low, (500, 500), 1024) > 0
    seconds = time.time() - start
    shares = masks.float().mean((1, 2)).tolist()
    print(f"  masks cover {[round(share, 2) for share in shares]}")
    assert all(0.02 < share < 0.98 for share in shares), "a mask that is empty or full compares nothing"
    bits = ["".join("1" if bit else "0" for bit in mask.flatten().tolist()) for mask in masks]
    return {"picture": str(folder / "picture.png"), "boxes": BOXES}, {"embedding": embedding.flatten().tolist(), "masks": bits, "seconds": seconds}


def sam_b(folder: Path) -> tuple[dict, dict]:
    return sam(folder, {"model_type": "sam_vision_model"}, 201, "sam_vit_b.pth")


def sam_h(folder: Path) -> tuple[dict, dict]:
    sizes = {"hidden_size": 1280, "num_hidden_layers": 32, "num_attention_heads": 16, "global_attn_indexes": [7, 15, 23, 31]}
    return sam(folder, sizes, 202, None)


def processor_of(hub: Path):
    from transformers import BertTokenizerFast, GroundingDinoImageProcessor, GroundingDinoProcessor

    tokenizer = BertTokenizerFast(str(ASSETS / "bert-base-uncased-vocab.txt"), do_lower_case=True)
    return GroundingDinoProcessor(GroundingDinoImageProcessor.from_pretrained(hub), tokenizer)


def grounding_dino(folder: Path, backbone: dict, original: str | None) -> tuple[dict, dict]:
    from transformers import GroundingDinoConfig, GroundingDinoForObjectDetection

    hub = folder / "hub"
    hub.mkdir(exist_ok=True)
    backbone = {"model_type": "swin", "out_features": ["stage2", "stage3", "stage4"], "out_indices": [2, 3, 4], **backbone}
    config = {"model_type": "grounding-dino", "backbone_config": backbone, "text_config": {"model_type": "bert"}}
    write_json(hub / "config.json", config)
    write_json(hub / "preprocessor_config.json", {"resample": 2, "size": {"shortest_edge": 800, "longest_edge": 1333}})
    processor = processor_of(hub)
    processor.tokenizer.backend_tokenizer.save(str(hub / "tokenizer.json"))
    picture(640, 480, 9, 9).save(folder / "picture.png")
    image, texts = Image.open(folder / "picture.png"), ["a red ball. a small dog."]
    for seed in range(302, 310):
        model = GroundingDinoForObjectDetection(GroundingDinoConfig.from_pretrained(hub, attn_implementation="eager")).eval()
        groups = {f"input_proj_vision.{level}.1.weight": 1.0 for level in range(4)}
        randomise(model, seed, special={"sampling_offsets.bias": 1.5, "layers.2.weight": 0.06, "query_position_embeddings.weight": 2.0, **groups})
        shape_scores(model, seed, processor, image, texts[0])
        start = time.time()
        output, found = detect(model, processor, image, texts[0])
        kept, seconds = [found], time.time() - start
        if decided(output, found):
            break
        print(f"  seed {seed}: float noise could change a detection; another one")
    else:
        raise SystemExit("no seed gives detections that float noise leaves alone")
    tensors = {
        name: value.clone().contiguous()
        for name, value in model.state_dict().items()
        if not name.startswith("model.decoder.bbox_embed.") and not name.startswith(tuple(f"bbox_embed.{n}." for n in range(1, 6)))
    }
    save_file(tensors, hub / "model.safetensors", metadata={"format": "pt"})
    if original:
        renamed = originals.grounding_dino(without_buffers(tensors), 6)
        torch.save({"model": {f"module.{name}": value for name, value in renamed.items()}}, folder / original)
    print(f"  seed {seed}: kept {[len(k) for k in kept]} of 900")
    answers = {"kept": kept, "texts": texts, "ranks": [ranks_of(output)], "size": image.size, "threshold": BOX_THRESHOLD, "seconds": seconds}
    return {"picture": str(folder / "picture.png"), "texts": texts}, answers


def shape_scores(model, seed: int, processor, image, text: str) -> None:
    """As in the small ladder: a direction that all texts share, from which the queries lean away so far that a few pass the threshold."""
    shared = torch.randn(256, generator=torch.Generator().manual_seed(seed + 7))
    shared *= 16 / shared.norm()
    model.model.encoder.layers[-1].text_enhancer_layer.layer_norm_after.bias.data += shared
    model.model.decoder.layer_norm.weight.data *= 0.225
    # All invalid proposals share one score: make it low, or ties would leave their order to the sorting routine.
    model.model.enc_output.bias.data = -0.1 * shared
    model.model.encoder_output_bbox_embed.layers[-1].bias.data[2:] += 1.0
    output = model(**processor(images=image, text=text, return_tensors="pt"))
    best = output.logits[0].max(-1).values
    # So that about one query in sixty is above the threshold, logit(0.3).
    excess = torch.quantile(best, 0.984) + 0.847
    model.model.decoder.layer_norm.bias.data -= excess / 256 * shared


def detect(model, processor, image, text: str) -> tuple:
    """The output, and the detections above the threshold in query order; boxes in pixels of the picture."""
    inputs = processor(images=image, text=text, return_tensors="pt")
    output = model(**inputs)
    scores = torch.sigmoid(output.logits[0])
    ids = inputs["input_ids"][0]
    kept = []
    for query in torch.nonzero(scores.max(-1).values > BOX_THRESHOLD)[:, 0].tolist():
        tokens = torch.nonzero(scores[query, : len(ids)] > TEXT_THRESHOLD)[:, 0]
        cx, cy, w, h = output.pred_boxes[0, query].double().tolist()
        box = [(cx - w / 2) * image.width, (cy - h / 2) * image.height, (cx + w / 2) * image.width, (cy + h / 2) * image.height]
        kept.append({"query": query, "box": box, "score": scores[query].max().item(), "phrase": processor.tokenizer.decode(ids[tokens])})
    return output, kept


def decided(output, kept: list[dict]) -> bool:
    """Whether there are detections, not too many, and no score or token of them so near its threshold that float noise could carry it across."""
    probabilities = torch.sigmoid(output.logits[0])
    queries = [one["query"] for one in kept]
    if not 2 < len(kept) < 300:
        print(f"  kept {len(kept)} of 900", flush=True)
        return False
    margins = (probabilities.max(-1).values - BOX_THRESHOLD).abs().min(), (probabilities[queries] - TEXT_THRESHOLD).abs().min()
    print(f"  kept {len(kept)} of 900; nearest to a threshold {min(margins):.1e}", flush=True)
    return min(margins) > 2e-5


def ranks_of(output) -> list[int]:
    """Which proposals the queries start from, best first."""
    return torch.topk(output.enc_outputs_class[0].max(-1).values, 900).indices.tolist()


def with_ranks(folder: Path, text: str, ranks: list[int]) -> dict:
    """PyTorch's detections with the queries started from `ranks`; and how far these are from an order of PyTorch's own scores: the largest
    amount by which a later one, or one that was left out, exceeds an earlier one, as a part of the largest score."""
    from transformers import GroundingDinoForObjectDetection

    hub, image = folder / "hub", Image.open(folder / "picture.png")
    model = GroundingDinoForObjectDetection.from_pretrained(hub, attn_implementation="eager").eval()
    topk = torch.topk

    def given(values, count, dim=-1):
        assert count == len(ranks) and values.shape[0] == 1
        chosen = torch.tensor([ranks])
        return torch.gather(values, dim, chosen), chosen

    torch.topk = given
    try:
        output, kept = detect(model, processor_of(hub), image, text)
    finally:
        torch.topk = topk
    scores = output.enc_outputs_class[0].max(-1).values.double()
    chosen = scores[ranks]
    rest = scores.clone()
    rest[ranks] = -torch.inf
    lowest_before = torch.cummin(chosen, 0).values
    excess = torch.maximum((chosen[1:] - lowest_before[:-1]).max(), rest.max() - chosen.min()).clamp(min=0)
    return {"kept": kept, "excess": (excess / scores[scores.isfinite()].abs().max()).item()}


def grounding_dino_t(folder: Path) -> tuple[dict, dict]:
    return grounding_dino(folder, {"depths": [2, 2, 6, 2], "num_heads": [3, 6, 12, 24]}, "groundingdino_swint.pth")


def grounding_dino_b(folder: Path) -> tuple[dict, dict]:
    sizes = {"depths": [2, 2, 18, 2], "num_heads": [4, 8, 16, 32], "embed_dim": 128, "window_size": 12, "image_size": 384}
    return grounding_dino(folder, sizes, None)


MAKERS = {
    "clip-l-14": clip_l14, "sam-b": sam_b, "sam-h": sam_h, "grounding-dino-t": grounding_dino_t, "grounding-dino-b": grounding_dino_b,
}
