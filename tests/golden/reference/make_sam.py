"""A tiny SAM checkpoint in the published folder layout, and its stages for box and point prompts."""

from pathlib import Path

import cv2
import numpy as np
import torch
from PIL import Image
from safetensors.torch import save_file
from transformers import SamConfig, SamImageProcessor, SamModel

from .common import Stages, picture, randomise, write_json

SEED = 23
SIDE = 160  # network pixels; a 10×10 grid, which windows of 4 do not divide
# Boxes in bpm500, points in image pixels of `picture.png` with label 1 (inside) or 0 (outside).
BOXES = [[60.5, 80.25, 260.0, 300.75], [200.0, 20.0, 480.0, 450.0], [10.0, 300.0, 150.0, 490.0]]
POINTS = [[[30.0, 20.0], [70.5, 50.0]], [[10.0, 45.0], [80.0, 12.25]]]
LABELS = [[1, 0], [1, 1]]


def write_checkpoint(folder: Path) -> None:
    # Kept from the published files' shape: the three sub-configurations, with members that are defaults left out here and there.
    config = {
        "architectures": ["SamModel"],
        "initializer_range": 0.02,
        "mask_decoder_config": {
            "attention_downsample_rate": 2, "hidden_act": "relu", "hidden_size": 32, "iou_head_depth": 3,
            "iou_head_hidden_dim": 24, "layer_norm_eps": 1e-06, "mlp_dim": 64, "num_attention_heads": 4,
            "num_hidden_layers": 2, "num_multimask_outputs": 3,
        },
        "model_type": "sam",
        "prompt_encoder_config": {
            "hidden_act": "gelu", "hidden_size": 32, "image_embedding_size": SIDE // 16, "image_size": SIDE,
            "layer_norm_eps": 1e-06, "mask_input_channels": 16, "num_point_embeddings": 4, "patch_size": 16,
        },
        "torch_dtype": "float32",
        "vision_config": {
            "global_attn_indexes": [1], "hidden_act": "gelu", "hidden_size": 36, "image_size": SIDE,
            "mlp_ratio": 4.0, "num_attention_heads": 3, "num_hidden_layers": 3, "num_pos_feats": 16,
            "output_channels": 32, "patch_size": 16, "projection_dim": 512, "qkv_bias": True, "use_abs_pos": True,
            "use_rel_pos": True, "window_size": 4,
        },
    }
    write_json(folder / "config.json", config)
    write_json(
        folder / "preprocessor_config.json",
        {
            "do_convert_rgb": True, "do_normalize": True, "do_pad": True, "do_rescale": True, "do_resize": True,
            "image_mean": [0.485, 0.456, 0.406], "image_processor_type": "SamImageProcessor",
            "image_std": [0.229, 0.224, 0.225], "pad_size": {"height": SIDE, "width": SIDE},
            "processor_class": "SamProcessor", "resample": 2, "rescale_factor": 0.00392156862745098,
            "size": {"longest_edge": SIDE},
        },
    )
    model = SamModel(SamConfig.from_pretrained(folder))
    randomise(model, SEED, special={"pos_embed": 0.5, "rel_pos_h": 0.4, "rel_pos_w": 0.4, "no_mask_embed.weight": 0.3})
    gaussian = torch.randn((2, 16), generator=torch.Generator().manual_seed(SEED + 1)) * 0.8
    tensors = {name: value.contiguous() for name, value in model.state_dict().items()}
    for name in ["shared_image_embedding.positional_embedding", "prompt_encoder.shared_embedding.positional_embedding"]:
        tensors[name] = gaussian.clone()
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def load(folder: Path):
    """(model, image processor) of a SAM folder; the slow image processor, which uses PIL."""
    model = SamModel.from_pretrained(folder, attn_implementation="eager").eval()
    return model, SamImageProcessor.from_pretrained(folder)


def net_scale(size: tuple[int, int], side: int) -> tuple[float, float]:
    """Factors from picture pixels to network pixels for x and y; `size` is (width, height)."""
    scale = side / max(size)
    width, height = (int(v * scale + 0.5) for v in size)
    return width / size[0], height / size[1]


def mask_logits(low: torch.Tensor, size: tuple[int, int], side: int) -> torch.Tensor:
    """Low-resolution logits [n,h,w] → the network square → cut → a picture of `size` (width, height): [n,height,width]."""
    sx, sy = net_scale(size, side)
    square = torch.nn.functional.interpolate(low[:, None], (side, side), mode="bilinear", align_corners=False)
    cut = square[..., : round(size[1] * sy), : round(size[0] * sx)]
    return torch.nn.functional.interpolate(cut, (size[1], size[0]), mode="bilinear", align_corners=False)[:, 0]


def canvas500(image: Image.Image) -> Image.Image:
    """The metric's 500×500 canvas: OpenCV bilinear."""
    return Image.fromarray(cv2.resize(np.asarray(image), (500, 500), interpolation=cv2.INTER_LINEAR))


def make(folder: Path) -> None:
    write_checkpoint(folder)
    picture(97, 71, 31).save(folder / "picture.png")
    model, processor = load(folder)
    stages = Stages()
    image = Image.open(folder / "picture.png")
    boxes_case(folder, model, processor, stages, image)
    points_case(model, processor, stages, image)
    write_json(folder / "prompts.json", {"boxes_bpm500": BOXES, "points_image": POINTS, "labels": LABELS})
    stages.save(folder / "stages.safetensors")


def boxes_case(folder: Path, model, processor, stages: Stages, image: Image.Image) -> None:
    """The metric's way: the 500×500 canvas, one mask (index 0) a box."""
    canvas = canvas500(image)
    pixels = processor(canvas, return_tensors="pt")["pixel_values"]
    stages.keep("boxes.pixels", pixels)
    encoder = model.vision_encoder
    hooks = [stages.hook(encoder.patch_embed, "boxes.patch_embed")]
    hooks += [stages.hook(layer, f"boxes.block{i}") for i, layer in enumerate(encoder.layers)]
    hooks.append(encoder.layers[0].register_forward_pre_hook(lambda _m, args: stages.keep("boxes.positioned", args[0])))
    embeddings = model.get_image_embeddings(pixels)
    for hook in hooks:
        hook.remove()
    stages.keep("boxes.image_embedding", embeddings)
    stages.keep("dense_position", model.get_image_wide_positional_embeddings())
    prompt = torch.tensor(BOXES)[None] * (SIDE / 500)
    sparse, _dense = model.get_prompt_embeddings(input_boxes=prompt)
    stages.keep("boxes.net_boxes", prompt)
    stages.keep("boxes.sparse", sparse)
    decode(model, stages, "boxes", embeddings, input_boxes=prompt)
    low = stages.tensors["boxes.low_res_masks"][0, :, 0]
    logits = mask_logits(low, (500, 500), SIDE)
    ours = processor.post_process_masks(low[None, :, None], [[500, 500]], [[SIDE, SIDE]], binarize=False)[0][:, 0]
    assert torch.equal(ours, logits), "post-processing differs from transformers'"
    # Every seventh pixel from the third on, of each row and column: the full logits would take a megabyte a box.
    stages.keep("boxes.logits500_from3_step7", logits[:, 3::7, 3::7])
    for number, mask in enumerate(logits > 0):
        share = mask.float().mean().item()
        print(f"  mask {number} covers {share:.2f}")
        assert 0.05 < share < 0.95
        Image.fromarray(mask.numpy()).save(folder / f"mask500-{number}.png")


def points_case(model, processor, stages: Stages, image: Image.Image) -> None:
    """A picture that is not square, so the network square is padded; point prompts, which add one padding point each."""
    pixels = processor(image, return_tensors="pt")["pixel_values"]
    embeddings = model.get_image_embeddings(pixels)
    stages.keep("points.image_embedding", embeddings)
    scale = torch.tensor(net_scale(image.size, SIDE))
    points = (torch.tensor(POINTS) * scale)[None]
    labels = torch.tensor(LABELS)[None]
    sparse, _dense = model.get_prompt_embeddings(input_points=points, input_labels=labels)
    stages.keep("points.net_points", points)
    stages.keep("points.sparse", sparse)
    decode(model, stages, "points", embeddings, input_points=points, input_labels=labels)
    low = stages.tensors["points.low_res_masks"][0, :, 0]
    stages.keep("points.logits_image", mask_logits(low, image.size, SIDE))
    # One box and two points together: no padding point; tokens are points, then box corners.
    box = torch.tensor([[[10.0, 8.0, 120.0, 100.0]]])
    stages.keep("mixed.net_box", box)
    both = dict(input_points=points[:, :1], input_labels=labels[:, :1], input_boxes=box)
    stages.keep("mixed.sparse", model.get_prompt_embeddings(**both)[0])
    decode(model, stages, "mixed", embeddings, **both)


def decode(model, stages: Stages, name: str, embeddings, **prompts) -> None:
    """All four masks and scores: the single mask (index 0) before the three of several."""
    hooks = []
    if name == "boxes":
        transformer = model.mask_decoder.transformer
        hooks = [
            stages.hook(transformer.layers[0], "boxes.decoder_layer0_tokens"),
            stages.hook(transformer, "boxes.decoder_tokens"),
        ]
    one = model(image_embeddings=embeddings, multimask_output=False, **prompts)
    for hook in hooks:
        hook.remove()
    many = model(image_embeddings=embeddings, multimask_output=True, **prompts)
    stages.keep(f"{name}.low_res_masks", torch.cat([one.pred_masks, many.pred_masks], 2))
    stages.keep(f"{name}.iou_scores", torch.cat([one.iou_scores, many.iou_scores], 2))
