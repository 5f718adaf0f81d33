"""Names and shapes of the published architectures, from the code that defines them: `python -m reference.original_names` in `tests/golden`.

Originals: segment-anything 1.0, open_clip_torch 3.3.0 (whose OpenAI models have OpenAI's names), groundingdino-py 0.4.0 with a BERT base that
has a pooler. Hub: transformers 4.57. Nothing is downloaded, and no weights are made: the modules stand on the meta device where they can.

A line is a name and its shape; `{0..11}` in a name stands for each number of that range.
"""

import re
from pathlib import Path

import torch

FOLDER = Path(__file__).resolve().parent.parent / "layouts"
SAM_SIZES = {"b": (768, 12, 12, [2, 5, 8, 11]), "l": (1024, 24, 16, [5, 11, 17, 23]), "h": (1280, 32, 16, [7, 15, 23, 31])}
CLIP_SIZES = {
    "b-32": (32, 224, 768, 12, 512), "b-16": (16, 224, 768, 12, 512), "l-14": (14, 224, 1024, 24, 768), "l-14-336": (14, 336, 1024, 24, 768),
}
SWIN_SIZES = {"t": (96, [2, 2, 6, 2], [3, 6, 12, 24], 7, 224), "b": (128, [2, 2, 18, 2], [4, 8, 16, 32], 12, 384)}


def fold(lines: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Join names that differ in one number only, wherever the numbers are 0, 1, 2, … and the shapes the same."""
    while True:
        groups: dict[tuple[str, str, str], list[int]] = {}
        for name, shape in lines:
            for number in re.finditer(r"(?<![^.])\d+(?![^.])", name):
                key = (name[: number.start()], name[number.end() :], shape)
                groups.setdefault(key, []).append(int(number.group()))
        whole = {key: len(numbers) for key, numbers in groups.items() if len(numbers) > 1 and sorted(numbers) == [*range(len(numbers))]}
        if not whole:
            return sorted(lines)
        head, tail, shape = min(whole, key=lambda key: (-whole[key], key))
        count = whole[head, tail, shape]
        lines -= {(f"{head}{number}{tail}", shape) for number in range(count)}
        lines.add((f"{head}{{0..{count - 1}}}{tail}", shape))


def write(name: str, state_dict: dict) -> None:
    lines = {(key, " ".join(map(str, value.shape))) for key, value in state_dict.items()}
    text = "".join(f"{key} {shape}".rstrip() + "\n" for key, shape in fold(lines))
    (FOLDER / f"{name}.txt").write_text(text)
    print(f"{name}: {len(state_dict)} tensors")


def sam() -> None:
    from segment_anything import sam_model_registry
    from transformers import SamConfig, SamModel, SamVisionConfig

    with torch.device("meta"):
        for name, (width, layers, heads, everywhere) in SAM_SIZES.items():
            write(f"sam-{name}.original", sam_model_registry[f"vit_{name}"]().state_dict())
            vision = SamVisionConfig(
                hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, global_attn_indexes=everywhere
            )
            write(f"sam-{name}.hub", SamModel(SamConfig(vision_config=vision)).state_dict())


def clip() -> None:
    import open_clip
    from open_clip.model import CLIP
    from transformers import CLIPConfig, CLIPModel

    with torch.device("meta"):
        for name, (patch, side, width, layers, text) in CLIP_SIZES.items():
            config = open_clip.get_model_config(f"ViT-{name.upper()}-quickgelu")
            write(f"clip-{name}.original", CLIP(**config).state_dict())
            texts = dict(hidden_size=text, intermediate_size=4 * text, num_attention_heads=text // 64)
            pictures = dict(
                hidden_size=width, intermediate_size=4 * width, num_hidden_layers=layers, num_attention_heads=width // 64,
                image_size=side, patch_size=patch,
            )
            write(f"clip-{name}.hub", CLIPModel(CLIPConfig(projection_dim=text, text_config=texts, vision_config=pictures)).state_dict())


def grounding_dino() -> None:
    from groundingdino.models import build_model
    from groundingdino.util.slconfig import SLConfig
    from transformers import GroundingDinoConfig, GroundingDinoForObjectDetection, SwinConfig

    import groundingdino

    configs = Path(groundingdino.__file__).parent / "config"
    for name, file in {"t": "GroundingDINO_SwinT_OGC.py", "b": "GroundingDINO_SwinB_cfg.py"}.items():
        config = SLConfig.fromfile(str(configs / file))
        config.device = "cpu"
        write(f"grounding-dino-{name}.original", build_model(config).state_dict())
        width, depths, heads, window, side = SWIN_SIZES[name]
        swin = SwinConfig(
            embed_dim=width, depths=depths, num_heads=heads, window_size=window, image_size=side, out_indices=[2, 3, 4]
        )
        write(f"grounding-dino-{name}.hub", GroundingDinoForObjectDetection(GroundingDinoConfig(backbone_config=swin)).state_dict())


if __name__ == "__main__":
    sam()
    clip()
    grounding_dino()
