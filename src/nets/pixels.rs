//! From RGB pictures to what networks read.

use std::path::Path;

use burn::tensor::{Device, Tensor, TensorData};
use image::RgbImage;
use serde::Deserialize;

use super::checkpoint::{CheckpointError, PREPROCESSOR, read_json};

/// A size in `preprocessor_config.json`: a plain number in old files, an object in newer ones.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum SizeField {
    Side(u32),
    Edges {
        shortest_edge: u32,
        /// Limit of the longer side.
        #[serde(default)]
        longest_edge: Option<u32>,
    },
    Longest {
        longest_edge: u32,
    },
    Box {
        height: u32,
        width: u32,
    },
}

/// `preprocessor_config.json`, as far as it is the same for all networks.
#[derive(Clone, Debug, Deserialize)]
pub struct Preprocessor {
    pub size: Option<SizeField>,
    pub crop_size: Option<SizeField>,
    pub pad_size: Option<SizeField>,
    /// PIL's number of the filter: 2 bilinear, 3 bicubic.
    pub resample: Option<u32>,
    pub image_mean: Option<[f32; 3]>,
    pub image_std: Option<[f32; 3]>,
    pub rescale_factor: Option<f64>,
    #[serde(default = "yes")]
    pub do_resize: bool,
    #[serde(default = "yes")]
    pub do_rescale: bool,
    #[serde(default = "yes")]
    pub do_normalize: bool,
}

fn yes() -> bool {
    true
}

impl Preprocessor {
    /// Reads the preprocessor of a folder and checks that it asks for `resample` (PIL's number), for 1/255 and for all steps.
    ///
    /// # Errors
    /// When the file is missing or asks for something else than the published networks do.
    pub fn load(folder: &Path, resample: u32) -> Result<Self, CheckpointError> {
        let read: Self = read_json(folder, PREPROCESSOR)?;
        let config = |field: &str, found: String, needed: &str| CheckpointError::Config {
            path: folder.join(PREPROCESSOR),
            field: field.to_owned(),
            found,
            needed: needed.to_owned(),
        };
        for (field, value) in [("do_resize", read.do_resize), ("do_rescale", read.do_rescale), ("do_normalize", read.do_normalize)] {
            if !value {
                return Err(config(field, "false".to_owned(), "true"));
            }
        }
        if read.resample.is_some_and(|found| found != resample) {
            return Err(config("resample", format!("{:?}", read.resample), &resample.to_string()));
        }
        if read.rescale_factor.is_some_and(|found| (found * 255.0 - 1.0).abs() > 1e-6) {
            return Err(config("rescale_factor", format!("{:?}", read.rescale_factor), "1/255"));
        }
        if read.image_std.is_some_and(|deviation| deviation.iter().any(|&d| d.is_nan() || d <= 0.0)) {
            return Err(config("image_std", format!("{:?}", read.image_std), "three positive numbers"));
        }
        Ok(read)
    }

    /// Mean and deviation a channel; `default` for a file without them.
    pub fn normalisation(&self, default: Normalisation) -> Normalisation {
        Normalisation { mean: self.image_mean.unwrap_or(default.mean), deviation: self.image_std.unwrap_or(default.deviation) }
    }
}

/// What is subtracted from channels scaled to 0 … 1, and what they are then divided by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normalisation {
    pub mean: [f32; 3],
    pub deviation: [f32; 3],
}

impl Normalisation {
    /// ImageNet's (SAM, Grounding DINO).
    pub const IMAGENET: Self = Self { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] };
    /// CLIP's.
    pub const CLIP: Self = Self { mean: [0.481_454_66, 0.457_827_5, 0.408_210_73], deviation: [0.268_629_54, 0.261_302_6, 0.275_777_1] };

    /// Appends the normalised picture to `values`, channels first, with zeros right of and below it up to `width` × `height`.
    ///
    /// A picture larger than that is cut.
    pub fn append(&self, values: &mut Vec<f32>, picture: &RgbImage, width: u32, height: u32) {
        let row = picture.width() as usize * 3;
        for channel in 0..3 {
            // The 256 possible results of a channel, so that a pixel costs one look.
            let table: [f32; 256] =
                std::array::from_fn(|level| (level as f32 * (1.0 / 255.0) - self.mean[channel]) / self.deviation[channel]);
            let empty = vec![0.0; width as usize];
            for y in 0..height {
                if y >= picture.height() {
                    values.extend_from_slice(&empty);
                    continue;
                }
                let pixels = &picture.as_raw()[y as usize * row..][..row];
                let known = picture.width().min(width) as usize;
                values.extend(pixels.iter().skip(channel).step_by(3).take(known).map(|&level| table[usize::from(level)]));
                values.extend_from_slice(&empty[known..]);
            }
        }
    }

    /// One picture as a batch of one.
    ///
    /// # Shapes
    /// → `[1, 3, height, width]`
    pub fn tensor(&self, picture: &RgbImage, width: u32, height: u32, device: &Device) -> Tensor<4> {
        let mut values = Vec::with_capacity(3 * width as usize * height as usize);
        self.append(&mut values, picture, width, height);
        Tensor::from_data(TensorData::new(values, [1, 3, height as usize, width as usize]), device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_zero_after_normalising() {
        // Hand calculation: level 255 is 1, (1 − 0.5)/0.25 = 2; level 0 is (0 − 0.5)/0.25 = −2.
        let plain = Normalisation { mean: [0.5; 3], deviation: [0.25; 3] };
        let picture = RgbImage::from_fn(2, 1, |x, _| image::Rgb([255 * x as u8; 3]));
        let mut values = Vec::new();
        plain.append(&mut values, &picture, 3, 2);
        assert_eq!(values, [[-2.0, 2.0, 0.0, 0.0, 0.0, 0.0]; 3].concat());
    }

    #[test]
    fn sizes_read_in_every_published_form() {
        let read = |text: &str| serde_json::from_str::<SizeField>(text).expect("a size");
        assert_eq!(read("224"), SizeField::Side(224));
        assert_eq!(read(r#"{"shortest_edge": 224}"#), SizeField::Edges { shortest_edge: 224, longest_edge: None });
        assert_eq!(
            read(r#"{"shortest_edge": 800, "longest_edge": 1333}"#),
            SizeField::Edges { shortest_edge: 800, longest_edge: Some(1333) }
        );
        assert_eq!(read(r#"{"longest_edge": 1024}"#), SizeField::Longest { longest_edge: 1024 });
        assert_eq!(read(r#"{"height": 224, "width": 224}"#), SizeField::Box { height: 224, width: 224 });
    }
}
