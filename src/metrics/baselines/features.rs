//! Baselines that networks compute: LPIPS, and cosines of CLIP and DINO features.

use image::RgbImage;

use super::texts::Caption;
use super::{Aligned, MeanSum, Texts};
use crate::domain::{Baseline, Baselines, Outcome, Zoned};
use crate::metrics::bpm::cosine;
use crate::metrics::ports::{ImageTextEncoder, PerceptualDistance, PictureEncoder, PortError, TextFeature};

/// A value of the whole picture; `network` looks at nothing less.
fn whole_only(whole: Outcome<f64>, network: &str, note: String) -> Zoned {
    let none = Outcome::NotApplicable(format!("{network} looks at the whole picture at once"));
    Zoned { whole, inside: none.clone(), outside: none, note }
}

/// What a network's failure means for one value; a cancelled run ends everything.
fn settled<T>(result: Result<T, PortError>) -> Result<Outcome<T>, PortError> {
    match result {
        Ok(value) => Ok(Outcome::Value(value)),
        Err(PortError::Cancelled) => Err(PortError::Cancelled),
        Err(failed) => Ok(Outcome::Failed(failed.to_string())),
    }
}

/// The learned distance of a pair; `baseline` says of which network.
///
/// # Errors
/// Only when the run is cancelled.
pub fn lpips(pair: &Aligned<'_>, baseline: Baseline, net: &mut dyn PerceptualDistance) -> Result<(String, Zoned), PortError> {
    let found = settled(net.distance(pair.source, &pair.edit))?.and_then(|outcome| outcome);
    let zoned = match found {
        Outcome::Value(found) => {
            let mut zones = [MeanSum::default(); 2];
            let width = pair.source.width().max(1) as usize;
            for (at, &value) in found.map.iter().enumerate() {
                let inside = pair.inside((at % width) as u32, (at / width) as u32);
                zones[usize::from(!inside)].add(f64::from(value));
            }
            // The whole is the published number, which is not quite the mean of the map: stretching a layer's map moves its mean.
            Zoned { whole: Outcome::Value(found.distance), ..pair.zoned(&zones, |zone| Outcome::Value(zone.mean())) }
        }
        Outcome::NotApplicable(why) => Zoned { note: pair.note.clone(), ..Zoned::uniform(&Outcome::NotApplicable(why)) },
        Outcome::Failed(why) => Zoned::uniform(&Outcome::Failed(why)),
    };
    Ok((baseline.name().to_owned(), zoned))
}

/// The cosine of the class tokens of a pair; `baseline` says of which network.
///
/// # Errors
/// Only when the run is cancelled.
pub fn dino(source: &RgbImage, edit: &RgbImage, baseline: Baseline, net: &mut dyn PictureEncoder) -> Result<(String, Zoned), PortError> {
    let features = settled(net.encode(&[source, edit]))?;
    let whole = features.and_then(|features| match &features[..] {
        [source, edit] => similarity(source, edit),
        _ => Outcome::Failed("DINO returned another number of features than pictures".to_owned()),
    });
    Ok((baseline.name().to_owned(), whole_only(whole, "DINO", String::new())))
}

/// The cosine, or that there is none.
fn similarity(a: &[f32], b: &[f32]) -> Outcome<f64> {
    cosine(a, b).map_or_else(|| Outcome::Failed("a feature is zero or not finite, so it has no direction".to_owned()), Outcome::Value)
}

/// CLIP-I, CLIP-T and CLIP direction of a pair; the two pictures go through the network together.
///
/// # Errors
/// Only when the run is cancelled.
pub fn clip(source: &RgbImage, edit: &RgbImage, texts: &Texts, net: &mut dyn ImageTextEncoder) -> Result<Baselines, PortError> {
    let pictures = settled(net.encode_pictures(&[source, edit]))?.and_then(|features| match <[Vec<f32>; 2]>::try_from(features) {
        Ok(pair) => Outcome::Value(pair),
        Err(_) => Outcome::Failed("CLIP returned another number of features than pictures".to_owned()),
    });
    let image = pictures.clone().and_then(|[source, edit]| similarity(&source, &edit));
    let (text, text_note) = match texts.target.as_ref().or(texts.edited.as_ref().ok()) {
        Some(caption) => {
            let (feature, note) = text_feature(caption, net)?;
            (pictures.clone().and_then(|[_, edit]| feature.and_then(|feature| similarity(&edit, &feature))), note)
        }
        None => (Outcome::NotApplicable(texts.edited.clone().err().unwrap_or_default()), String::new()),
    };
    let (direction, direction_note) = direction(pictures, texts, net)?;
    let entry = |baseline: Baseline, whole, note| (baseline.name().to_owned(), whole_only(whole, "CLIP", note));
    Ok(Baselines::from([
        entry(Baseline::ClipI, image, String::new()),
        entry(Baseline::ClipT, text, text_note),
        entry(Baseline::ClipDirection, direction, direction_note),
    ]))
}

/// The feature of a text, with a note that names the text.
fn text_feature(caption: &Caption, net: &mut dyn ImageTextEncoder) -> Result<(Outcome<Vec<f32>>, String), PortError> {
    let Caption { text, from } = caption;
    let mut note = format!("text: “{text}” ({from})");
    let feature = settled(net.encode_texts(&[text]))?.and_then(|features| match features.into_iter().next() {
        Some(TextFeature { values, tokens_cut }) => {
            if tokens_cut > 0 {
                note.push_str(&format!("; {tokens_cut} tokens did not fit and were cut"));
            }
            Outcome::Value(values)
        }
        None => Outcome::Failed("CLIP returned no feature for a text".to_owned()),
    });
    Ok((feature, note))
}

/// cos(î(edit) − î(source), t̂(target) − t̂(source)), a hat meaning length 1 (InstructPix2Pix, `metrics/clip_similarity.py`,
/// `sim_direction`).
fn direction(pictures: Outcome<[Vec<f32>; 2]>, texts: &Texts, net: &mut dyn ImageTextEncoder) -> Result<(Outcome<f64>, String), PortError> {
    let na = |why: &str| Ok((Outcome::NotApplicable(why.to_owned()), String::new()));
    let (source, target) = match (&texts.source, &texts.target) {
        (Some(source), Some(target)) => (source, target),
        (None, None) => return na("the data has no captions of source and target"),
        (None, Some(_)) => return na("the data has no caption of the source"),
        (Some(_), None) => return na("the data has no caption of the target"),
    };
    if source.text == target.text {
        return na("the captions of source and target are the same, so they give no direction");
    }
    let (source_feature, source_note) = text_feature(source, net)?;
    let (target_feature, target_note) = text_feature(target, net)?;
    let value = pictures.and_then(|[source, edit]| {
        let in_pictures = step(&source, &edit);
        let in_texts = source_feature.and_then(|source| target_feature.and_then(|target| step(&source, &target)));
        in_pictures.and_then(|pictures| {
            in_texts.and_then(|texts| {
                if pictures.iter().all(|&v| v == 0.0) {
                    return Outcome::NotApplicable("CLIP sees no difference between the two pictures, so there is no direction".to_owned());
                }
                similarity(&pictures, &texts)
            })
        })
    });
    Ok((value, format!("{source_note} → {target_note}")))
}

/// The way from one feature to another, each of length 1 first.
fn step(from: &[f32], to: &[f32]) -> Outcome<Vec<f32>> {
    let unit = |feature: &[f32]| -> Option<Vec<f64>> {
        let length = feature.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt();
        (length > 0.0 && length.is_finite()).then(|| feature.iter().map(|&v| f64::from(v) / length).collect())
    };
    match (unit(from), unit(to)) {
        (Some(from), Some(to)) if from.len() == to.len() => Outcome::Value(from.iter().zip(&to).map(|(a, b)| (b - a) as f32).collect()),
        _ => Outcome::Failed("a feature of CLIP is zero, not finite or of another length".to_owned()),
    }
}
