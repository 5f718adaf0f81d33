"""What all fixtures share: seeds, random weights that are not degenerate, captured stages, small pictures, words."""

import json
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw
from safetensors.torch import save_file

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
torch.set_grad_enabled(False)

# The words of every tiny vocabulary: enough for the picture pairs in `bpm` and the phrases of the ladders.
WORDS = (
    "a an the and of to in on is with it make add remove replace turn into red green blue yellow white black orange "
    "purple cat dog ball wall car tree house bird apple cup hat star moon sun flower fish table chair small big bigger "
    "smaller left right above below next round square ring bar picture photo night sky grass water"
).split()


# What marks a table that is looked up or added, not multiplied: it needs no division by its fan in.
EMBEDDINGS = [
    "embedding", "level_embed", "point_embed", "mask_embed.weight", "not_a_point_embed", "iou_token", "mask_tokens",
]


def randomise(model: torch.nn.Module, seed: int, gain: float = 1.4, special: dict | None = None) -> None:
    """Fill every parameter so that activations differ between inputs and attention is far from uniform.

    Linear and convolution weights: normal, deviation gain/sqrt(fan in). Norm weights 1 ± 0.2, biases ± 0.1, embeddings ± 0.7.
    `special` maps an ending of a parameter's name to a deviation that replaces these.
    """
    generator = torch.Generator().manual_seed(seed)
    special = special or {}
    for name, parameter in sorted(model.named_parameters()):
        value = torch.randn(parameter.shape, generator=generator)
        override = next((s for end, s in special.items() if name.endswith(end)), None)
        if override is not None:
            value = value * override
        elif "norm" in name.lower() and name.endswith("weight") and parameter.dim() == 1:
            value = 1 + 0.2 * value
        elif name.endswith("bias"):
            value = 0.1 * value
        elif any(word in name for word in EMBEDDINGS) and "projection" not in name and parameter.dim() <= 2:
            value = 0.7 * value
        elif parameter.dim() >= 2:
            value = value * gain / parameter[0].numel() ** 0.5
        else:
            value = 0.5 * value
        parameter.data.copy_(value)


class Stages:
    """Tensors captured on the way, written as one safetensors file. Every tensor is float32 or int64, contiguous."""

    def __init__(self) -> None:
        self.tensors: dict[str, torch.Tensor] = {}

    def keep(self, name: str, value) -> None:
        value = torch.as_tensor(value).detach().clone().contiguous()
        if value.dtype in (torch.bool, torch.int32, torch.uint8):
            value = value.to(torch.int64)
        if value.dtype == torch.float64:
            value = value.float()
        assert value.dtype == torch.int64 or not torch.isnan(value).any(), name
        assert name not in self.tensors, f"{name} kept twice"
        self.tensors[name] = value

    def hook(self, module: torch.nn.Module, name: str, pick=None):
        """Keep what `module` gives under `name` (a tuple's first member unless `pick` says otherwise)."""

        def take(_module, _inputs, output):
            if pick is not None:
                value = pick(output)
            else:
                value = output[0] if isinstance(output, (tuple, list)) else output
            self.keep(name, value)

        return module.register_forward_hook(take)

    def save(self, path: Path) -> None:
        save_file(self.tensors, path)
        for name, value in self.tensors.items():
            print(f"  {name} {list(value.shape)} {str(value.dtype)[6:]}")


def write_json(path: Path, value) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def picture(width: int, height: int, seed: int, shapes: int = 5, noise: float = 4.0) -> Image.Image:
    """A smooth background with some noise (deviation in levels) and some hard-edged shapes, RGB."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    base = np.stack(
        [127 + 70 * np.sin(x / width * rng.uniform(2, 6) + y / height * rng.uniform(1, 5) + i) for i in range(3)], -1
    )
    base += rng.normal(0, noise, base.shape)
    image = Image.fromarray(np.clip(base, 0, 255).astype(np.uint8), "RGB")
    draw = ImageDraw.Draw(image)
    for _ in range(shapes):
        cx, cy = rng.uniform(0.1, 0.9) * width, rng.uniform(0.1, 0.9) * height
        rx, ry = rng.uniform(0.06, 0.22) * width, rng.uniform(0.06, 0.22) * height
        colour = tuple(int(v) for v in rng.integers(0, 256, 3))
        box = [cx - rx, cy - ry, cx + rx, cy + ry]
        (draw.ellipse if rng.random() < 0.5 else draw.rectangle)(box, fill=colour)
    return image
