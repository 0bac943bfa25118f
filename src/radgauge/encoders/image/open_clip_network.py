"""The networks of open_clip checkpoints, with open_clip's and timm's names for their parameters.

Radford et al. (2021), CLIP, ICML; Dosovitskiy et al. (2021), ViT, ICLR. Written anew because open_clip and timm
need torchvision, which must match the build of torch exactly. This module needs torch; `open_clip_form` is the way
in.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch
from torch import Tensor, nn

HEAD = 64
"""Width of an attention head in every network of this kind."""


class QuickGELU(nn.Module):
    """The approximation of OpenAI's checkpoints."""

    def forward(self, x: Tensor) -> Tensor:
        """x times sigmoid(1.702 x)."""
        return x * torch.sigmoid(1.702 * x)


class ResidualBlock(nn.Module):
    """A transformer block of open_clip."""

    def __init__(self, width: int, *, heads: int, inner: int, quick: bool) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        activation = QuickGELU() if quick else nn.GELU()
        self.mlp = nn.Sequential(
            OrderedDict(c_fc=nn.Linear(width, inner), gelu=activation, c_proj=nn.Linear(inner, width))
        )

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """(n, positions, width) to the same."""
        y = self.ln_1(x)
        x = x + self.attn(y, y, y, need_weights=False, attn_mask=mask)[0]
        summed: Tensor = x + self.mlp(self.ln_2(x))
        return summed


class Blocks(nn.Module):
    """The blocks under the name that checkpoints use: resblocks."""

    def __init__(self, width: int, layers: int, *, heads: int, inner: int, quick: bool) -> None:
        super().__init__()
        made = [ResidualBlock(width, heads=heads, inner=inner, quick=quick) for _ in range(layers)]
        self.resblocks = nn.ModuleList(made)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Through all of them."""
        for block in self.resblocks:
            x = block(x, mask)
        return x


class ClipVision(nn.Module):
    """open_clip's own vision transformer; the class token is projected."""

    def __init__(self, settings: dict[str, Any], embed: int, *, quick: bool) -> None:
        super().__init__()
        width, patch = int(settings.get("width", 768)), int(settings.get("patch_size", 16))
        size, heads = int(settings.get("image_size", 224)), width // int(settings.get("head_width", HEAD))
        inner = int(width * float(settings.get("mlp_ratio", 4.0)))
        self.conv1 = nn.Conv2d(3, width, patch, stride=patch, bias=False)
        self.class_embedding = nn.Parameter(torch.zeros(width))
        self.positional_embedding = nn.Parameter(torch.zeros((size // patch) ** 2 + 1, width))
        self.ln_pre, self.ln_post = nn.LayerNorm(width), nn.LayerNorm(width)
        self.transformer = Blocks(width, int(settings.get("layers", 12)), heads=heads, inner=inner, quick=quick)
        self.proj = nn.Parameter(torch.zeros(width, embed))

    def forward(self, x: Tensor) -> Tensor:
        """(n, 3, size, size) to (n, embed)."""
        patches = self.conv1(x).flatten(2).transpose(1, 2)
        first = self.class_embedding.expand(len(x), 1, -1)
        x = self.ln_pre(torch.cat([first, patches], dim=1) + self.positional_embedding)
        projected: Tensor = self.ln_post(self.transformer(x)[:, 0]) @ self.proj
        return projected


class ClipText(nn.Module):
    """open_clip's own text transformer; the end of the text is projected."""

    def __init__(self, settings: dict[str, Any], embed: int, *, quick: bool) -> None:
        super().__init__()
        width, length = int(settings.get("width", 512)), int(settings.get("context_length", 77))
        inner = int(width * float(settings.get("mlp_ratio", 4.0)))
        self.token_embedding = nn.Embedding(int(settings.get("vocab_size", 49408)), width)
        self.positional_embedding = nn.Parameter(torch.zeros(length, width))
        self.transformer = Blocks(
            width,
            int(settings.get("layers", 12)),
            heads=int(settings.get("heads", 8)),
            inner=inner,
            quick=quick,
        )
        self.ln_final = nn.LayerNorm(width)
        self.text_projection = nn.Parameter(torch.zeros(width, embed))

    def forward(self, ids: Tensor) -> Tensor:
        """(n, positions) to (n, embed); the end has the largest id, and nothing sees what follows it."""
        length = ids.shape[1]
        x = self.token_embedding(ids) + self.positional_embedding[:length]
        later = torch.full((length, length), float("-inf"), device=x.device).triu_(1)
        x = self.ln_final(self.transformer(x, later))
        projected: Tensor = x[torch.arange(len(ids), device=x.device), ids.argmax(dim=1)] @ self.text_projection
        return projected


class _Attention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        count, length, width = x.shape
        query, key, value = self.qkv(x).view(count, length, 3, width // HEAD, HEAD).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value)
        projected: Tensor = self.proj(mixed.transpose(1, 2).reshape(count, length, width))
        return projected


class _Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-6), nn.LayerNorm(width, eps=1e-6)
        self.attn = _Attention(width)
        layers = OrderedDict(fc1=nn.Linear(width, 4 * width), act=nn.GELU(), fc2=nn.Linear(4 * width, width))
        self.mlp = nn.Sequential(layers)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.norm1(x))
        summed: Tensor = x + self.mlp(self.norm2(x))
        return summed


class TimmVision(nn.Module):
    """timm's vision transformer under a linear projection, as open_clip wraps it (BiomedCLIP)."""

    def __init__(self, width: int, layers: int, patch: int, size: int, embed: int) -> None:
        super().__init__()
        self.trunk = nn.Module()
        self.trunk.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.trunk.pos_embed = nn.Parameter(torch.zeros(1, (size // patch) ** 2 + 1, width))
        self.trunk.patch_embed = nn.Module()
        self.trunk.patch_embed.proj = nn.Conv2d(3, width, patch, stride=patch)
        self.trunk.blocks = nn.Sequential(*(_Block(width) for _ in range(layers)))
        self.trunk.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Sequential(OrderedDict(proj=nn.Linear(width, embed, bias=False)))

    def forward(self, x: Tensor) -> Tensor:
        """(n, 3, size, size) to (n, embed)."""
        patches = self.trunk.patch_embed.proj(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.trunk.cls_token.expand(len(x), -1, -1), patches], dim=1) + self.trunk.pos_embed
        projected: Tensor = self.head(self.trunk.norm(self.trunk.blocks(x))[:, 0])
        return projected


class BertText(nn.Module):
    """An encoder of transformers under open_clip's pooling and projection."""

    def __init__(self, encoder: Any, embed: int, *, pooler: str, projection: str) -> None:
        super().__init__()
        self.transformer, self.pooler = encoder, pooler
        width = encoder.config.hidden_size
        if projection == "mlp":
            inner = (width + embed) // 2
            self.proj: nn.Module = nn.Sequential(
                nn.Linear(width, inner, bias=False), nn.GELU(), nn.Linear(inner, embed, bias=False)
            )
        else:
            self.proj = nn.Linear(width, embed, bias=False)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """(n, positions) to (n, embed)."""
        states = self.transformer(input_ids=ids, attention_mask=mask).last_hidden_state
        if self.pooler == "mean_pooler":
            states = (states * mask[:, :, None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)
        else:
            states = states[:, 0]
        projected: Tensor = self.proj(states)
        return projected
