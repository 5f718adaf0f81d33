"""A helper of the detector's training, not part of the checkpoint: image features must name what stands under them.

At the middle of every thing the projected backbone features are compared with the projected text features of all 40 class
words and all colour and texture words. So text and image meet in one space before the fusion layers have to find it.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn
from transformers.models.grounding_dino.modeling_grounding_dino import generate_masks_with_special_tokens_and_transfer_map

import nets
import sprites

LOOKS = [*sprites.COLORS, *sprites.TEXTURES]


class Namer(nn.Module):
    """Two small linear maps from image features into the text space, and vectors for "nothing" and "as drawn"."""

    def __init__(self, model):
        super().__init__()
        d = model.config.d_model
        self.what, self.look = nn.Linear(d, d), nn.Linear(d, d)
        self.nothing, self.as_drawn = nn.Parameter(torch.randn(1, d) * 0.1), nn.Parameter(torch.randn(1, d) * 0.1)
        self.maps: list[torch.Tensor] = []
        self.right, self.means = 0.0, [3.7, 1.0, 2.0]
        for projection in model.model.input_proj_vision:
            projection.register_forward_hook(lambda _module, _given, out: self.maps.append(out))

    def words(self, model, tok) -> torch.Tensor:
        """Projected text features of all class words, then all looks: [51, d], the mean over a phrase's tokens."""
        ids, mask = nets.dino_tokens(tok, [f"{w} ." for w in [*sprites.NAMES, *LOOKS]])
        apart, positions = generate_masks_with_special_tokens_and_transfer_map(ids)
        inner = model.model
        text = inner.text_projection(inner.text_backbone(ids, apart, torch.zeros_like(ids), positions).last_hidden_state)
        own = ((ids != 101) & (ids != 102) & mask.bool()).float()[..., None]
        return (text * own).sum(1) / own.sum(1)

    def loss(self, model, tok, maps, every, owners, inside) -> torch.Tensor:
        """Cross entropy of the class at the middle of things, of "nothing" outside all boxes, and of the look where it is clear."""
        cells = torch.cat([m.flatten(2).transpose(1, 2) for m in maps[:4]], 1)
        words = self.words(model, tok)
        n = len(sprites.NAMES)
        pick, names, looks = owners >= 0, [], []
        for row, things in enumerate(every):
            kinds = torch.tensor([sprites.NAMES.index(t["name"]) if t["opacity"] > 0.28 else -100 for _, t in things] or [0])
            paints = torch.tensor([look_of(t) for _, t in things] or [0])
            own = owners[row][pick[row]]
            names.append(kinds[own])
            looks.append(paints[own])
        names, looks = torch.cat(names), torch.cat(looks)
        on = cells[pick]
        scale = cells.shape[-1] ** -0.5
        what = self.what(on) @ torch.cat([words[:n], self.nothing]).T * scale
        off = cells[~inside & ~pick]
        off = off[torch.randint(0, len(off), (min(len(off), 800),))]
        none = self.what(off) @ torch.cat([words[:n], self.nothing]).T * scale
        look = self.look(on) @ torch.cat([words[n:], self.as_drawn]).T * scale
        self.right = 0.97 * self.right + 0.03 * float((what.argmax(1) == names).float().mean())
        losses = [F.cross_entropy(what, names), F.cross_entropy(none, torch.full((len(off),), n)), F.cross_entropy(look, looks) if (looks >= 0).any() else torch.zeros(())]
        self.means = [0.97 * m + 0.03 * float(v) for m, v in zip(self.means, losses)]
        return losses[0] + 0.5 * losses[1] + 0.5 * losses[2]

    def report(self) -> str:
        """Running share of right names and running losses of name, nothing and look."""
        return f"named right {self.right:.3f} losses " + " ".join(f"{m:.2f}" for m in self.means)


def look_of(thing: dict) -> int:
    """Index into LOOKS, one past the end for things as drawn, -100 (no loss) where colour or texture is faint."""
    word = thing["color"] or thing["texture"]
    if thing["opacity"] < 0.5:
        return -100
    if word is None:
        return len(LOOKS)
    return LOOKS.index(word) if thing["mix"] >= 0.7 else -100
