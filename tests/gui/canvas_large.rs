//! Pictures larger than a texture, moved and unequal edits: what the canvas does with them.

use std::path::Path;

use editscope::gui::pictures::{MEMORY_BUDGET, TEXTURE_BUDGET};
use egui::Key;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use image::{Rgb, RgbImage};

use crate::support::{Setup, Window};

/// A folder with one item for each pair of pictures.
fn data(pairs: &[(RgbImage, RgbImage)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut manifest = String::new();
    for (index, (source, edit)) in pairs.iter().enumerate() {
        source.save(folder.path().join(format!("{index}-source.png"))).unwrap();
        edit.save(folder.path().join(format!("{index}-edit.png"))).unwrap();
        manifest.push_str(&format!(
            "{{\"id\": \"{index}\", \"item\": \"{index}\", \"source\": \"{index}-source.png\", \"instruction\": \"Pair {index}\", \"edited\": \
             \"{index}-edit.png\", \"model\": \"m\"}}\n"
        ));
    }
    std::fs::write(folder.path().join("manifest.jsonl"), manifest).unwrap();
    folder
}

fn open(folder: &Path) -> Window {
    Window::open(Setup { data: Some(folder.to_path_buf()), edits: 1, scored: false, real_engine: true, ..Setup::default() })
}

/// The longest side of any texture of the window.
fn largest_texture(window: &Window) -> usize {
    let textures = window.harness.ctx.tex_manager();
    let textures = textures.read();
    textures.allocated().flat_map(|(_, meta)| meta.size).max().unwrap_or(0)
}

fn stripes(width: u32, height: u32, offset: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| Rgb([((x + offset) / 64 % 2 * 200) as u8, (y / 64 % 2 * 200) as u8, 90]))
}

#[test]
fn pictures_beyond_any_texture_open_and_zoom_in_small_tiles() {
    let sizes = [(8193, 8193), (17160, 200), (1, 30000)];
    let pairs: Vec<_> = sizes.iter().map(|&(w, h)| (stripes(w, h, 0), stripes(w, h, 32))).collect();
    let folder = data(&pairs);
    let mut window = open(folder.path());
    for (width, height) in sizes {
        let pixels = window.harness.state().pictures().memory().1 as u64;
        // Both pictures of the pair and their mip levels are there: a third more than 3 bytes a pixel.
        assert!(pixels >= 2 * 3 * u64::from(width) * u64::from(height), "{width}×{height}: {pixels} bytes");
        // The difference of the largest pair alone would take a second or two of every test run.
        let modes: &[Key] = if width == height { &[] } else { &[Key::I, Key::S] };
        for key in [Key::Z, Key::Plus, Key::F].iter().chain(modes) {
            window.key(*key);
        }
        assert!(largest_texture(&window) <= 2048, "{}", largest_texture(&window));
        let (textures, memory) = window.harness.state().pictures().memory();
        assert!(textures <= TEXTURE_BUDGET, "{textures} bytes of textures");
        assert!(memory <= MEMORY_BUDGET, "{memory} bytes of pictures");
        window.key(Key::ArrowDown);
    }
}

#[test]
fn a_moved_edit_is_told_and_an_unequal_one_too() {
    // Hills, so that there is something to hold on to; the second is the first moved by (6, −4).
    let hills = |dx: f64, dy: f64| {
        RgbImage::from_fn(500, 500, |x, y| {
            let (x, y) = (f64::from(x) - dx, f64::from(y) - dy);
            let value = 128.0 + 50.0 * (x / 17.0).sin() * (y / 23.0).cos() + 60.0 * ((x - y) / 41.0).sin() * ((x + y * 1.7) / 71.0).cos();
            Rgb([value as u8, (value * 0.7) as u8, (255.0 - value) as u8])
        })
    };
    let smaller = image::imageops::resize(&hills(0.0, 0.0), 250, 200, image::imageops::FilterType::Triangle);
    let folder = data(&[(hills(0.0, 0.0), hills(6.0, -4.0)), (hills(0.0, 0.0), smaller)]);
    let mut window = open(folder.path());
    let node = window.harness.get_by_label_contains("Edit moved by 6.0, −4.0 px");
    let note = node.accesskit_node().label().filter(|text| !text.is_empty()).or_else(|| node.value()).unwrap_or_default();
    assert!(note.contains("explains 9") || note.contains("explains 100 %"), "{note}");
    window.key(Key::ArrowDown);
    assert!(window.harness.query_by_label_contains("Edit moved by").is_none(), "a smaller edit is stretched, not moved");
    let state = window.state().motions.found(window.state().queue.selected().unwrap());
    assert!(state.is_none());
}
