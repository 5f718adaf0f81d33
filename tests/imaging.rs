//! Odd pictures (`trial inputs` 1-7), made here byte by byte or with encoders, decode rightly or fail with a clear error; never a panic.

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use editscope::domain::Size;
use editscope::imaging::decode::{DecodeError, DecodeOptions, Decoded, decode, file_hash};
use image::codecs::gif::GifEncoder;
use image::codecs::hdr::HdrEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{DynamicImage, ExtendedColorType, Frame, ImageBuffer, ImageEncoder, ImageFormat, Luma, Rgb, RgbImage, Rgba, RgbaImage};
use tempfile::TempDir;

/// A folder for the files of one test.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder can be made"))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).expect("a temporary file can be written");
        path
    }

    fn decode(&self, name: &str, bytes: &[u8]) -> Result<Decoded, DecodeError> {
        decode(&self.write(name, bytes), &DecodeOptions::default())
    }

    fn good(&self, name: &str, bytes: &[u8]) -> Decoded {
        self.decode(name, bytes).unwrap_or_else(|e| panic!("{e}"))
    }
}

fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    picture.write_to(&mut Cursor::new(&mut bytes), format).expect("the encoder takes this sample type");
    bytes
}

fn png(picture: &RgbImage) -> Vec<u8> {
    encoded(&picture.clone().into(), ImageFormat::Png)
}

/// An L of three colours, no two of whose eight positions look alike.
fn upright() -> RgbImage {
    RgbImage::from_fn(24, 40, |x, y| {
        Rgb(if x < 8 {
            [200, 30, 30]
        } else if y >= 32 {
            [30, 30, 200]
        } else {
            [240, 240, 240]
        })
    })
}

/// The picture that has to be stored so that EXIF orientation `tag` shows `upright` (Exif 2.32, tag 0x0112: where row 0 and column 0 lie).
fn stored_for(tag: u8, upright: &RgbImage) -> RgbImage {
    let (w, h) = upright.dimensions();
    let size = if tag >= 5 { (h, w) } else { (w, h) };
    RgbImage::from_fn(size.0, size.1, |column, row| {
        let (x, y) = match tag {
            1 => (column, row),
            2 => (w - 1 - column, row),
            3 => (w - 1 - column, h - 1 - row),
            4 => (column, h - 1 - row),
            5 => (row, column),
            6 => (w - 1 - row, column),
            7 => (w - 1 - row, h - 1 - column),
            _ => (row, h - 1 - column),
        };
        *upright.get_pixel(x, y)
    })
}

/// A big-endian TIFF block with one entry: orientation, SHORT, one value.
fn exif(tag: u8) -> Vec<u8> {
    [b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".as_slice(), &[tag, 0, 0, 0, 0, 0, 0]].concat()
}

fn with_exif(picture: &RgbImage, tag: u8, mut encoder: impl ImageEncoder) {
    encoder.set_exif_metadata(exif(tag)).expect("the encoder takes EXIF");
    encoder.write_image(picture.as_raw(), picture.width(), picture.height(), ExtendedColorType::Rgb8).expect("8-bit RGB is written");
}

fn worst(a: &RgbImage, b: &RgbImage) -> u8 {
    assert_eq!(a.dimensions(), b.dimensions());
    a.as_raw().iter().zip(b.as_raw()).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0)
}

#[test]
fn all_eight_orientations_come_out_upright() {
    let files = Files::new();
    for tag in 1..=8 {
        let stored = stored_for(tag, &upright());
        let (mut as_png, mut as_webp, mut as_jpeg) = (Vec::new(), Vec::new(), Vec::new());
        with_exif(&stored, tag, PngEncoder::new(&mut as_png));
        with_exif(&stored, tag, WebPEncoder::new_lossless(&mut as_webp));
        with_exif(&stored, tag, JpegEncoder::new_with_quality(&mut as_jpeg, 100));
        for (name, bytes, budget) in [("p.png", as_png, 0), ("w.webp", as_webp, 0), ("j.jpg", as_jpeg, 6)] {
            let decoded = files.good(name, &bytes);
            assert!(worst(&decoded.rgb, &upright()) <= budget, "{name}, orientation {tag}");
            assert_eq!((decoded.orientation, decoded.stored), (tag, Size::new(stored.width(), stored.height())), "{name}");
            assert_eq!(decoded.notes.iter().any(|n| n.contains("EXIF")), tag != 1, "{name}, orientation {tag}");
        }
    }
}

#[test]
fn an_orientation_that_makes_no_sense_is_none() {
    let files = Files::new();
    for tag in [0, 9, 255] {
        let mut bytes = Vec::new();
        with_exif(&upright(), tag, PngEncoder::new(&mut bytes));
        assert_eq!(files.good("p.png", &bytes).rgb, upright());
    }
}

#[test]
fn sixteen_bits_are_reduced_over_the_full_range() {
    // By hand: v / 257, rounded: 0, 128 → 0 (0.498), 25700 → 100, 65535 → 255.
    let grey = ImageBuffer::<Luma<u16>, Vec<u16>>::from_raw(4, 1, vec![0, 128, 25_700, 65_535]).unwrap();
    let files = Files::new();
    for (format, name) in [(ImageFormat::Png, "g.png"), (ImageFormat::Tiff, "g.tif"), (ImageFormat::Pnm, "g.pgm")] {
        let decoded = files.good(name, &encoded(&DynamicImage::ImageLuma16(grey.clone()), format));
        assert_eq!(decoded.rgb.as_raw(), &[0, 0, 0, 0, 0, 0, 100, 100, 100, 255, 255, 255], "{name}");
        assert!(decoded.notes.iter().any(|n| n.contains("16 bits")), "{name}: {:?}", decoded.notes);
    }
    let rgb = ImageBuffer::<Rgb<u16>, Vec<u16>>::from_raw(1, 1, vec![65_535, 25_700, 257]).unwrap();
    assert_eq!(files.good("c.png", &encoded(&DynamicImage::ImageRgb16(rgb), ImageFormat::Png)).rgb.as_raw(), &[255, 100, 1]);
}

/// A TIFF of one strip, 16-bit grey, big-endian (TIFF 6.0, sections 2 and 3).
fn big_endian_tiff(width: u16, values: &[u16]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
    let height = (values.len() / usize::from(width)) as u32;
    let entries: [(u16, u16, u32); 9] = [
        (256, 3, u32::from(width) << 16),
        (257, 3, height << 16),
        (258, 3, 16 << 16),
        (259, 3, 1 << 16),
        (262, 3, 1 << 16),
        (273, 4, 8),
        (277, 3, 1 << 16),
        (278, 3, height << 16),
        (279, 4, data.len() as u32),
    ];
    let mut bytes = b"MM\0*".to_vec();
    bytes.extend((8 + data.len() as u32).to_be_bytes());
    bytes.extend(&data);
    bytes.extend((entries.len() as u16).to_be_bytes());
    for (tag, kind, value) in entries {
        bytes.extend(tag.to_be_bytes());
        bytes.extend(kind.to_be_bytes());
        bytes.extend(1u32.to_be_bytes());
        bytes.extend(value.to_be_bytes());
    }
    bytes.extend([0; 4]);
    bytes
}

#[test]
fn a_big_endian_tiff_is_read_high_byte_first() {
    let decoded = Files::new().good("be.tif", &big_endian_tiff(2, &[0x0100, 0xff00, 0x00ff, 0xffff]));
    // By hand: 256/257 → 1, 65280/257 → 254, 255/257 → 1, 65535/257 → 255.
    assert_eq!(decoded.rgb.pixels().map(|p| p.0[0]).collect::<Vec<_>>(), [1, 254, 1, 255]);
}

#[test]
fn one_bit_and_eight_bit_grey_become_rgb() {
    let files = Files::new();
    // PBM: 1 is black.
    assert_eq!(files.good("b.pbm", b"P1\n3 1\n1 0 1\n").rgb.as_raw(), &[0, 0, 0, 255, 255, 255, 0, 0, 0]);
    assert_eq!(files.good("g.pgm", b"P2\n2 1\n255\n7 200\n").rgb.as_raw(), &[7, 7, 7, 200, 200, 200]);
}

#[test]
fn linear_light_is_encoded_as_srgb_and_clipped() {
    // IEC 61966-2-1 by hand: 0.25 → 0.5371 → 137, 0.5 → 0.7354 → 188, 2.0 clipped → 255.
    let pixels = [Rgb([0.25f32, 0.5, 2.0]), Rgb([0.0, 0.0, 0.0])];
    let mut bytes = Vec::new();
    HdrEncoder::new(&mut bytes).encode(&pixels, 2, 1).expect("two pixels are written");
    let decoded = Files::new().good("l.hdr", &bytes);
    for (found, expected) in decoded.rgb.as_raw().iter().zip([137u8, 188, 255, 0, 0, 0]) {
        assert!(found.abs_diff(expected) <= 1, "{:?}", decoded.rgb.as_raw());
    }
    assert!(decoded.notes[0].contains("high dynamic range"));
}

#[test]
fn colours_under_full_transparency_do_not_count() {
    let files = Files::new();
    let hidden = |colour: [u8; 3]| {
        let [r, g, b] = colour;
        let picture = RgbaImage::from_fn(2, 1, |x, _| if x == 0 { Rgba([r, g, b, 0]) } else { Rgba([100, 100, 100, 128]) });
        files.good("a.png", &encoded(&picture.into(), ImageFormat::Png))
    };
    let (red, green) = (hidden([255, 0, 0]), hidden([0, 255, 0]));
    assert_eq!(red.rgb, green.rgb);
    assert!(red.alpha && red.notes.iter().any(|n| n.contains("#ffffff")));
    // By hand: 100·128/255 + 255·127/255 = 177.2.
    assert_eq!(red.rgb.as_raw(), &[255, 255, 255, 177, 177, 177]);
    let opaque = files.good("o.png", &encoded(&RgbaImage::from_pixel(1, 1, Rgba([1, 2, 3, 255])).into(), ImageFormat::Png));
    assert!(!opaque.alpha && opaque.notes.is_empty());
}

#[test]
fn the_background_is_the_one_asked_for() {
    let files = Files::new();
    let path = files.write("a.png", &encoded(&RgbaImage::from_pixel(1, 1, Rgba([9, 9, 9, 0])).into(), ImageFormat::Png));
    let options = DecodeOptions { background: [0, 0, 128], ..DecodeOptions::default() };
    let decoded = decode(&path, &options).unwrap();
    assert_eq!(decoded.rgb.as_raw(), &[0, 0, 128]);
    assert!(decoded.notes[0].contains("#000080"), "{:?}", decoded.notes);
}

#[test]
fn a_palette_with_a_transparent_entry_and_an_animation_give_the_first_picture() {
    let files = Files::new();
    let frame = |colour| Frame::new(RgbaImage::from_fn(2, 1, |x, _| if x == 0 { Rgba([0, 0, 0, 0]) } else { Rgba(colour) }));
    let gif = |frames: Vec<Frame>| {
        let mut bytes = Vec::new();
        GifEncoder::new(&mut bytes).encode_frames(frames).expect("frames are written");
        bytes
    };
    let one = files.good("one.gif", &gif(vec![frame([255, 0, 0, 255])]));
    assert_eq!(one.rgb.as_raw(), &[255, 255, 255, 255, 0, 0]);
    assert!(!one.notes.iter().any(|n| n.contains("animation")), "{:?}", one.notes);
    let two = files.good("two.gif", &gif(vec![frame([255, 0, 0, 255]), frame([0, 0, 255, 255])]));
    assert_eq!(two.rgb, one.rgb);
    assert!(two.notes.iter().any(|n| n.contains("animation")), "{:?}", two.notes);
}

/// A JPEG of one flat 8×8 block with four channels: baseline, DC coefficients only (ITU T.81, annexes B and F).
fn four_channel_jpeg(values: [u8; 4], adobe: Option<u8>) -> Vec<u8> {
    let mut bytes = vec![0xff, 0xd8];
    if let Some(transform) = adobe {
        bytes.extend([0xff, 0xee, 0, 14]);
        bytes.extend(b"Adobe\0\x64\0\0\0\0");
        bytes.push(transform);
    }
    // All quantisers 8: the DC coefficient of a flat block, 8·(v − 128), is stored as v − 128.
    bytes.extend([0xff, 0xdb, 0, 67, 0]);
    bytes.extend([8; 64]);
    bytes.extend([0xff, 0xc0, 0, 20, 8, 0, 8, 0, 8, 4]);
    (1..=4).for_each(|id| bytes.extend([id, 0x11, 0]));
    // DC: twelve codes of four bits, code k for category k. AC: one code of one bit, end of block.
    bytes.extend([0xff, 0xc4, 0, 31, 0x00, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(0..12);
    bytes.extend([0xff, 0xc4, 0, 20, 0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend([0xff, 0xda, 0, 14, 4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0]);
    let mut bits = String::new();
    for value in values {
        let difference = i32::from(value) - 128;
        let category = (32 - difference.unsigned_abs().leading_zeros()) as usize;
        bits += &format!("{category:04b}");
        if category > 0 {
            let extra = if difference > 0 { difference } else { difference + (1 << category) - 1 };
            bits += &format!("{extra:0category$b}");
        }
        bits.push('0');
    }
    while bits.len() % 8 != 0 {
        bits.push('1');
    }
    for at in (0..bits.len()).step_by(8) {
        let byte = u8::from_str_radix(&bits[at..at + 8], 2).expect("eight binary digits");
        bytes.push(byte);
        if byte == 0xff {
            bytes.push(0);
        }
    }
    bytes.extend([0xff, 0xd9]);
    bytes
}

#[test]
fn ink_jpegs_are_not_inverted() {
    let files = Files::new();
    // Inks are stored inverted: by hand 200·128/255 = 100.4, 100·128/255 = 50.2, 50·128/255 = 25.1.
    for (adobe, word) in [(Some(0), "CMYK"), (None, "without an Adobe marker")] {
        let decoded = files.good("c.jpg", &four_channel_jpeg([200, 100, 50, 128], adobe));
        for (found, expected) in decoded.rgb.get_pixel(3, 3).0.iter().zip([100u8, 50, 25]) {
            assert!(found.abs_diff(expected) <= 1, "{:?}", decoded.rgb.get_pixel(3, 3));
        }
        assert!(decoded.notes[0].contains(word), "{:?}", decoded.notes);
    }
    // YCCK without colour: the inverse of luminance 55, no black ink (stored as 255): 200.
    let decoded = files.good("y.jpg", &four_channel_jpeg([55, 128, 128, 255], Some(2)));
    assert!(decoded.rgb.get_pixel(3, 3).0.iter().all(|v| v.abs_diff(200) <= 1), "{:?}", decoded.rgb.get_pixel(3, 3));
    assert!(decoded.notes[0].contains("YCCK"));
}

#[test]
fn a_display_p3_picture_equals_its_srgb_twin() {
    // sRGB red is (0.9175, 0.2003, 0.1387) = (234, 51, 35) in Display P3 (CSS Color 4, section on color spaces).
    let profile = moxcms::ColorProfile::new_display_p3().encode().expect("a built-in profile is written");
    let wide = RgbImage::from_pixel(16, 16, Rgb([234, 51, 35]));
    let (mut as_png, mut as_jpeg) = (Vec::new(), Vec::new());
    let mut encoder = PngEncoder::new(&mut as_png);
    encoder.set_icc_profile(profile.clone()).expect("PNG takes a profile");
    encoder.write_image(wide.as_raw(), 16, 16, ExtendedColorType::Rgb8).unwrap();
    let mut encoder = JpegEncoder::new_with_quality(&mut as_jpeg, 100);
    encoder.set_icc_profile(profile).expect("JPEG takes a profile");
    encoder.write_image(wide.as_raw(), 16, 16, ExtendedColorType::Rgb8).unwrap();
    let files = Files::new();
    for (name, bytes, budget) in [("p3.png", as_png, 3), ("p3.jpg", as_jpeg, 6)] {
        let decoded = files.good(name, &bytes);
        let twin = RgbImage::from_pixel(16, 16, Rgb([255, 0, 0]));
        assert!(worst(&decoded.rgb, &twin) <= budget, "{name}: {:?}", decoded.rgb.get_pixel(0, 0));
        assert!(decoded.notes.iter().any(|n| n.contains("ICC")), "{name}");
    }
}

#[test]
fn a_broken_profile_is_left_out_and_told() {
    let mut bytes = Vec::new();
    let mut encoder = PngEncoder::new(&mut bytes);
    encoder.set_icc_profile(vec![7; 200]).expect("PNG takes a profile");
    encoder.write_image(&[10, 20, 30], 1, 1, ExtendedColorType::Rgb8).unwrap();
    let decoded = Files::new().good("p.png", &bytes);
    assert_eq!(decoded.rgb.as_raw(), &[10, 20, 30]);
    assert!(decoded.notes.iter().any(|n| n.contains("ICC profile was left out")), "{:?}", decoded.notes);
}

#[test]
fn long_thin_and_tiny_pictures_keep_their_size() {
    let files = Files::new();
    for (w, h) in [(1, 1), (1, 30_000), (30_000, 1), (17_160, 20)] {
        let picture = RgbImage::from_fn(w, h, |x, y| Rgb([x as u8, y as u8, (x ^ y) as u8]));
        assert_eq!(files.good("p.png", &png(&picture)).rgb, picture, "{w}×{h}");
    }
}

#[test]
fn the_pixel_limit_and_the_file_limit_are_named() {
    let files = Files::new();
    let path = files.write("big.png", &png(&RgbImage::new(30, 40)));
    let at = |max_pixels, max_bytes| decode(&path, &DecodeOptions { max_pixels, max_bytes, background: [255; 3] });
    assert!(at(1200, 1 << 20).is_ok());
    let error = at(1199, 1 << 20).unwrap_err();
    assert!(matches!(error, DecodeError::TooLarge { limit: 1199, .. }), "{error}");
    assert!(error.to_string().contains("big.png") && error.to_string().contains("30×40"), "{error}");
    assert!(matches!(at(1200, 10).unwrap_err(), DecodeError::FileTooLarge { limit: 10, .. }));
}

/// CRC-32 of PNG (ISO 3309).
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &b| (0..8).fold(crc ^ u32::from(b), |c, _| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 }))
}

#[test]
fn headers_that_promise_gigapixels_are_refused_without_taking_the_memory() {
    let mut header = b"IHDR".to_vec();
    header.extend(100_000u32.to_be_bytes());
    header.extend(100_000u32.to_be_bytes());
    header.extend([8, 2, 0, 0, 0]);
    let mut as_png = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec();
    as_png.extend(&header);
    as_png.extend(crc(&header).to_be_bytes());
    as_png.extend(b"\0\0\0\0IDAT\x35\xaf\x06\x1e");
    let files = Files::new();
    for (name, bytes) in [("g.png", as_png.as_slice()), ("g.ppm", b"P6\n100000 100000\n255\n"), ("g.ff", b"farbfeld\0\x01\0\0\0\x01\0\0")] {
        let error = files.decode(name, bytes).unwrap_err();
        assert!(matches!(error, DecodeError::TooLarge { .. } | DecodeError::TooMuchMemory { .. }), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn what_is_no_picture_says_so() {
    let files = Files::new();
    let text = |result: Result<Decoded, DecodeError>| result.unwrap_err().to_string();
    assert!(text(files.decode("e.png", b"")).contains("0 bytes"));
    assert!(text(files.decode("t.png", b"this is a text")).contains("not a picture"));
    assert!(matches!(decode(files.0.path(), &DecodeOptions::default()).unwrap_err(), DecodeError::NotAFile { .. }));
    let missing = decode(&files.0.path().join("gone.png"), &DecodeOptions::default()).unwrap_err();
    assert!(matches!(missing, DecodeError::Read { .. }) && missing.to_string().contains("gone.png"), "{missing}");
    assert!(matches!(files.decode("z.ppm", b"P6\n0 5\n255\n").unwrap_err(), DecodeError::NoPixels { .. } | DecodeError::Damaged { .. }));
}

#[test]
fn the_content_decides_and_not_the_name() {
    let files = Files::new();
    for name in ["a.jpg", "b", "中文 é #1 %20.txt"] {
        assert_eq!(files.good(name, &png(&upright())).rgb, upright(), "{name}");
    }
}

/// Small files of several kinds.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let picture: DynamicImage = RgbImage::from_fn(40, 30, |x, y| Rgb([(x * 6) as u8, (y * 8) as u8, (x * y) as u8])).into();
    [("s.png", ImageFormat::Png), ("s.jpg", ImageFormat::Jpeg), ("s.webp", ImageFormat::WebP), ("s.bmp", ImageFormat::Bmp)]
        .into_iter()
        .chain([("s.tif", ImageFormat::Tiff), ("s.gif", ImageFormat::Gif), ("s.ppm", ImageFormat::Pnm), ("s.qoi", ImageFormat::Qoi)])
        .map(|(name, format)| (name, encoded(&picture, format)))
        .collect()
}

#[test]
fn a_file_cut_in_the_middle_is_an_error_and_never_half_a_picture() {
    let files = Files::new();
    for (name, bytes) in samples() {
        assert!(files.decode(name, &bytes).is_ok(), "{name} whole");
        for share in [5, 20, 50, 80, 95] {
            let cut = bytes.len() * share / 100;
            let error = files.decode(name, &bytes[..cut]).map(|d| d.notes).expect_err(&format!("{name} cut at {share} %"));
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}

#[test]
fn flipped_bytes_give_a_picture_or_an_error_that_names_the_file() {
    let files = Files::new();
    // A flipped size may ask for much: what is refused early need not be decoded here.
    let options = DecodeOptions { max_pixels: 100_000, ..DecodeOptions::default() };
    let (mut good, mut bad) = (0, 0);
    for (name, bytes) in samples() {
        // The headers one by one, the rest in steps.
        for at in (0..bytes.len()).filter(|&at| at < 64 || at % 37 == 0) {
            let mut broken = bytes.clone();
            broken[at] ^= 0xff;
            match decode(&files.write(name, &broken), &options) {
                Ok(decoded) => {
                    assert!(decoded.rgb.width() > 0 && decoded.rgb.height() > 0);
                    good += 1;
                }
                Err(error) => {
                    assert!(error.to_string().contains(name), "{error}");
                    bad += 1;
                }
            }
        }
    }
    assert!(good > 50 && bad > 50, "{good} pictures and {bad} errors: the flips no longer reach both");
}

#[test]
fn the_hash_is_blake3_of_the_bytes() {
    let files = Files::new();
    // Test vectors of BLAKE3: the empty input, and "abc".
    let hash = |bytes: &[u8]| file_hash(&files.write("h", bytes)).unwrap();
    assert_eq!(hash(b""), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
    assert_eq!(hash(b"abc"), "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
}
