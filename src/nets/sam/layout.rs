//! The kinds of files that SAM is published in.

use crate::nets::checkpoint::{Family, Layout, Settings, ignored, rename};

/// SAM in all its sizes.
pub static SAM: Family = Family { network: "SAM", layouts: &[HUB, ORIGINAL] };

/// transformers, `modeling_sam.py`, as saved by 4.x and 5.x.
const HUB: Layout = Layout {
    name: "the Hugging Face hub",
    marks: &["vision_encoder.pos_embed", "mask_decoder.iou_token.weight"],
    prefixes: &[],
    rules: &[],
    ignored: &[ignored("prompt_encoder.mask_embed.**", "takes a mask as a prompt")],
    settings: Settings::Beside,
};

/// facebookresearch/segment-anything, `sam_vit_{b,l,h}_*.pth`.
const ORIGINAL: Layout = Layout {
    name: "segment-anything's own files",
    marks: &["image_encoder.pos_embed", "mask_decoder.iou_token.weight"],
    prefixes: &["model.", "module."],
    rules: &[
        rename("image_encoder.pos_embed", &["vision_encoder.pos_embed"]),
        rename("image_encoder.patch_embed.proj.*", &["vision_encoder.patch_embed.projection.*"]),
        rename("image_encoder.blocks.*.norm1.*", &["vision_encoder.layers.*.layer_norm1.*"]),
        rename("image_encoder.blocks.*.norm2.*", &["vision_encoder.layers.*.layer_norm2.*"]),
        // Query, key and value are one matrix here and there.
        rename("image_encoder.blocks.*.attn.**", &["vision_encoder.layers.*.attn.**"]),
        rename("image_encoder.blocks.*.mlp.**", &["vision_encoder.layers.*.mlp.**"]),
        // Places in sequences of layers.
        rename("image_encoder.neck.0.*", &["vision_encoder.neck.conv1.*"]),
        rename("image_encoder.neck.1.*", &["vision_encoder.neck.layer_norm1.*"]),
        rename("image_encoder.neck.2.*", &["vision_encoder.neck.conv2.*"]),
        rename("image_encoder.neck.3.*", &["vision_encoder.neck.layer_norm2.*"]),
        rename("prompt_encoder.pe_layer.positional_encoding_gaussian_matrix", &["shared_image_embedding.positional_embedding"]),
        rename("prompt_encoder.point_embeddings.*.weight", &["prompt_encoder.point_embed.*.weight"]),
        rename("mask_decoder.transformer.layers.*.norm1.*", &["mask_decoder.transformer.layers.*.layer_norm1.*"]),
        rename("mask_decoder.transformer.layers.*.norm2.*", &["mask_decoder.transformer.layers.*.layer_norm2.*"]),
        rename("mask_decoder.transformer.layers.*.norm3.*", &["mask_decoder.transformer.layers.*.layer_norm3.*"]),
        rename("mask_decoder.transformer.layers.*.norm4.*", &["mask_decoder.transformer.layers.*.layer_norm4.*"]),
        rename("mask_decoder.transformer.norm_final_attn.*", &["mask_decoder.transformer.layer_norm_final_attn.*"]),
        rename("mask_decoder.output_upscaling.0.*", &["mask_decoder.upscale_conv1.*"]),
        rename("mask_decoder.output_upscaling.1.*", &["mask_decoder.upscale_layer_norm.*"]),
        rename("mask_decoder.output_upscaling.3.*", &["mask_decoder.upscale_conv2.*"]),
        // Heads of three layers: first and last have names of their own on the hub, and those between are counted from 0.
        rename("mask_decoder.output_hypernetworks_mlps.*.layers.0.*", &["mask_decoder.output_hypernetworks_mlps.*.proj_in.*"]),
        rename("mask_decoder.output_hypernetworks_mlps.*.layers.1.*", &["mask_decoder.output_hypernetworks_mlps.*.layers.0.*"]),
        rename("mask_decoder.output_hypernetworks_mlps.*.layers.2.*", &["mask_decoder.output_hypernetworks_mlps.*.proj_out.*"]),
        rename("mask_decoder.iou_prediction_head.layers.0.*", &["mask_decoder.iou_prediction_head.proj_in.*"]),
        rename("mask_decoder.iou_prediction_head.layers.1.*", &["mask_decoder.iou_prediction_head.layers.0.*"]),
        rename("mask_decoder.iou_prediction_head.layers.2.*", &["mask_decoder.iou_prediction_head.proj_out.*"]),
    ],
    ignored: &[
        ignored("prompt_encoder.mask_downscaling.**", "takes a mask as a prompt"),
        ignored("pixel_mean", "the mean of the pixels, which is ImageNet's"),
        ignored("pixel_std", "the deviation of the pixels, which is ImageNet's"),
    ],
    settings: Settings::Inferred,
};
