"""The tiny checkpoints once more, in the layouts of their authors' own files, and files that must be refused."""

import io
import os
import pickle
import sys
import zipfile
from pathlib import Path

import torch
from safetensors.torch import load_file

from . import originals


def make(folder: Path) -> None:
    golden = folder.parent
    hub = {name: load_file(golden / name / "model.safetensors") for name in ["clip", "sam", "grounding-dino"]}
    weights = {name: without_buffers(tensors) for name, tensors in hub.items()}

    sam = originals.sam(weights["sam"])
    check_sam(golden, sam)
    torch.save(sam, folder / "sam.pth")

    clip = originals.clip(weights["clip"])
    check_clip(golden, clip)
    # Half precision where OpenAI's files have it (`convert_weights`): products, not norms and tables.
    half = {name: value.half() if products(name) else value for name, value in clip.items()}
    torch.save(half, folder / "clip-legacy.pt", _use_new_zipfile_serialization=False)
    sizes = {"input_resolution": torch.tensor(56), "context_length": torch.tensor(77), "vocab_size": torch.tensor(667)}
    torch.jit.save(torch.jit.script(tree(half | sizes)), folder / "clip-script.pt")

    dino = originals.grounding_dino(weights["grounding-dino"], 2)
    dino |= {"label_enc.weight": torch.zeros(3, 4), "bert.pooler.dense.weight": torch.zeros(2, 2), "bert.pooler.dense.bias": torch.zeros(2)}
    torch.save({"model": {f"module.{name}": value for name, value in dino.items()}}, folder / "grounding-dino.pth")

    strided(folder)
    harmful(folder)


def without_buffers(tensors: dict) -> dict:
    return {name: value for name, value in tensors.items() if value.is_floating_point()}


def products(name: str) -> bool:
    table = "ln_" in name or "embedding" in name or name == "logit_scale"
    return not table


class Node(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


def tree(tensors: dict) -> torch.nn.Module:
    """A module whose state dict is `tensors`."""
    root = Node()
    for name, value in tensors.items():
        *path, last = name.split(".")
        node = root
        for part in path:
            if not hasattr(node, part):
                node.add_module(part, Node())
            node = getattr(node, part)
        if value.is_floating_point():
            node.register_parameter(last, torch.nn.Parameter(value, requires_grad=False))
        else:
            node.register_buffer(last, value)
    return root


def check_sam(golden: Path, tensors: dict) -> None:
    """segment-anything itself takes the file and sees what transformers sees."""
    from segment_anything.modeling import ImageEncoderViT, MaskDecoder, PromptEncoder, TwoWayTransformer

    encoder = ImageEncoderViT(
        img_size=160, patch_size=16, embed_dim=36, depth=3, num_heads=3, mlp_ratio=4, out_chans=32, qkv_bias=True,
        norm_layer=lambda width: torch.nn.LayerNorm(width, eps=1e-6), use_rel_pos=True, window_size=4, global_attn_indexes=(1,),
    )
    prompts = PromptEncoder(embed_dim=32, image_embedding_size=(10, 10), input_image_size=(160, 160), mask_in_chans=16)
    decoder = MaskDecoder(
        transformer_dim=32, transformer=TwoWayTransformer(depth=2, embedding_dim=32, mlp_dim=64, num_heads=4),
        num_multimask_outputs=3, iou_head_depth=3, iou_head_hidden_dim=24,
    )
    whole = torch.nn.ModuleDict({"image_encoder": encoder, "prompt_encoder": prompts, "mask_decoder": decoder}).eval()
    whole.load_state_dict(tensors, strict=True)
    stages = load_file(golden / "sam" / "stages.safetensors")
    embedding = encoder(stages["boxes.pixels"])
    compare("SAM's embedding", embedding, stages["boxes.image_embedding"])
    sparse, dense = prompts(points=None, boxes=stages["boxes.net_boxes"][0], masks=None)
    masks, _ = decoder(embedding, prompts.get_dense_pe(), sparse, dense, multimask_output=False)
    compare("SAM's masks", masks, stages["boxes.low_res_masks"][0, :, :1])


def check_clip(golden: Path, tensors: dict) -> None:
    """open_clip, whose OpenAI models have OpenAI's names, takes the file and sees what transformers sees."""
    from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg

    vision = CLIPVisionCfg(layers=3, width=40, head_width=10, patch_size=14, image_size=56)
    text = CLIPTextCfg(context_length=77, vocab_size=667, width=32, heads=4, layers=2)
    model = CLIP(embed_dim=24, vision_cfg=vision, text_cfg=text, quick_gelu=True).eval()
    model.load_state_dict(tensors, strict=True)
    stages = load_file(golden / "clip" / "stages.safetensors")
    compare("CLIP's picture features", model.encode_image(stages["picture.pixels"]), stages["picture.features"])
    ids = torch.zeros(1, 77, dtype=torch.int64)
    ids[:, : stages["text0.ids"].shape[1]] = stages["text0.ids"]
    compare("CLIP's text features", model.encode_text(ids), stages["text0.features"])


def compare(what: str, ours: torch.Tensor, theirs: torch.Tensor) -> None:
    error = ((ours - theirs).abs().max() / theirs.abs().max()).item()
    print(f"  {what}: the original's code and transformers differ by {error:.1e}")
    assert error < 1e-4, what


def strided(folder: Path) -> None:
    """Views of one storage, nested under keys: what `torch.save` keeps as it is."""
    storage = torch.arange(24, dtype=torch.float32)
    views = {
        "whole": storage.view(4, 6), "transposed": storage.view(4, 6).T, "column": storage.view(4, 6)[:, 2],
        "tail": storage[20:], "half": torch.tensor([1.5]).half(), "brain": torch.tensor([1.5]).bfloat16(),
        "double": torch.tensor([1.5]).double(), "counts": torch.arange(3), "empty": torch.zeros(0, 3),
    }
    torch.save({"outer": {"inner": views}, "epoch": 3, "name": "a run"}, folder / "strided.pth")
    torch.save(views, folder / "strided-legacy.pth", _use_new_zipfile_serialization=False)


class Harmful:
    def __reduce__(self):
        # Would make a file if anyone ran it.
        return os.system, ("touch editscope-was-here",)


def harmful(folder: Path) -> None:
    state = {"weight": torch.zeros(2), "extra": Harmful()}
    torch.save(state, folder / "harmful.pth")
    torch.save(state, folder / "harmful-legacy.pth", _use_new_zipfile_serialization=False)
    # A TorchScript archive with the pickle replaced.
    script = io.BytesIO()
    torch.jit.save(torch.jit.script(tree({"weight": torch.zeros(2)})), script)
    with zipfile.ZipFile(script) as good, zipfile.ZipFile(folder / "harmful-script.pt", "w") as bad:
        for entry in good.infolist():
            data = pickle.dumps(Harmful(), protocol=2) if entry.filename.endswith("/data.pkl") else good.read(entry)
            bad.writestr(entry.filename, data)


if __name__ == "__main__":
    sys.exit("run generate.py --only layouts")
