//! The kinds of files that CLIP is published in.

use crate::nets::checkpoint::{Family, Layout, Settings, ignored, rename, split, transposed};

/// CLIP with a vision transformer.
pub static CLIP: Family = Family { network: "CLIP", layouts: &[HUB, OPENAI] };

/// transformers, `modeling_clip.py`, as saved by 4.x and 5.x.
const HUB: Layout = Layout {
    name: "the Hugging Face hub",
    marks: &["text_model.embeddings.token_embedding.weight", "vision_model.embeddings.class_embedding"],
    prefixes: &[],
    rules: &[],
    ignored: &[
        ignored("text_model.embeddings.position_ids", "0, 1, 2, …, which transformers 4.x saved"),
        ignored("vision_model.embeddings.position_ids", "0, 1, 2, …, which transformers 4.x saved"),
        ignored("logit_scale", "only scales similarities; the metric takes cosines"),
    ],
    settings: Settings::Beside,
};

/// openai/CLIP, `clip/model.py`: the published TorchScript archives and plain state dicts. A query, key and value projection is one matrix
/// (thirds of its rows, in that order), and the two last projections are stored the other way round.
const OPENAI: Layout = Layout {
    name: "OpenAI's CLIP",
    marks: &["visual.class_embedding", "transformer.resblocks.0.attn.in_proj_weight", "token_embedding.weight"],
    prefixes: &["model.", "state_dict.", "state_dict.module.", "module."],
    rules: &[
        rename("visual.conv1.weight", &["vision_model.embeddings.patch_embedding.weight"]),
        rename("visual.class_embedding", &["vision_model.embeddings.class_embedding"]),
        rename("visual.positional_embedding", &["vision_model.embeddings.position_embedding.weight"]),
        // The hub's name has this spelling.
        rename("visual.ln_pre.*", &["vision_model.pre_layrnorm.*"]),
        rename("visual.transformer.resblocks.*.ln_1.*", &["vision_model.encoder.layers.*.layer_norm1.*"]),
        split(
            "visual.transformer.resblocks.*.attn.in_proj_weight",
            &[
                "vision_model.encoder.layers.*.self_attn.q_proj.weight",
                "vision_model.encoder.layers.*.self_attn.k_proj.weight",
                "vision_model.encoder.layers.*.self_attn.v_proj.weight",
            ],
        ),
        split(
            "visual.transformer.resblocks.*.attn.in_proj_bias",
            &[
                "vision_model.encoder.layers.*.self_attn.q_proj.bias",
                "vision_model.encoder.layers.*.self_attn.k_proj.bias",
                "vision_model.encoder.layers.*.self_attn.v_proj.bias",
            ],
        ),
        rename("visual.transformer.resblocks.*.attn.out_proj.*", &["vision_model.encoder.layers.*.self_attn.out_proj.*"]),
        rename("visual.transformer.resblocks.*.ln_2.*", &["vision_model.encoder.layers.*.layer_norm2.*"]),
        rename("visual.transformer.resblocks.*.mlp.c_fc.*", &["vision_model.encoder.layers.*.mlp.fc1.*"]),
        rename("visual.transformer.resblocks.*.mlp.c_proj.*", &["vision_model.encoder.layers.*.mlp.fc2.*"]),
        rename("visual.ln_post.*", &["vision_model.post_layernorm.*"]),
        transposed("visual.proj", &["visual_projection.weight"]),
        rename("token_embedding.weight", &["text_model.embeddings.token_embedding.weight"]),
        rename("positional_embedding", &["text_model.embeddings.position_embedding.weight"]),
        rename("transformer.resblocks.*.ln_1.*", &["text_model.encoder.layers.*.layer_norm1.*"]),
        split(
            "transformer.resblocks.*.attn.in_proj_weight",
            &[
                "text_model.encoder.layers.*.self_attn.q_proj.weight",
                "text_model.encoder.layers.*.self_attn.k_proj.weight",
                "text_model.encoder.layers.*.self_attn.v_proj.weight",
            ],
        ),
        split(
            "transformer.resblocks.*.attn.in_proj_bias",
            &[
                "text_model.encoder.layers.*.self_attn.q_proj.bias",
                "text_model.encoder.layers.*.self_attn.k_proj.bias",
                "text_model.encoder.layers.*.self_attn.v_proj.bias",
            ],
        ),
        rename("transformer.resblocks.*.attn.out_proj.*", &["text_model.encoder.layers.*.self_attn.out_proj.*"]),
        rename("transformer.resblocks.*.ln_2.*", &["text_model.encoder.layers.*.layer_norm2.*"]),
        rename("transformer.resblocks.*.mlp.c_fc.*", &["text_model.encoder.layers.*.mlp.fc1.*"]),
        rename("transformer.resblocks.*.mlp.c_proj.*", &["text_model.encoder.layers.*.mlp.fc2.*"]),
        rename("ln_final.*", &["text_model.final_layer_norm.*"]),
        transposed("text_projection", &["text_projection.weight"]),
    ],
    ignored: &[
        ignored("logit_scale", "only scales similarities; the metric takes cosines"),
        // The archives hold three numbers of the configuration; they follow from the shapes too.
        ignored("input_resolution", "a size"),
        ignored("context_length", "a size"),
        ignored("vocab_size", "a size"),
    ],
    settings: Settings::Inferred,
};
