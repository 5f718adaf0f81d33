"""Baseline metrics by the packages that define them: scikit-image, lpips, transformers, torchvision's transforms."""

import json
import shutil
import warnings
from pathlib import Path

import cv2
import lpips
import numpy as np
import torch
from PIL import Image, ImageDraw
from safetensors.torch import save_file
from skimage.metrics import mean_squared_error, peak_signal_noise_ratio, structural_similarity
from torch.nn.functional import cosine_similarity, l1_loss, mse_loss
from torchvision.transforms import v2 as transforms
from torchvision.transforms.functional import to_tensor
from transformers import ViTConfig, ViTModel

from . import make_clip
from .common import picture, randomise, write_json

SEED = 71
# name → (source size, edit size, kind of region)
PAIRS = {
    "odd": ((61, 47), (61, 47), "blob"),
    "same": ((45, 52), (45, 52), "blob"),
    "flat": ((40, 33), (40, 33), "frame"),
    "size": ((50, 40), (64, 57), "blob"),
    "empty": ((33, 38), (33, 38), "empty"),
    "full": ((35, 31), (35, 31), "full"),
    "small": ((6, 9), (6, 9), "blob"),
    "tall": ((48, 90), (48, 90), "blob"),
}
LPIPS_PAIRS = ["odd", "same", "size", "tall"]
CAPTIONS = ["a red ball on grass", "a blue ball on grass"]
DINO = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, patch_size=16, image_size=224)


def region(size: tuple[int, int], kind: str) -> Image.Image:
    """A mask of 0 and 255; white is the edit region."""
    width, height = size
    mask = Image.new("L", size, 255 if kind == "full" else 0)
    if kind in ("blob", "frame"):
        box = [width * 0.2, height * 0.15, width * 0.7, height * 0.6]
        ImageDraw.Draw(mask).ellipse(box, fill=255)
    if kind == "frame":
        # Inside is only what SSIM's windows cannot be centred on.
        mask = Image.new("L", size, 255)
        ImageDraw.Draw(mask).rectangle([3, 3, width - 4, height - 4], fill=0)
    return mask


def write_pairs(folder: Path) -> None:
    for seed, (name, (source_size, edit_size, kind)) in enumerate(PAIRS.items()):
        source = picture(*source_size, SEED + seed, noise=9)
        if name == "same":
            edit = source.copy()
        elif name == "flat":
            source, edit = Image.new("RGB", source_size, (100, 20, 200)), Image.new("RGB", edit_size, (130, 20, 190))
        else:
            edit = source.resize(edit_size)
            extra = picture(*edit_size, SEED + 100 + seed)
            mask = region(edit_size, "blob")
            edit.paste(extra, (0, 0), mask)
            noise = np.random.default_rng(seed).normal(0, 3, (edit_size[1], edit_size[0], 3))
            edit = Image.fromarray(np.clip(np.asarray(edit) + noise, 0, 255).astype(np.uint8))
        source.save(folder / f"{name}-source.png")
        edit.save(folder / f"{name}-edit.png")
        region(source_size, kind).save(folder / f"{name}-region.png")


def load_pair(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Source, edit at the size of the source, and region as booleans."""
    source = np.asarray(Image.open(folder / f"{name}-source.png").convert("RGB"))
    edit = np.asarray(Image.open(folder / f"{name}-edit.png").convert("RGB"))
    inside = np.asarray(Image.open(folder / f"{name}-region.png")) > 127
    if edit.shape != source.shape:
        edit = cv2.resize(edit, (source.shape[1], source.shape[0]), interpolation=cv2.INTER_LINEAR)
    return source, edit, inside


def zones(inside: np.ndarray) -> dict[str, np.ndarray]:
    return {"whole": np.ones_like(inside), "inside": inside, "outside": ~inside}


def pixel_values(source: np.ndarray, edit: np.ndarray, inside: np.ndarray) -> dict:
    """name → zone → value; None where there is none."""
    found = {name: {} for name in ["l1", "l2", "pixel-l2", "psnr", "ssim"]}
    height, width = inside.shape
    similarity = None
    if min(width, height) >= 7:
        mean, full = structural_similarity(source, edit, channel_axis=-1, data_range=255, full=True)
        similarity = full.mean(-1)[3:-3, 3:-3]
    for zone, mask in zones(inside).items():
        if not mask.any():
            for values in found.values():
                values[zone] = None
            continue
        a, b = source[mask], edit[mask]
        # MagicBrush: torch's losses on pictures scaled to 0 … 1. A picture of one row holds the zone's pixels.
        scaled = [to_tensor(pixels[None]) for pixels in (a, b)]
        found["l1"][zone] = l1_loss(*scaled).item()
        found["l2"][zone] = mse_loss(*scaled).item()
        difference = a.astype(np.float64) - b.astype(np.float64)
        found["pixel-l2"][zone] = float(np.sqrt((difference**2).mean(-1)).mean() / 255)
        identical = mean_squared_error(a, b) == 0
        found["psnr"][zone] = None if identical else float(peak_signal_noise_ratio(a, b, data_range=255))
        centres = mask[3:-3, 3:-3]
        found["ssim"][zone] = float(similarity[centres].mean()) if similarity is not None and centres.any() else None
    if similarity is not None:
        assert abs(found["ssim"]["whole"] - mean) < 1e-12
    return found


def formula(name: str, count: int) -> np.ndarray:
    """`count` numbers in −0.5 … 0.5 that depend on `name` alone: whole-number arithmetic, so that any language gives the same."""
    seed = 2166136261
    for byte in name.encode():
        seed = (seed ^ byte) * 16777619 % 2**32
    x = (np.arange(count, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(seed)) % np.uint64(2**32)
    x ^= x >> np.uint64(15)
    x = x * np.uint64(2246822519) % np.uint64(2**32)
    x ^= x >> np.uint64(13)
    return (x >> np.uint64(8)).astype(np.float64) / 2**24 - 0.5


def trunk_values(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Weights of deviation √(2 / fan in), biases within ±0.1."""
    values = formula(name, int(np.prod(shape)))
    scale = 0.2 if len(shape) == 1 else np.sqrt(24.0 / np.prod(shape[1:]))
    return (values * scale).astype(np.float32).reshape(shape)


def lpips_values(folder: Path) -> dict:
    found = {}
    for net in ["alex", "vgg", "squeeze"]:
        heads = Path(lpips.__file__).parent / "weights" / "v0.1" / f"{net}.pth"
        (folder / f"lpips-{net}").mkdir(exist_ok=True)
        shutil.copy(heads, folder / f"lpips-{net}" / f"{net}.pth")
        plain = lpips.LPIPS(net=net, pnet_rand=True, verbose=False)
        # lpips keeps torchvision's numbers of layers: net.slice2.3.weight is features.3.weight.
        for name, parameter in plain.net.named_parameters():
            stored = "features." + name.split(".", 1)[1]
            parameter.data.copy_(torch.from_numpy(trunk_values(stored, tuple(parameter.shape))))
        for pair in LPIPS_PAIRS:
            source, edit, inside = load_pair(folder, pair)
            a, b = (lpips.im2tensor(pixels) for pixels in (source, edit))
            plain.spatial = False
            distance = plain(a, b).item()
            plain.spatial = True
            field = plain(a, b)[0, 0].double().numpy()
            values = {"whole": distance, "inside": field[inside].mean(), "outside": field[~inside].mean()}
            values["map_every_13th"] = [round(v, 9) for v in field.flatten()[::13].tolist()] if pair == "odd" else []
            found.setdefault(pair, {})[f"lpips-{net}"] = values
    return found


def write_dino(folder: Path) -> ViTModel:
    """The same small backbone in the Hugging Face layout and as the original code saves it."""
    config = ViTConfig(**DINO, layer_norm_eps=1e-6)
    config._attn_implementation = "eager"
    model = ViTModel(config, add_pooling_layer=False).eval()
    randomise(model, SEED, special={"position_embeddings": 0.5, "cls_token": 0.7})
    tensors = {name: value.contiguous() for name, value in model.state_dict().items()}
    for part in ["dino", "dino-original"]:
        (folder / part).mkdir(exist_ok=True)
    save_file(tensors, folder / "dino" / "model.safetensors", metadata={"format": "pt"})
    original = {
        "cls_token": tensors["embeddings.cls_token"],
        "pos_embed": tensors["embeddings.position_embeddings"],
        "patch_embed.proj.weight": tensors["embeddings.patch_embeddings.projection.weight"],
        "patch_embed.proj.bias": tensors["embeddings.patch_embeddings.projection.bias"],
    }
    for n in range(DINO["num_hidden_layers"]):
        hub = f"encoder.layer.{n}"
        for kind in ["weight", "bias"]:
            qkv = [tensors[f"{hub}.attention.attention.{name}.{kind}"] for name in ["query", "key", "value"]]
            original[f"blocks.{n}.attn.qkv.{kind}"] = torch.cat(qkv)
            for ours, theirs in [
                ("norm1", "layernorm_before"), ("attn.proj", "attention.output.dense"), ("norm2", "layernorm_after"),
                ("mlp.fc1", "intermediate.dense"), ("mlp.fc2", "output.dense"),
            ]:
                original[f"blocks.{n}.{ours}.{kind}"] = tensors[f"{hub}.{theirs}.{kind}"]
    for kind in ["weight", "bias"]:
        original[f"norm.{kind}"] = tensors[f"layernorm.{kind}"]
    torch.save(original, folder / "dino-original" / "dino_tiny_pretrain.pth")
    return model


def dino_values(folder: Path, model: ViTModel) -> tuple[dict, dict]:
    """Cosines of all pairs, pictures as they are; and the features of one picture with some of its pixels."""
    prepare = transforms.Compose([
        transforms.Resize(256, interpolation=transforms.InterpolationMode.BICUBIC),
        transforms.CenterCrop(224),
    ])
    mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])

    def pixels(file: str) -> torch.Tensor:
        square = prepare(Image.open(folder / file).convert("RGB"))
        return ((to_tensor(square) - mean[:, None, None]) / deviation[:, None, None])[None]

    def feature(file: str) -> torch.Tensor:
        return model(pixel_values=pixels(file)).last_hidden_state[:, 0]

    cosines = {name: cosine_similarity(feature(f"{name}-source.png"), feature(f"{name}-edit.png")).item() for name in PAIRS}
    stages = {
        "pixels_every_1009th": [round(v, 6) for v in pixels("odd-source.png").flatten()[::1009].tolist()],
        "features": feature("odd-source.png")[0].tolist(),
    }
    return cosines, stages


def clip_values(folder: Path) -> dict:
    model, processor, tokenizer = make_clip.load(folder.parent / "clip")

    def image(file: str) -> torch.Tensor:
        return model.get_image_features(**processor(Image.open(folder / file).convert("RGB"), return_tensors="pt"))

    def unit(feature: torch.Tensor) -> torch.Tensor:
        return feature / feature.norm(dim=1, keepdim=True)

    texts = [model.get_text_features(**tokenizer(text, return_tensors="pt")) for text in CAPTIONS]
    found = {}
    for name in PAIRS:
        source, edit = image(f"{name}-source.png"), image(f"{name}-edit.png")
        found[name] = {
            "clip-i": cosine_similarity(source, edit).item(),
            "clip-t": cosine_similarity(edit, texts[1]).item(),
            "clip-direction": None if name == "same"
            else cosine_similarity(unit(edit) - unit(source), unit(texts[1]) - unit(texts[0])).item(),
        }
    return found


def make(folder: Path) -> None:
    warnings.filterwarnings("ignore", message="The parameter 'pretrained'|Arguments other than a weight enum")
    write_pairs(folder)
    expected = {name: {"pixels": pixel_values(*load_pair(folder, name))} for name in PAIRS}
    for name, values in lpips_values(folder).items():
        expected[name]["lpips"] = values
    cosines, stages = dino_values(folder, write_dino(folder))
    for name, clip in clip_values(folder).items():
        expected[name]["dino"] = cosines[name]
        expected[name]["clip"] = clip
    check(expected)
    write_json(folder / "expected.json", {"captions": CAPTIONS, "dino_odd_source": stages, "pairs": expected})
    print("  " + json.dumps(expected["odd"]["pixels"]))


def check(expected: dict) -> None:
    """The random networks must tell their inputs apart, or a wrong port could pass."""
    assert expected["odd"]["dino"] < 0.99 and expected["same"]["dino"] > 0.999999
    for net in ["alex", "vgg", "squeeze"]:
        values = expected["odd"]["lpips"][f"lpips-{net}"]
        assert values["whole"] > 0.01 and values["inside"] > 1.1 * values["outside"], values
        assert expected["same"]["lpips"][f"lpips-{net}"]["whole"] == 0
    assert expected["flat"]["pixels"]["ssim"]["inside"] is None
