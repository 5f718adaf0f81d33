//! Baseline metrics against the packages that define them (`tests/golden/baselines`): scikit-image and torch for the pixel metrics, `lpips`
//! with its real heads, transformers for CLIP and DINO.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use editscope::domain::{Baseline, Baselines, Mask, Outcome, Size, Zone, Zoned};
use editscope::metrics::baselines::{Aligned, from_pixels};
use image::RgbImage;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/baselines")
}

fn expected() -> Value {
    let text = std::fs::read_to_string(folder().join("expected.json")).expect("golden numbers");
    serde_json::from_str(&text).expect("golden numbers are JSON")
}

struct Pair {
    source: RgbImage,
    edit: RgbImage,
    region: Mask,
}

fn pair(name: &str) -> Pair {
    let open = |part: &str| image::open(folder().join(format!("{name}-{part}.png"))).expect("a golden picture");
    let region = open("region").into_luma8();
    let region = Mask::from_fn(Size::new(region.width(), region.height()), |x, y| region.get_pixel(x, y).0[0] > 127);
    Pair { source: open("source").into_rgb8(), edit: open("edit").into_rgb8(), region }
}

impl Pair {
    fn aligned(&self) -> Aligned<'_> {
        Aligned::new(&self.source, &self.edit, Ok(&self.region))
    }
}

/// Asserts that every zone has the reference's value, up to `tolerance` of it, or none where the reference has none.
fn check(what: &str, found: &Zoned, expected: &Value, tolerance: f64) {
    for zone in Zone::ALL {
        let (found, expected) = (found.get(zone), &expected[zone.name()]);
        match (found, expected.as_f64()) {
            (Outcome::Value(found), Some(expected)) => {
                let error = (found - expected).abs();
                assert!(error <= tolerance * expected.abs().max(1e-3), "{what}.{}: {found} instead of {expected}", zone.name());
            }
            (Outcome::NotApplicable(why), None) => assert!(!why.is_empty()),
            (found, expected) => panic!("{what}.{}: {found:?} instead of {expected:?}", zone.name()),
        }
    }
}

#[test]
fn pixel_metrics_are_those_of_torch_and_scikit_image() {
    let expected = expected();
    let pairs = expected["pairs"].as_object().expect("pairs by name");
    assert_eq!(pairs.len(), 8);
    for (name, expected) in pairs {
        let found = from_pixels(&pair(name).aligned());
        assert_eq!(found.len(), 5, "{name}");
        for (baseline, zoned) in &found {
            // torch takes means in single precision; the others compute in double precision, as we do.
            let tolerance = if matches!(baseline.as_str(), "l1" | "l2") { 1e-6 } else { 1e-10 };
            check(&format!("{name}: {baseline}"), zoned, &expected["pixels"][baseline], tolerance);
        }
    }
}

#[test]
fn what_has_no_value_says_why() {
    let why = |name: &str, baseline: Baseline, zone: Zone| {
        let found = from_pixels(&pair(name).aligned());
        found[baseline.name()].get(zone).why().unwrap_or_default().to_owned()
    };
    assert!(why("same", Baseline::Psnr, Zone::Whole).contains("identical"));
    assert!(why("small", Baseline::Ssim, Zone::Whole).contains("6×9"));
    assert!(why("empty", Baseline::L1, Zone::Inside).contains("inside"));
    assert!(why("full", Baseline::Ssim, Zone::Outside).contains("outside"));
    let Pair { source, edit, .. } = pair("odd");
    let found = from_pixels(&Aligned::new(&source, &edit, Err("a global edit")));
    assert_eq!(found["ssim"].inside, Outcome::NotApplicable("a global edit".into()));
    assert!(found["ssim"].whole.value().is_some());
    let wrong_size = Mask::full(Size::new(3, 3));
    let found = from_pixels(&Aligned::new(&source, &edit, Ok(&wrong_size)));
    assert!(found["l1"].inside.why().is_some_and(|why| why.contains("size")));
    let empty = RgbImage::new(0, 0);
    let found = from_pixels(&Aligned::new(&empty, &empty, Err("none")));
    assert!(found.values().all(|zoned| zoned.whole.value().is_none()), "{found:?}");
}

#[test]
fn a_stretched_edit_is_said() {
    let found = from_pixels(&pair("size").aligned());
    assert!(found.values().all(|zoned| zoned.note.contains("64×57") && zoned.note.contains("50×40")), "{found:?}");
    assert!(from_pixels(&pair("odd").aligned()).values().all(|zoned| zoned.note.is_empty()));
}

#[test]
fn a_picture_of_many_bands_is_the_same_turned_upside_down() {
    // Windows are summed band by band; turning both pictures changes the bands and nothing else.
    let picture = |salt: u32| {
        RgbImage::from_fn(90, 211, |x, y| image::Rgb([(x * 7 + y * salt) as u8, (x * y + salt) as u8, (y * 3 + x * x * salt) as u8]))
    };
    let (a, b) = (picture(5), picture(6));
    let turned = [&a, &b].map(image::imageops::flip_vertical);
    let whole = |a: &RgbImage, b: &RgbImage| -> BTreeMap<String, f64> {
        let found = from_pixels(&Aligned::new(a, b, Err("none")));
        found.into_iter().filter_map(|(name, zoned)| Some((name, *zoned.whole.value()?))).collect()
    };
    for ((name, value), (_, turned)) in whole(&a, &b).into_iter().zip(whole(&turned[0], &turned[1])) {
        assert!((value - turned).abs() < 1e-12 * value.abs().max(1.0), "{name}: {value} and {turned}");
    }
}

#[cfg(feature = "flex")]
mod networks {
    use burn::tensor::Device;
    use editscope::metrics::baselines::{Caption, Texts, clip, dino, lpips};
    use editscope::metrics::ports::{ImageTextEncoder, PerceptualDistance, PerceptualMap, PictureEncoder, PortError, TextFeature};
    use editscope::nets::clip::Clip;
    use editscope::nets::dino::{Dino, DinoModel};
    use editscope::nets::lpips::{Lpips, Trunk};
    use safetensors::Dtype;
    use safetensors::tensor::TensorView;

    use super::*;

    struct ClipPort(Clip);

    fn failed(error: &dyn std::fmt::Display) -> PortError {
        PortError::Failed { network: "test", reason: error.to_string() }
    }

    impl ImageTextEncoder for ClipPort {
        fn encode_pictures(&mut self, pictures: &[&RgbImage]) -> Result<Vec<Vec<f32>>, PortError> {
            self.0.encode_pictures(pictures).map_err(|e| failed(&e))
        }

        fn encode_texts(&mut self, texts: &[&str]) -> Result<Vec<TextFeature>, PortError> {
            let found = self.0.encode_texts(texts).map_err(|e| failed(&e))?;
            Ok(found.into_iter().map(|(values, tokens_cut)| TextFeature { values, tokens_cut }).collect())
        }
    }

    #[test]
    fn clip_baselines_are_those_of_transformers() {
        let expected = expected();
        let mut net = ClipPort(Clip::load(&folder().with_file_name("clip"), &Device::flex()).expect("the golden CLIP loads"));
        let caption = |n: usize| Caption { text: expected["captions"][n].as_str().expect("a caption").to_owned(), from: "test".into() };
        let texts = Texts { source: Some(caption(0)), target: Some(caption(1)), edited: Err("unused".into()) };
        for (name, expected) in expected["pairs"].as_object().expect("pairs by name") {
            let Pair { source, edit, .. } = pair(name);
            let found = clip(&source, &edit, &texts, &mut net).expect("not cancelled");
            for (baseline, zoned) in &found {
                match (&zoned.whole, expected["clip"][baseline].as_f64()) {
                    // Differences of features that are nearly equal lose digits.
                    (Outcome::Value(found), Some(expected)) => {
                        assert!((found - expected).abs() < 2e-5, "{name}: {baseline} {found} {expected}");
                    }
                    (Outcome::NotApplicable(why), None) => assert!(why.contains("no difference"), "{why}"),
                    other => panic!("{name}: {baseline} {other:?}"),
                }
                assert!(zoned.inside.why().is_some_and(|why| why.contains("whole picture")));
            }
            assert!(found["clip-t"].note.contains("a blue ball on grass"), "{}", found["clip-t"].note);
        }
    }

    #[test]
    fn without_captions_there_is_no_direction_and_the_parse_is_the_text() {
        let mut net = ClipPort(Clip::load(&folder().with_file_name("clip"), &Device::flex()).expect("the golden CLIP loads"));
        let Pair { source, edit, .. } = pair("odd");
        let edited = Caption { text: "red ball".into(), from: "the edited part".into() };
        let texts = Texts { source: None, target: None, edited: Ok(edited) };
        let found = clip(&source, &edit, &texts, &mut net).expect("not cancelled");
        assert!(found["clip-direction"].whole.why().is_some_and(|why| why.contains("captions")));
        assert_eq!(found["clip-t"].note, "text: “red ball” (the edited part)");
        assert!(found["clip-t"].whole.value().is_some());
    }

    /// Fails, or says that the run was cancelled.
    struct Broken(PortError);

    impl ImageTextEncoder for Broken {
        fn encode_pictures(&mut self, _: &[&RgbImage]) -> Result<Vec<Vec<f32>>, PortError> {
            Err(self.0.clone())
        }

        fn encode_texts(&mut self, _: &[&str]) -> Result<Vec<TextFeature>, PortError> {
            Ok(vec![TextFeature { values: vec![1.0, 0.0], tokens_cut: 3 }])
        }
    }

    #[test]
    fn a_failing_network_costs_its_values_and_a_cancelled_run_ends() {
        let Pair { source, edit, .. } = pair("odd");
        let edited = Caption { text: "red ball".into(), from: "test".into() };
        let texts = Texts { source: None, target: None, edited: Ok(edited) };
        let found = clip(&source, &edit, &texts, &mut Broken(failed(&"out of memory"))).expect("not cancelled");
        assert!(matches!(&found["clip-i"].whole, Outcome::Failed(why) if why.contains("out of memory")), "{found:?}");
        assert!(found["clip-t"].note.contains("3 tokens"), "{found:?}");
        assert_eq!(clip(&source, &edit, &texts, &mut Broken(PortError::Cancelled)), Err(PortError::Cancelled));
    }

    struct LpipsPort(Lpips);

    impl PerceptualDistance for LpipsPort {
        fn distance(&mut self, a: &RgbImage, b: &RgbImage) -> Result<Outcome<PerceptualMap>, PortError> {
            if let Some(why) = self.0.cannot_see(a) {
                return Ok(Outcome::NotApplicable(why));
            }
            let [a, b] = [a, b].map(|picture| self.0.features(picture).expect("features"));
            let (distance, map) = self.0.distance(&a, &b).expect("a distance");
            Ok(Outcome::Value(PerceptualMap { distance, map }))
        }
    }

    /// `make_baselines.py`, `formula`: numbers in −0.5 … 0.5 that depend on `name` alone.
    fn formula(name: &str, count: usize) -> impl Iterator<Item = f64> {
        let seed = name.bytes().fold(2_166_136_261_u32, |seed, byte| (seed ^ u32::from(byte)).wrapping_mul(16_777_619));
        (0..count as u32).map(move |i| {
            let x = i.wrapping_mul(2_654_435_761).wrapping_add(seed);
            let x = (x ^ (x >> 15)).wrapping_mul(2_246_822_519);
            f64::from((x ^ (x >> 13)) >> 8) / f64::from(1 << 24) - 0.5
        })
    }

    /// Shapes of the convolutions below `features`: number, channels out and in, kernel (torchvision).
    fn convolutions(trunk: Trunk) -> Vec<(String, [usize; 4])> {
        let plain = |list: &[(usize, usize, usize, usize)]| {
            list.iter()
                .map(|&(at, out, channels_in, kernel)| (format!("features.{at}"), [out, channels_in, kernel, kernel]))
                .collect::<Vec<_>>()
        };
        match trunk {
            Trunk::Alex => plain(&[(0, 64, 3, 11), (3, 192, 64, 5), (6, 384, 192, 3), (8, 256, 384, 3), (10, 256, 256, 3)]),
            Trunk::Vgg => {
                let widths = [
                    (0, 64),
                    (2, 64),
                    (5, 128),
                    (7, 128),
                    (10, 256),
                    (12, 256),
                    (14, 256),
                    (17, 512),
                    (19, 512),
                    (21, 512),
                    (24, 512),
                    (26, 512),
                    (28, 512),
                ];
                let mut before = 3;
                let layers = widths.map(|(at, out)| (at, out, std::mem::replace(&mut before, out), 3));
                plain(&layers)
            }
            Trunk::Squeeze => {
                let mut found = plain(&[(0, 64, 3, 3)]);
                let fires = [
                    (3, 64, 16, 64),
                    (4, 128, 16, 64),
                    (6, 128, 32, 128),
                    (7, 256, 32, 128),
                    (9, 256, 48, 192),
                    (10, 384, 48, 192),
                    (11, 384, 64, 256),
                    (12, 512, 64, 256),
                ];
                for (at, channels_in, squeeze, expand) in fires {
                    found.push((format!("features.{at}.squeeze"), [squeeze, channels_in, 1, 1]));
                    found.push((format!("features.{at}.expand1x1"), [expand, squeeze, 1, 1]));
                    found.push((format!("features.{at}.expand3x3"), [expand, squeeze, 3, 3]));
                }
                found
            }
        }
    }

    /// A folder with the package's heads and a trunk whose weights are the generator's formula, in real sizes.
    fn lpips_folder(name: &str, trunk: Trunk) -> tempfile::TempDir {
        let to = tempfile::tempdir().expect("a temporary folder can be made");
        let heads = format!("{name}.pth");
        std::fs::copy(folder().join(format!("lpips-{name}")).join(&heads), to.path().join(&heads)).expect("the heads can be copied");
        let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
        let mut put = |name: String, shape: Vec<usize>, scale: f64| {
            let values = formula(&name, shape.iter().product()).flat_map(|value| ((value * scale) as f32).to_le_bytes()).collect();
            tensors.push((name, shape, values));
        };
        for (name, shape) in convolutions(trunk) {
            let fan_in = (shape[1] * shape[2] * shape[3]) as f64;
            put(format!("{name}.weight"), shape.to_vec(), (24.0 / fan_in).sqrt());
            put(format!("{name}.bias"), vec![shape[0]], 0.2);
        }
        // torchvision's files hold the classifier, too.
        put("classifier.1.weight".to_owned(), vec![4, 3], 1.0);
        let views = tensors.iter().map(|(name, shape, values)| {
            (name.as_str(), TensorView::new(Dtype::F32, shape.clone(), values).expect("as many values as the shape says"))
        });
        safetensors::serialize_to_file(views, None, &to.path().join("trunk.safetensors")).expect("a file can be written");
        to
    }

    #[test]
    fn lpips_is_the_packages_as_a_whole_and_by_zone() {
        let expected = expected();
        for (name, trunk, baseline) in [
            ("alex", Trunk::Alex, Baseline::LpipsAlex),
            ("vgg", Trunk::Vgg, Baseline::LpipsVgg),
            ("squeeze", Trunk::Squeeze, Baseline::LpipsSqueeze),
        ] {
            let files = lpips_folder(name, trunk);
            let mut net = LpipsPort(Lpips::load(files.path(), trunk, &Device::flex()).expect("trunk and heads load"));
            for pair_name in ["odd", "same", "size", "tall"] {
                let expected = &expected["pairs"][pair_name]["lpips"][baseline.name()];
                let pair = pair(pair_name);
                let (key, zoned) = lpips(&pair.aligned(), baseline, &mut net).expect("not cancelled");
                assert_eq!(key, baseline.name());
                check(&format!("{pair_name}: {key}"), &zoned, expected, 2e-5);
                if pair_name == "odd" {
                    let Ok(Outcome::Value(found)) = net.distance(&pair.source, &pair.edit) else { panic!("no map") };
                    let every: Vec<f64> = found.map.iter().step_by(13).map(|&value| f64::from(value)).collect();
                    let expected = expected["map_every_13th"].as_array().expect("the map");
                    assert_eq!(every.len(), expected.len());
                    for (found, expected) in every.iter().zip(expected) {
                        assert!((found - expected.as_f64().expect("a number")).abs() < 2e-6, "{found} {expected}");
                    }
                }
            }
            let small = pair("small");
            let (_, zoned) = lpips(&small.aligned(), baseline, &mut net).expect("not cancelled");
            assert!(zoned.whole.why().is_some_and(|why| why.contains("6×9")), "{zoned:?}");
        }
    }

    #[test]
    fn a_trunk_that_is_another_networks_is_refused_by_name() {
        let files = lpips_folder("alex", Trunk::Squeeze);
        let error = Lpips::load(files.path(), Trunk::Alex, &Device::flex()).err().expect("not AlexNet's").to_string();
        assert!(error.contains("features.0.weight"), "{error}");
        let empty = tempfile::tempdir().expect("a temporary folder can be made");
        assert!(Lpips::load(empty.path(), Trunk::Alex, &Device::flex()).is_err());
    }

    struct DinoPort(Dino);

    impl PictureEncoder for DinoPort {
        fn encode(&mut self, pictures: &[&RgbImage]) -> Result<Vec<Vec<f32>>, PortError> {
            pictures.iter().map(|picture| self.0.encode(picture).map_err(|e| failed(&e))).collect()
        }
    }

    const TINY: DinoModel = DinoModel { width: 16, layers: 2, heads: 2, mlp: 64, patch: 16 };

    #[test]
    fn dino_is_as_in_transformers() {
        let expected = expected();
        for layout in ["dino"] {
            let net = Dino::load(&folder().join(layout), TINY, &Device::flex()).expect("the golden DINO loads");
            let pixels: Vec<f32> = net.pixels(&pair("odd").source).expect("pixels").try_into_vec_as().expect("numbers");
            let kept = expected["dino_odd_source"]["pixels_every_1009th"].as_array().expect("pixels");
            for (found, expected) in pixels.iter().step_by(1009).zip(kept) {
                assert!((f64::from(*found) - expected.as_f64().expect("a number")).abs() < 2e-6, "{layout}: {found} {expected}");
            }
            let features = net.encode(&pair("odd").source).expect("features");
            let kept = expected["dino_odd_source"]["features"].as_array().expect("features");
            assert_eq!(features.len(), kept.len());
            for (found, expected) in features.iter().zip(kept) {
                assert!((f64::from(*found) - expected.as_f64().expect("a number")).abs() < 2e-5, "{layout}: {found} {expected}");
            }
            let mut net = DinoPort(net);
            for (name, expected) in expected["pairs"].as_object().expect("pairs by name") {
                let Pair { source, edit, .. } = pair(name);
                let (key, zoned) = dino(&source, &edit, Baseline::DinoVits16, &mut net).expect("not cancelled");
                let found = Baselines::from([(key, zoned)])["dino-vits16"].whole.value().copied().expect("a value");
                let expected = expected["dino"].as_f64().expect("a number");
                assert!((found - expected).abs() < 1e-5, "{layout}, {name}: {found} instead of {expected}");
            }
        }
    }

    #[test]
    fn a_backbone_of_other_sizes_is_refused_by_name() {
        let error = Dino::load(&folder().join("dino"), DinoModel::VITS16, &Device::flex()).err().expect("not ViT-S").to_string();
        assert!(error.contains("384") && error.contains("16"), "{error}");
        assert!(Dino::load(&folder(), TINY, &Device::flex()).is_err(), "there are no weights in that folder");
    }
}
