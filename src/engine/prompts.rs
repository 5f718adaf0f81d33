//! Points and boxes for the segmenter: the newest question is answered, from the embedding of a picture that is made once.

#[cfg(feature = "nets")]
use std::path::Path;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::{ImageSpace, Mask, Point, Rect, Size};
use crate::nets::preference::DevicePreference;

use super::handle::Outbox;
use super::messages::{Event, ModelSource};
use super::networks::NetworkSlot;

/// What a person says about a thing on a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptRequest {
    /// Names the question; it comes back with the answer.
    pub token: u64,
    pub picture: PathBuf,
    pub models: ModelSource,
    pub device: DevicePreference,
    /// In upright pixels of the picture; whether the thing is there.
    pub points: Vec<(Point<ImageSpace>, bool)>,
    /// A box around the thing, in upright pixels of the picture.
    pub rect: Option<Rect<ImageSpace>>,
    /// The size that the masks shall have; the picture is stretched to it.
    pub out: Size,
}

/// What the engine tells about a prompt.
#[derive(Clone, Debug, PartialEq)]
pub enum PromptEvent {
    /// What it is doing, in words.
    Stage { token: u64, words: String },
    /// Masks with the network's own estimate of their quality, best first; or why there are none.
    Answered { token: u64, result: Result<Vec<(Mask, f32)>, String> },
}

/// Where the newest question lies until the inference thread takes it; an older one is replaced unseen.
#[derive(Clone, Default)]
pub struct PromptDesk(Arc<Mutex<Option<PromptRequest>>>);

impl PromptDesk {
    /// Lays a question down.
    pub fn put(&self, request: PromptRequest) {
        // A panic elsewhere cannot leave an option half-changed.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(request);
    }

    /// Takes the question, if there is one.
    pub fn take(&self) -> Option<PromptRequest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether a newer question has come.
    pub fn is_waiting(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Whether a question waits that these networks can answer; for others a run would load them again and again.
    pub fn is_for(&self, models: &ModelSource, device: DevicePreference) -> bool {
        let desk = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        desk.as_ref().is_some_and(|request| request.models == *models && request.device == device)
    }

    /// Answers the question that lies here, if there is one.
    pub fn serve(&self, networks: &mut NetworkSlot, seen: &mut SeenPictures, out: &Outbox) {
        let Some(request) = self.take() else { return };
        let token = request.token;
        let stage = |words: &str| out.publish(Event::Prompt(PromptEvent::Stage { token, words: words.to_owned() }));
        let result = answer(&request, networks, seen, &stage, out, &|| self.is_waiting());
        // An answer to a question that was replaced meanwhile is of no use.
        if !self.is_waiting() {
            out.publish(Event::Prompt(PromptEvent::Answered { token, result: result.map_err(|error| crate::engine::in_words(&error)) }));
        }
    }
}

#[cfg(feature = "nets")]
pub use with_nets::SeenPictures;
#[cfg(feature = "nets")]
use with_nets::answer;

#[cfg(feature = "nets")]
mod with_nets {
    use std::time::SystemTime;

    use anyhow::Context as _;

    use super::{Event, Mask, NetworkSlot, Outbox, Path, PathBuf, PromptRequest};
    use crate::imaging::decode::{DecodeOptions, decode};
    use crate::nets::sam::{PointPrompt, Sam, SamEmbedding};

    /// Pictures whose embeddings are kept: both of the pair at hand, and of the pair before.
    const KEPT: usize = 4;

    /// What tells that an embedding still fits: the file as it was, and the network that looked at it.
    #[derive(PartialEq)]
    struct Key {
        path: PathBuf,
        modified: Option<SystemTime>,
        bytes: u64,
        network: String,
    }

    /// Embeddings of the last pictures that were asked about, most recently used last.
    #[derive(Default)]
    pub struct SeenPictures(Vec<(Key, SamEmbedding)>);

    impl SeenPictures {
        /// The embedding of a picture, made if it is not there.
        fn of(&mut self, path: &Path, network: String, sam: &Sam, stage: &dyn Fn(&str)) -> anyhow::Result<&SamEmbedding> {
            let meta = std::fs::metadata(path).with_context(|| format!("the picture cannot be read: {}", path.display()))?;
            let key = Key { path: path.to_owned(), modified: meta.modified().ok(), bytes: meta.len(), network };
            match self.0.iter().position(|(known, _)| *known == key) {
                Some(at) => {
                    let hit = self.0.remove(at);
                    self.0.push(hit);
                }
                None => {
                    stage("looking at the picture");
                    let picture = decode(path, &DecodeOptions::default())?.rgb;
                    let embedding = sam.embed(&picture)?;
                    if self.0.len() >= KEPT {
                        self.0.remove(0);
                    }
                    self.0.push((key, embedding));
                }
            }
            let (_, embedding) = self.0.last().context("the embedding was lost")?;
            Ok(embedding)
        }
    }

    pub(super) fn answer(
        request: &PromptRequest,
        networks: &mut NetworkSlot,
        seen: &mut SeenPictures,
        stage: &dyn Fn(&str),
        out: &Outbox,
        superseded: &dyn Fn() -> bool,
    ) -> anyhow::Result<Vec<(Mask, f32)>> {
        stage("loading the networks");
        networks.load(&request.models, request.device, &mut |event: Event| out.publish(event))?;
        networks.with_segmenter(|sam, network| {
            let embedding = seen.of(&request.picture, network.to_owned(), sam, stage)?;
            if superseded() {
                return Ok(Vec::new());
            }
            stage("drawing the mask");
            let points: Vec<PointPrompt> =
                request.points.iter().map(|(at, inside)| PointPrompt { x: at.x, y: at.y, inside: *inside }).collect();
            let corners = request.rect.map(|rect| rect.to_array());
            let masks = sam.masks_for_points(embedding, &points, corners, request.out)?;
            Ok(masks.into_iter().map(|scored| (scored.mask, scored.quality)).collect())
        })
    }
}

/// Nothing is kept in a build without networks.
#[cfg(not(feature = "nets"))]
#[derive(Default)]
pub struct SeenPictures(());

#[cfg(not(feature = "nets"))]
fn answer(
    request: &PromptRequest,
    networks: &mut NetworkSlot,
    _seen: &mut SeenPictures,
    _stage: &dyn Fn(&str),
    out: &Outbox,
    _superseded: &dyn Fn() -> bool,
) -> anyhow::Result<Vec<(Mask, f32)>> {
    networks.load(&request.models, request.device, &mut |event: Event| out.publish(event))?;
    anyhow::bail!("this build has no segmenter")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_question_is_kept() {
        let desk = PromptDesk::default();
        let question = |token| PromptRequest {
            token,
            picture: Path::new("a.png").to_owned(),
            models: ModelSource::Demo,
            device: DevicePreference::CPU,
            points: Vec::new(),
            rect: None,
            out: Size::new(1, 1),
        };
        assert!(!desk.is_waiting() && desk.take().is_none());
        desk.put(question(1));
        desk.put(question(2));
        assert_eq!(desk.take().map(|request| request.token), Some(2));
        assert!(!desk.is_waiting());
    }
}
