"""Full-size checkpoints with random weights, in the folder layout of the published ones.

Speed and memory do not depend on the values, so nothing has to be downloaded. The tokenizers are the small ones of the golden fixtures;
their tables are a part of the published vocabularies' rows, which the text models have in full.

    python benches/reference/checkpoints.py DIR [--sam vit-b|vit-h]

writes DIR/clip (ViT-L/14), DIR/sam and DIR/grounding-dino (Swin-T): 2.8 GB with SAM ViT-B, 5 GB with ViT-H.
"""

import argparse
import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import CLIPConfig, CLIPModel, GroundingDinoConfig, GroundingDinoForObjectDetection, SamConfig, SamModel

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden"
IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225], "rescale_factor": 1 / 255}
STEPS = {"do_normalize": True, "do_rescale": True, "do_resize": True, "do_pad": True}
SAM_SIZES = {
    "vit-b": {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "global_attn_indexes": [2, 5, 8, 11]},
    "vit-h": {"hidden_size": 1280, "num_hidden_layers": 32, "num_attention_heads": 16, "global_attn_indexes": [7, 15, 23, 31]},
}


def write(folder: Path, config: dict, preprocessor: dict, model: torch.nn.Module, drop: tuple[str, ...] = ()) -> None:
    """Writes the three files of a checkpoint; tensors whose names begin with one of `drop` share another's memory and are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    (folder / "preprocessor_config.json").write_text(json.dumps(preprocessor, indent=2))
    tensors = {name: value.clone().contiguous() for name, value in model.state_dict().items() if not name.startswith(drop or ("\0",))}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def clip(folder: Path) -> None:
    """CLIP ViT-L/14."""
    text = {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 12, "projection_dim": 768}
    vision = {
        "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24, "patch_size": 14,
        "image_size": 224, "projection_dim": 768,
    }
    config = {
        "model_type": "clip", "projection_dim": 768,
        "text_config": {**text, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-05, "vocab_size": 49408, "max_position_embeddings": 77},
        "vision_config": {**vision, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-05},
    }
    preprocessor = {
        "size": 224, "crop_size": 224, "do_center_crop": True, "do_normalize": True, "do_resize": True, "resample": 3,
        "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711],
    }
    write(folder, config, preprocessor, CLIPModel(CLIPConfig(**config)))
    shutil.copy(GOLDEN / "clip" / "tokenizer.json", folder)


def sam(folder: Path, size: str) -> None:
    """SAM of a published size."""
    config = {
        "model_type": "sam",
        "vision_config": SAM_SIZES[size],
        "prompt_encoder_config": {"hidden_size": 256, "image_size": 1024, "patch_size": 16},
        "mask_decoder_config": {"hidden_size": 256, "mlp_dim": 2048, "num_attention_heads": 8, "num_hidden_layers": 2},
    }
    preprocessor = {**IMAGENET, **STEPS, "resample": 2, "size": {"longest_edge": 1024}, "pad_size": {"height": 1024, "width": 1024}}
    model = SamModel(SamConfig(**config))
    for name, value in model.named_parameters():
        # Zero in transformers, which would make these terms cost nothing in an arithmetic that looks at values.
        if "rel_pos" in name or "pos_embed" in name:
            torch.nn.init.normal_(value, std=0.02)
    write(folder, config, preprocessor, model)


def grounding_dino(folder: Path) -> None:
    """Grounding DINO with a Swin-T backbone."""
    swin = {"model_type": "swin", "depths": [2, 2, 6, 2], "num_heads": [3, 6, 12, 24], "out_indices": [2, 3, 4]}
    swin["out_features"] = ["stage2", "stage3", "stage4"]
    config = {"model_type": "grounding-dino", "backbone_config": swin, "text_config": {"model_type": "bert"}}
    preprocessor = {**IMAGENET, **STEPS, "format": "coco_detection", "resample": 2, "size": {"shortest_edge": 800, "longest_edge": 1333}}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    model = GroundingDinoForObjectDetection(GroundingDinoConfig.from_pretrained(folder))
    tied = ("model.decoder.bbox_embed.", *(f"bbox_embed.{layer}." for layer in range(1, 6)))
    write(folder, config, preprocessor, model, drop=tied)
    shutil.copy(GOLDEN / "grounding-dino" / "tokenizer.json", folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sam", choices=SAM_SIZES, default="vit-b", help="size of SAM (the paper's is vit-h)")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    clip(arguments.folder / "clip")
    sam(arguments.folder / "sam", arguments.sam)
    grounding_dino(arguments.folder / "grounding-dino")


if __name__ == "__main__":
    main()
