//! The kinds of files that DINO's backbones are published in.

use crate::nets::checkpoint::{Family, Layout, Settings, ignored, rename, split};

/// DINO with a vision transformer.
pub static DINO: Family = Family { network: "DINO", layouts: &[HUB, ORIGINAL] };

/// transformers, `modeling_vit.py`, `ViTModel`. Its JSON files are not needed: the sizes come with the network's name.
const HUB: Layout = Layout {
    name: "the Hugging Face hub",
    marks: &["embeddings.cls_token", "encoder.layer.0.attention.attention.query.weight"],
    prefixes: &["vit."],
    rules: &[],
    ignored: &[ignored("pooler.dense.*", "DINO never trained a pooler")],
    settings: Settings::Inferred,
};

/// facebookresearch/dino, `vision_transformer.py`: the published backbones. Query, key and value are one matrix (thirds of its
/// rows, in that order).
const ORIGINAL: Layout = Layout {
    name: "DINO's authors",
    marks: &["cls_token", "blocks.0.attn.qkv.weight"],
    prefixes: &["backbone.", "module.", "module.backbone."],
    rules: &[
        rename("cls_token", &["embeddings.cls_token"]),
        rename("pos_embed", &["embeddings.position_embeddings"]),
        rename("patch_embed.proj.*", &["embeddings.patch_embeddings.projection.*"]),
        rename("blocks.*.norm1.*", &["encoder.layer.*.layernorm_before.*"]),
        split(
            "blocks.*.attn.qkv.*",
            &[
                "encoder.layer.*.attention.attention.query.*",
                "encoder.layer.*.attention.attention.key.*",
                "encoder.layer.*.attention.attention.value.*",
            ],
        ),
        rename("blocks.*.attn.proj.*", &["encoder.layer.*.attention.output.dense.*"]),
        rename("blocks.*.norm2.*", &["encoder.layer.*.layernorm_after.*"]),
        rename("blocks.*.mlp.fc1.*", &["encoder.layer.*.intermediate.dense.*"]),
        rename("blocks.*.mlp.fc2.*", &["encoder.layer.*.output.dense.*"]),
        rename("norm.*", &["layernorm.*"]),
    ],
    ignored: &[ignored("head.**", "the projection head of the training")],
    settings: Settings::Inferred,
};
