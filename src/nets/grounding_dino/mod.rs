//! Grounding DINO: boxes for a phrase.
//!
//! A picture goes through a Swin backbone, a phrase through BERT; an encoder lets them look at each other; the cells of the picture most
//! like the phrase become the queries of a decoder, which moves their boxes. Source of the arithmetic: transformers 4.57,
//! `modeling_grounding_dino.py`; each module names its classes. What the released script of the metric does differently is followed here:
//! every token above the threshold is part of a label, and detections keep the order of the queries.

mod attention;
mod bert;
mod config;
mod decoder;
mod deformable;
mod encoder;
mod fusion;
mod inferred;
mod layout;
mod levels;
mod picture;
mod position;
#[cfg(feature = "flex")]
mod sampling;
mod select;
mod stages;
mod swin;
mod text;
mod windows;

use std::path::Path;

use burn::tensor::activation::sigmoid;
use burn::tensor::{Bool, Device, Tensor, TensorData};
use image::RgbImage;

pub use config::{BertConfig, Config, Preprocessing, SwinConfig};
pub use deformable::Pyramid;
pub use layout::GROUNDING_DINO;
pub use picture::net_size;
pub use stages::Stages;
pub use text::{Tokens, caption};

use crate::domain::{Detection, ImageSpace, Rect, Size, TokenMatch};
use crate::nets::NetError;
use crate::nets::checkpoint::{CheckpointError, Recognised, Scope, Weights};
use crate::nets::device::Target;
use crate::nets::layers::{Embedding, Linear};
use crate::nets::tokenize::BertTokenizer;
use bert::Bert;
use decoder::{BoxHead, Decoder, Seen};
use deformable::Reference;
use encoder::{Around, Encoder, Flow};
use levels::Projections;
use select::Selection;
use swin::Swin;
use text::Words;

/// Candidates at or below this score are left out; what lies above is kept, so that thresholds can be moved without the network.
pub const KEPT_ABOVE: f32 = 0.05;

/// Tokens above this probability are part of a label (`bpm.md` section 2).
pub const TEXT_THRESHOLD: f32 = 0.25;

/// What is computed once for a picture and serves every phrase.
#[derive(Clone)]
pub struct PictureFeatures {
    /// `[1, cells, width]`
    cells: Tensor<3>,
    /// `[1, cells, width]`, level embedding included.
    position: Tensor<3>,
    pyramid: Pyramid,
    size: Size,
}

/// What is computed once for a phrase and serves every picture.
#[derive(Clone)]
pub struct PhraseFeatures {
    caption: String,
    tokens: Tokens,
    /// `[1, tokens, width]`
    features: Tensor<3>,
    /// `[1, tokens, width]`
    position: Tensor<3>,
    /// True where a token does not see another: `[1, 1, tokens, tokens]`.
    hidden: Tensor<4, Bool>,
}

/// One query's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Number of the query: 0 started from the cell that was most like the text.
    pub query: usize,
    /// Edges in pixels of the picture; may leave it a little.
    pub rect_in_image: Rect<ImageSpace>,
    /// Largest token probability, in `0..=1`.
    pub confidence: f32,
    /// The words whose probability is above [`TEXT_THRESHOLD`]; empty where none is.
    pub phrase: String,
    /// Probability of each token of [`Detected::tokens`].
    pub token_probabilities: Vec<f32>,
}

/// All candidates for a phrase in a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Detected {
    /// The text as the network read it.
    pub caption: String,
    /// Its tokens.
    pub tokens: Vec<String>,
    /// How many tokens were too many for the network and cut.
    pub tokens_cut: usize,
    /// Those above [`KEPT_ABOVE`], in the order of the queries.
    pub candidates: Vec<Candidate>,
}

impl Detected {
    /// The candidates with the tokens of the words; those that only begin, end or separate phrases are left out.
    pub fn into_detections(self) -> Vec<Detection> {
        const SIGNS: [&str; 4] = ["[CLS]", "[SEP]", ".", "?"];
        let tokens = &self.tokens;
        let matches = |probabilities: Vec<f32>| {
            let words = tokens.iter().zip(probabilities).filter(|(token, _)| !SIGNS.contains(&token.as_str()));
            words.map(|(token, probability)| TokenMatch { token: token.clone(), probability }).collect()
        };
        let detection = |c: Candidate| Detection {
            rect_in_image: c.rect_in_image,
            phrase: c.phrase,
            confidence: c.confidence,
            tokens: matches(c.token_probabilities),
        };
        self.candidates.into_iter().map(detection).collect()
    }
}

/// The network.
pub struct GroundingDino {
    config: Config,
    preprocessing: Preprocessing,
    words: Words,
    swin: Swin,
    projections: Projections,
    bert: Bert,
    text_projection: Linear,
    /// `[1, queries, width]`: what the queries are before they have seen anything.
    content: Tensor<3>,
    encoder: Encoder,
    selection: Selection,
    decoder: Decoder,
    recognised: Recognised,
    device: Device,
}

impl GroundingDino {
    /// Loads the checkpoint at `path`, a file or a folder in any layout of [`GROUNDING_DINO`], onto the device of `target`.
    ///
    /// # Errors
    /// When a file is missing or damaged, when the configuration asks for another architecture, or when a tensor is missing, misshapen or
    /// not part of the network; the error names file, field or tensor.
    pub fn load(path: &Path, target: impl Into<Target>) -> Result<Self, CheckpointError> {
        let weights = Weights::open_as(path, &GROUNDING_DINO, target)?;
        let device = weights.device().clone();
        let (config, preprocessing, tokenizer, inferred) = match weights.settings_folder() {
            Some(folder) => {
                let config = Config::load(folder)?;
                let tokenizer = BertTokenizer::load(folder, config.text_config.vocab_size)?;
                (config, Preprocessing::load(folder)?, tokenizer, None)
            }
            None => {
                let config = Config::inferred(&weights)?;
                let tokenizer = BertTokenizer::built_in(config.text_config.vocab_size)?;
                let words = config.words();
                (config, Preprocessing::PUBLISHED, tokenizer, Some(words))
            }
        };
        let words = Words::new(tokenizer, config.max_text_len)?;
        let folder = weights.path().parent().unwrap_or(weights.path());
        let root = weights.root();
        let model = root.at("model");
        let activation = config::activation(folder, "activation_function", &config.activation_function)?;
        let heads = box_heads(folder, &root, &config)?;
        let network = Self {
            preprocessing,
            words,
            swin: Swin::load(&model.at("backbone.conv_encoder.model"), &config, folder)?,
            projections: Projections::load(&model, &config)?,
            bert: Bert::load(&model.at("text_backbone"), &config.text_config, folder)?,
            text_projection: Linear::load(&model.at("text_projection"), config.text_config.hidden_size, config.d_model)?,
            content: Embedding::load(&model.at("query_position_embeddings"), config.num_queries, config.d_model)?.table().unsqueeze_dim(0),
            encoder: Encoder::load(&model.at("encoder"), &config, activation)?,
            selection: Selection::load(&model, &config)?,
            decoder: Decoder::load(&model.at("decoder"), heads, &config, activation)?,
            device,
            recognised: weights.recognised(inferred),
            config,
        };
        weights.finish(&[])?;
        Ok(network)
    }

    /// Which layout the files had, and what was read off their shapes.
    pub fn recognised(&self) -> &Recognised {
        &self.recognised
    }

    /// The sizes of the network.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How pictures become pixels.
    pub fn preprocessing(&self) -> &Preprocessing {
        &self.preprocessing
    }

    /// All candidates for `text` in `picture` whose score is above [`KEPT_ABOVE`], in the order of the queries; boxes in pixels of the
    /// picture. `text` may hold several phrases, each ending in a full stop.
    ///
    /// # Errors
    /// For a picture without pixels or one too thin, a text that cannot be read, and when the device fails.
    pub fn detect(&self, picture: &RgbImage, text: &str) -> Result<Vec<Detection>, NetError> {
        Ok(self.detect_in(&self.features(picture)?, text)?.into_detections())
    }

    /// As [`GroundingDino::detect`], with what the picture has given already, and with the tokens' probabilities.
    ///
    /// # Errors
    /// For a text that cannot be read, and when the device fails.
    pub fn detect_in(&self, picture: &PictureFeatures, text: &str) -> Result<Detected, NetError> {
        self.match_in(picture, &self.phrase(text)?)
    }

    /// As [`GroundingDino::detect_in`], with what the phrase has given already.
    ///
    /// # Errors
    /// When the device fails.
    pub fn match_in(&self, picture: &PictureFeatures, phrase: &PhraseFeatures) -> Result<Detected, NetError> {
        self.match_staged(picture, phrase, &mut Stages::none())
    }

    /// What a picture gives for every phrase.
    ///
    /// # Errors
    /// For a picture without pixels or one so thin that a side vanishes in the network's pixels.
    pub fn features(&self, picture: &RgbImage) -> Result<PictureFeatures, NetError> {
        self.features_staged(picture, &mut Stages::none())
    }

    /// What a phrase gives for every picture. The text is brought to lower case, trimmed, and ended with a full stop.
    ///
    /// # Errors
    /// When the tokenizer fails.
    pub fn phrase(&self, text: &str) -> Result<PhraseFeatures, NetError> {
        self.phrase_staged(caption(text), &mut Stages::none())
    }

    /// As [`GroundingDino::features`], showing the tensors on the way.
    ///
    /// # Errors
    /// As [`GroundingDino::features`].
    pub fn features_staged(&self, picture: &RgbImage, stages: &mut Stages<'_>) -> Result<PictureFeatures, NetError> {
        let size = Size::new(picture.width(), picture.height());
        let pixels = picture::pixels(picture, &self.preprocessing, &self.device)?;
        stages.keep("pixels", || pixels.clone());
        let levels = self.projections.forward(self.swin.forward(pixels, stages), stages);
        stages.keep("vision_position", || levels.position.clone());
        Ok(PictureFeatures { cells: levels.cells, position: levels.position, pyramid: levels.pyramid, size })
    }

    /// What a caption gives, taken as it is, showing the tensors on the way.
    ///
    /// # Errors
    /// When the tokenizer fails.
    pub fn phrase_staged(&self, caption: String, stages: &mut Stages<'_>) -> Result<PhraseFeatures, NetError> {
        let tokens = self.words.tokens(&caption)?;
        let (count, width) = (tokens.count(), self.config.d_model);
        tokens.show(stages, &self.device);
        let hidden: Vec<bool> = tokens.seen.iter().map(|seen| !seen).collect();
        let hidden = Tensor::from_data(TensorData::new(hidden, [1, 1, count, count]), &self.device);
        let features = self.text_projection.forward(self.bert.forward(&tokens, &hidden, stages));
        stages.keep("text_projected", || features.clone());
        let position = TensorData::new(position::of_tokens(&tokens.positions, width), [1, count, width]);
        Ok(PhraseFeatures { caption, tokens, features, position: Tensor::from_data(position, &self.device), hidden })
    }

    /// As [`GroundingDino::match_in`], showing the tensors on the way.
    ///
    /// # Errors
    /// When the device fails.
    pub fn match_staged(&self, picture: &PictureFeatures, phrase: &PhraseFeatures, stages: &mut Stages<'_>) -> Result<Detected, NetError> {
        let pyramid = &picture.pyramid;
        let centres: Vec<f32> = pyramid.centres().flat_map(|(at, _)| at).collect();
        let around = Around {
            vision_position: picture.position.clone(),
            text_position: phrase.position.clone(),
            hidden: phrase.hidden.clone(),
            reference: Reference::Points(Tensor::from_data(TensorData::new(centres, [pyramid.cells, 2]), &self.device)),
            pyramid,
        };
        let flow = Flow { vision: picture.cells.clone(), text: phrase.features.clone() };
        let Flow { vision, text } = self.encoder.forward(flow, &around, stages);
        stages.keep("encoder_text", || text.clone());
        let boxes = self.selection.forward(vision.clone(), text.clone(), pyramid, stages)?;
        let [_, queries, _] = boxes.dims();
        let content = self.content.clone().narrow(1, 0, queries);
        let found = self.decoder.forward(content, boxes, &Seen { vision, text, pyramid }, stages);
        let probabilities = finite(sigmoid(found.logits), "the scores of the tokens")?;
        let boxes = finite(found.boxes, "the boxes")?;
        self.candidates(&probabilities, &boxes, picture.size, phrase)
    }

    /// What the numbers say, in pixels and words. `probabilities` has a row of tokens for each query, `boxes` cx, cy, w, h.
    fn candidates(&self, probabilities: &[f32], boxes: &[f32], size: Size, phrase: &PhraseFeatures) -> Result<Detected, NetError> {
        let tokens = &phrase.tokens;
        let (width, height) = (size.width as f32, size.height as f32);
        let mut candidates = Vec::new();
        for (query, (row, rect)) in probabilities.chunks_exact(tokens.count()).zip(boxes.chunks_exact(4)).enumerate() {
            let confidence = row.iter().copied().fold(0.0, f32::max);
            if confidence <= KEPT_ABOVE {
                continue;
            }
            let ids: Vec<u32> = tokens.ids.iter().zip(row).filter(|(_, p)| **p > TEXT_THRESHOLD).map(|(&id, _)| id).collect();
            let (cx, cy, w, h) = (rect[0], rect[1], rect[2], rect[3]);
            candidates.push(Candidate {
                query,
                rect_in_image: Rect::new((cx - 0.5 * w) * width, (cy - 0.5 * h) * height, (cx + 0.5 * w) * width, (cy + 0.5 * h) * height),
                confidence,
                phrase: self.words.decode(&ids)?,
                token_probabilities: row.to_vec(),
            });
        }
        Ok(Detected { caption: phrase.caption.clone(), tokens: self.words.pieces(&tokens.ids), tokens_cut: tokens.cut, candidates })
    }
}

/// The values of a tensor.
///
/// # Errors
/// When one is not finite, or the device fails.
fn finite<const D: usize>(tensor: Tensor<D>, what: &'static str) -> Result<Vec<f32>, NetError> {
    let values = tensor.try_into_vec_as::<f32>()?;
    if values.iter().all(|v| v.is_finite()) { Ok(values) } else { Err(NetError::NotFinite { what }) }
}

/// The box head of each decoder layer. One head may serve all; it is stored once, as the head of the first layer or of the decoder's, or under
/// every name.
fn box_heads(folder: &Path, root: &Scope<'_>, config: &Config) -> Result<Vec<BoxHead>, CheckpointError> {
    let names = |layer: usize| [format!("bbox_embed.{layer}"), format!("model.decoder.bbox_embed.{layer}")];
    let load = |names: &[String]| {
        let mut stored = names.iter().filter(|name| root.at(name).has("layers.0.weight"));
        // Where there is none, the error names the published place.
        let first = stored.next().unwrap_or(&names[0]);
        for other in stored {
            expect_same(folder, root, [first, other], config.d_model)?;
        }
        BoxHead::load(&root.at(first), config.d_model)
    };
    if config.decoder_bbox_embed_share {
        let all: Vec<String> = (0..config.decoder_layers).flat_map(names).collect();
        return Ok(vec![load(&all)?; config.decoder_layers]);
    }
    (0..config.decoder_layers).map(|layer| load(&names(layer))).collect()
}

/// Checks that two heads are the same.
fn expect_same(folder: &Path, root: &Scope<'_>, heads: [&str; 2], width: usize) -> Result<(), CheckpointError> {
    for (tensor, shape) in BoxHead::tensors(width) {
        let [first, second] = heads.map(|head| root.at(head));
        if first.values(tensor, &shape)? != second.values(tensor, &shape)? {
            let (first, second) = (first.name(tensor), second.name(tensor));
            return Err(CheckpointError::NotTied { path: folder.to_owned(), first, second });
        }
    }
    Ok(())
}
