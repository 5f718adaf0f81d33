//! The kinds of files that Grounding DINO is published in.

use crate::nets::checkpoint::{Family, Layout, Settings, ignored, rename, split};

/// Grounding DINO with a Swin backbone.
pub static GROUNDING_DINO: Family = Family { network: "Grounding DINO", layouts: &[HUB, IN_MEMORY, ORIGINAL] };

/// transformers, `modeling_grounding_dino.py`, as saved by 4.x and 5.x.
const HUB: Layout = Layout {
    name: "the Hugging Face hub",
    marks: &["model.backbone.conv_encoder.model.embeddings.patch_embeddings.projection.weight", "model.text_projection.weight"],
    prefixes: &[],
    rules: &[],
    ignored: &[
        ignored("model.backbone.conv_encoder.model.**.relative_position_index", "follows from the window"),
        ignored(
            "model.backbone.conv_encoder.model.swin.layernorm.*",
            "norm of the backbone's last map, which no feature passes; 5.x saves it",
        ),
        ignored("model.text_backbone.embeddings.position_ids", "0, 1, 2, …, which older versions saved"),
    ],
    settings: Settings::Beside,
};

/// The names that transformers 5.x has in memory; it saves the ones above, a state dict taken from the model has these.
const IN_MEMORY: Layout = Layout {
    name: "transformers 5.x in memory",
    marks: &["model.backbone.conv_encoder.model.swin.embeddings.patch_embeddings.projection.weight", "model.text_projection.weight"],
    prefixes: &[],
    rules: &[
        rename("model.backbone.conv_encoder.model.swin.embeddings.**", &["model.backbone.conv_encoder.model.embeddings.**"]),
        rename(
            "model.backbone.conv_encoder.model.swin.encoder.layers.*.blocks.*.attention.q_proj.*",
            &["model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.attention.self.query.*"],
        ),
        rename(
            "model.backbone.conv_encoder.model.swin.encoder.layers.*.blocks.*.attention.k_proj.*",
            &["model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.attention.self.key.*"],
        ),
        rename(
            "model.backbone.conv_encoder.model.swin.encoder.layers.*.blocks.*.attention.v_proj.*",
            &["model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.attention.self.value.*"],
        ),
        rename(
            "model.backbone.conv_encoder.model.swin.encoder.layers.*.blocks.*.attention.o_proj.*",
            &["model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.attention.output.dense.*"],
        ),
        rename(
            "model.backbone.conv_encoder.model.swin.encoder.layers.*.blocks.*.attention.relative_position_bias.relative_position_bias_table",
            &["model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.attention.self.relative_position_bias_table"],
        ),
        rename(
            "model.backbone.conv_encoder.model.swin.encoder.layers.*.blocks.*.mlp.fc1.*",
            &["model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.intermediate.dense.*"],
        ),
        rename(
            "model.backbone.conv_encoder.model.swin.encoder.layers.*.blocks.*.mlp.fc2.*",
            &["model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.output.dense.*"],
        ),
        rename("model.backbone.conv_encoder.model.swin.encoder.**", &["model.backbone.conv_encoder.model.encoder.**"]),
    ],
    ignored: &[
        ignored("model.backbone.conv_encoder.model.**.relative_position_index", "follows from the window"),
        ignored("model.backbone.conv_encoder.model.swin.layernorm.*", "norm of the backbone's last map, which no feature passes"),
    ],
    settings: Settings::Beside,
};

/// IDEA-Research/GroundingDINO: `groundingdino_swint_ogc.pth`, `groundingdino_swinb_cogcoor.pth`, which are `{"model": {"module.…"}}`.
const ORIGINAL: Layout = Layout {
    name: "GroundingDINO's own files",
    marks: &["backbone.0.patch_embed.proj.weight", "transformer.tgt_embed.weight", "bert.embeddings.word_embeddings.weight"],
    prefixes: &["model.module.", "model.", "module."],
    rules: &[
        // Backbone. One matrix gives query, key and value.
        rename("backbone.0.patch_embed.proj.*", &["model.backbone.conv_encoder.model.embeddings.patch_embeddings.projection.*"]),
        rename("backbone.0.patch_embed.norm.*", &["model.backbone.conv_encoder.model.embeddings.norm.*"]),
        rename("backbone.0.layers.*.blocks.*.norm1.*", &["model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.layernorm_before.*"]),
        rename("backbone.0.layers.*.blocks.*.norm2.*", &["model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.layernorm_after.*"]),
        split(
            "backbone.0.layers.*.blocks.*.attn.qkv.*",
            &[
                "model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.attention.self.query.*",
                "model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.attention.self.key.*",
                "model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.attention.self.value.*",
            ],
        ),
        rename(
            "backbone.0.layers.*.blocks.*.attn.proj.*",
            &["model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.attention.output.dense.*"],
        ),
        rename(
            "backbone.0.layers.*.blocks.*.attn.relative_position_bias_table",
            &["model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.attention.self.relative_position_bias_table"],
        ),
        rename(
            "backbone.0.layers.*.blocks.*.mlp.fc1.*",
            &["model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.intermediate.dense.*"],
        ),
        rename("backbone.0.layers.*.blocks.*.mlp.fc2.*", &["model.backbone.conv_encoder.model.encoder.layers.*.blocks.*.output.dense.*"]),
        rename("backbone.0.layers.*.downsample.**", &["model.backbone.conv_encoder.model.encoder.layers.*.downsample.**"]),
        // Stages are counted from 0 here and from 1 there; the first gives no features.
        rename("backbone.0.norm1.*", &["model.backbone.conv_encoder.model.hidden_states_norms.stage2.*"]),
        rename("backbone.0.norm2.*", &["model.backbone.conv_encoder.model.hidden_states_norms.stage3.*"]),
        rename("backbone.0.norm3.*", &["model.backbone.conv_encoder.model.hidden_states_norms.stage4.*"]),
        rename("input_proj.**", &["model.input_proj_vision.**"]),
        // Text.
        rename("bert.**", &["model.text_backbone.**"]),
        rename("feat_map.*", &["model.text_projection.*"]),
        // Encoder: three lists here, three parts of each layer there.
        rename("transformer.encoder.layers.*.self_attn.**", &["model.encoder.layers.*.deformable_layer.self_attn.**"]),
        rename("transformer.encoder.layers.*.norm1.*", &["model.encoder.layers.*.deformable_layer.self_attn_layer_norm.*"]),
        rename("transformer.encoder.layers.*.linear1.*", &["model.encoder.layers.*.deformable_layer.fc1.*"]),
        rename("transformer.encoder.layers.*.linear2.*", &["model.encoder.layers.*.deformable_layer.fc2.*"]),
        rename("transformer.encoder.layers.*.norm2.*", &["model.encoder.layers.*.deformable_layer.final_layer_norm.*"]),
        split(
            "transformer.encoder.text_layers.*.self_attn.in_proj_weight",
            &[
                "model.encoder.layers.*.text_enhancer_layer.self_attn.query.weight",
                "model.encoder.layers.*.text_enhancer_layer.self_attn.key.weight",
                "model.encoder.layers.*.text_enhancer_layer.self_attn.value.weight",
            ],
        ),
        split(
            "transformer.encoder.text_layers.*.self_attn.in_proj_bias",
            &[
                "model.encoder.layers.*.text_enhancer_layer.self_attn.query.bias",
                "model.encoder.layers.*.text_enhancer_layer.self_attn.key.bias",
                "model.encoder.layers.*.text_enhancer_layer.self_attn.value.bias",
            ],
        ),
        rename(
            "transformer.encoder.text_layers.*.self_attn.out_proj.*",
            &["model.encoder.layers.*.text_enhancer_layer.self_attn.out_proj.*"],
        ),
        rename("transformer.encoder.text_layers.*.linear1.*", &["model.encoder.layers.*.text_enhancer_layer.fc1.*"]),
        rename("transformer.encoder.text_layers.*.linear2.*", &["model.encoder.layers.*.text_enhancer_layer.fc2.*"]),
        rename("transformer.encoder.text_layers.*.norm1.*", &["model.encoder.layers.*.text_enhancer_layer.layer_norm_before.*"]),
        rename("transformer.encoder.text_layers.*.norm2.*", &["model.encoder.layers.*.text_enhancer_layer.layer_norm_after.*"]),
        rename("transformer.encoder.fusion_layers.*.gamma_v", &["model.encoder.layers.*.fusion_layer.vision_param"]),
        rename("transformer.encoder.fusion_layers.*.gamma_l", &["model.encoder.layers.*.fusion_layer.text_param"]),
        rename("transformer.encoder.fusion_layers.*.layer_norm_v.*", &["model.encoder.layers.*.fusion_layer.layer_norm_vision.*"]),
        rename("transformer.encoder.fusion_layers.*.layer_norm_l.*", &["model.encoder.layers.*.fusion_layer.layer_norm_text.*"]),
        rename("transformer.encoder.fusion_layers.*.attn.v_proj.*", &["model.encoder.layers.*.fusion_layer.attn.vision_proj.*"]),
        rename("transformer.encoder.fusion_layers.*.attn.l_proj.*", &["model.encoder.layers.*.fusion_layer.attn.text_proj.*"]),
        rename(
            "transformer.encoder.fusion_layers.*.attn.values_v_proj.*",
            &["model.encoder.layers.*.fusion_layer.attn.values_vision_proj.*"],
        ),
        rename(
            "transformer.encoder.fusion_layers.*.attn.values_l_proj.*",
            &["model.encoder.layers.*.fusion_layer.attn.values_text_proj.*"],
        ),
        rename("transformer.encoder.fusion_layers.*.attn.out_v_proj.*", &["model.encoder.layers.*.fusion_layer.attn.out_vision_proj.*"]),
        rename("transformer.encoder.fusion_layers.*.attn.out_l_proj.*", &["model.encoder.layers.*.fusion_layer.attn.out_text_proj.*"]),
        // Decoder. The norms are numbered in the order in which they were added, not in which they are used.
        split(
            "transformer.decoder.layers.*.self_attn.in_proj_weight",
            &[
                "model.decoder.layers.*.self_attn.query.weight",
                "model.decoder.layers.*.self_attn.key.weight",
                "model.decoder.layers.*.self_attn.value.weight",
            ],
        ),
        split(
            "transformer.decoder.layers.*.self_attn.in_proj_bias",
            &[
                "model.decoder.layers.*.self_attn.query.bias",
                "model.decoder.layers.*.self_attn.key.bias",
                "model.decoder.layers.*.self_attn.value.bias",
            ],
        ),
        rename("transformer.decoder.layers.*.self_attn.out_proj.*", &["model.decoder.layers.*.self_attn.out_proj.*"]),
        rename("transformer.decoder.layers.*.norm2.*", &["model.decoder.layers.*.self_attn_layer_norm.*"]),
        split(
            "transformer.decoder.layers.*.ca_text.in_proj_weight",
            &[
                "model.decoder.layers.*.encoder_attn_text.query.weight",
                "model.decoder.layers.*.encoder_attn_text.key.weight",
                "model.decoder.layers.*.encoder_attn_text.value.weight",
            ],
        ),
        split(
            "transformer.decoder.layers.*.ca_text.in_proj_bias",
            &[
                "model.decoder.layers.*.encoder_attn_text.query.bias",
                "model.decoder.layers.*.encoder_attn_text.key.bias",
                "model.decoder.layers.*.encoder_attn_text.value.bias",
            ],
        ),
        rename("transformer.decoder.layers.*.ca_text.out_proj.*", &["model.decoder.layers.*.encoder_attn_text.out_proj.*"]),
        rename("transformer.decoder.layers.*.catext_norm.*", &["model.decoder.layers.*.encoder_attn_text_layer_norm.*"]),
        rename("transformer.decoder.layers.*.cross_attn.**", &["model.decoder.layers.*.encoder_attn.**"]),
        rename("transformer.decoder.layers.*.norm1.*", &["model.decoder.layers.*.encoder_attn_layer_norm.*"]),
        rename("transformer.decoder.layers.*.linear1.*", &["model.decoder.layers.*.fc1.*"]),
        rename("transformer.decoder.layers.*.linear2.*", &["model.decoder.layers.*.fc2.*"]),
        rename("transformer.decoder.layers.*.norm3.*", &["model.decoder.layers.*.final_layer_norm.*"]),
        rename("transformer.decoder.norm.*", &["model.decoder.layer_norm.*"]),
        rename("transformer.decoder.ref_point_head.**", &["model.decoder.reference_points_head.**"]),
        // The one box head stands under twelve names; `bbox_embed.N` is the hub's name too.
        rename("transformer.decoder.bbox_embed.**", &["model.decoder.bbox_embed.**"]),
        rename("transformer.tgt_embed.weight", &["model.query_position_embeddings.weight"]),
        rename("transformer.level_embed", &["model.level_embed"]),
        rename("transformer.enc_output.*", &["model.enc_output.*"]),
        rename("transformer.enc_output_norm.*", &["model.enc_output_norm.*"]),
        rename("transformer.enc_out_bbox_embed.**", &["model.encoder_output_bbox_embed.**"]),
    ],
    ignored: &[
        ignored("backbone.0.layers.*.blocks.*.attn.relative_position_index", "follows from the window"),
        ignored("label_enc.weight", "names of classes in training"),
        ignored("bert.pooler.**", "sums a text up, which nothing here asks for"),
        ignored("bert.embeddings.position_ids", "0, 1, 2, …"),
    ],
    settings: Settings::Inferred,
};
