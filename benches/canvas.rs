//! Frame times, switching times and memory of the window, printed: `cargo bench --bench canvas`.
//!
//! The window is driven without a display. "Frame" is what the program does for one frame on its window thread: taking in events, laying
//! out and drawing the window, and turning shapes into triangles. What the GPU then does is not measured.

use std::path::Path;
use std::time::{Duration, Instant};

use editscope::domain::Size;
use editscope::gui::command::Command;
use editscope::imaging::decode::{DecodeOptions, decode};
use editscope::imaging::resize::{PilFilter, pil_resize};
use image::{Rgb, RgbImage};

#[allow(dead_code, reason = "shared with the tests, which use all of it")]
#[path = "../tests/gui/support.rs"]
mod support;

use support::{Setup, Window};

fn main() {
    frames_at_4k();
    switching_at_1024();
    large_pictures();
}

fn press(window: &mut Window, command: Command) {
    let shortcut = command.shortcut().expect("the bench presses commands that have a key");
    window.harness.key_press_modifiers(shortcut.modifiers, shortcut.logical_key);
    window.settle();
}

/// Milliseconds of one frame.
fn frame(window: &mut Window) -> f64 {
    let began = Instant::now();
    window.harness.step();
    let stepped = began.elapsed();
    let output = window.harness.output();
    let (shapes, ppp) = (output.shapes.clone(), output.pixels_per_point);
    let began = Instant::now();
    let triangles = window.harness.ctx.tessellate(shapes, ppp);
    std::hint::black_box(&triangles);
    (stepped + began.elapsed()).as_secs_f64() * 1e3
}

struct Summary {
    median: f64,
    p99: f64,
}

fn summary(mut millis: Vec<f64>) -> Summary {
    millis.sort_by(f64::total_cmp);
    let at = |share: f64| millis[((millis.len() - 1) as f64 * share).round() as usize];
    Summary { median: at(0.5), p99: at(0.99) }
}

/// Resident memory of this process in MiB; `None` where the system does not tell it this way.
fn resident_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

fn print_memory(window: &Window) {
    let (textures, pictures) = window.harness.state().pictures().memory();
    let resident = resident_mib().map_or_else(|| "not measured".to_owned(), |mib| format!("{mib} MiB"));
    println!("  textures {} MiB, decoded pictures {} MiB, process {resident}", textures >> 20, pictures >> 20);
}

fn frames_at_4k() {
    println!("3840×2160, 100,000 edits in the queue, all overlays on:");
    let mut window = Window::open(Setup { edits: 100_000, size: [3840.0, 2160.0], ..Setup::default() });
    println!("  {} edits", window.state().queue.rows().len());
    for command in [Command::ToggleCandidates, Command::ToggleCrop, Command::ToggleChangeMap] {
        press(&mut window, command);
    }
    let modes: Vec<(Command, &str)> =
        Command::all().filter_map(|command| command.compare_mode().map(|mode| (command, mode.label()))).collect();
    for (command, name) in modes {
        press(&mut window, command);
        let still = summary((0..200).map(|_| frame(&mut window)).collect());
        let zooming = summary(
            (0..200)
                .map(|n| {
                    window.harness.key_press(if n / 10 % 2 == 0 { egui::Key::Plus } else { egui::Key::Minus });
                    frame(&mut window)
                })
                .collect(),
        );
        println!(
            "  {name:<13} still: median {:.2} ms, p99 {:.2} ms; zooming: median {:.2} ms, p99 {:.2} ms",
            still.median, still.p99, zooming.median, zooming.p99
        );
        press(&mut window, Command::FitView);
    }
    print_memory(&window);
}

/// Steps until both pictures of the selection are on the screen; how long that took, in milliseconds.
fn until_shown(window: &mut Window) -> f64 {
    use editscope::gui::pictures::Wanted;
    let began = Instant::now();
    loop {
        window.harness.step();
        let app = window.harness.state();
        let shown = app.state().queue.selected_row().is_some_and(|row| {
            [&row.source, &row.edited].into_iter().all(|path| app.pictures().ready(&Wanted::Full(path.clone())).is_some())
        });
        if shown {
            // The frame that draws them.
            window.harness.step();
            return began.elapsed().as_secs_f64() * 1e3;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "the pictures do not come");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn switching_at_1024() {
    println!("switching edits, pictures of 1024×1024 (JPEG), engine with its threads:");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo/pictures");
    let mut manifest = String::new();
    let mut files: Vec<_> = std::fs::read_dir(demo).expect("the demo has pictures").flatten().map(|entry| entry.path()).collect();
    files.sort();
    for (index, pair) in files.chunks_exact(2).take(40).enumerate() {
        for (name, path) in [("source", &pair[0]), ("edit", &pair[1])] {
            let picture = decode(path, &DecodeOptions::default()).expect("the demo's pictures can be read").rgb;
            let large = pil_resize(&picture, Size::new(1024, 1024), PilFilter::Bicubic);
            large.save(folder.path().join(format!("{index}-{name}.jpg"))).expect("a picture can be written");
        }
        manifest.push_str(&format!(
            "{{\"id\": \"{index}\", \"item\": \"{index}\", \"source\": \"{index}-source.jpg\", \"instruction\": \"Pair {index}\", \"edited\": \
             \"{index}-edit.jpg\", \"model\": \"m\"}}\n"
        ));
    }
    std::fs::write(folder.path().join("manifest.jsonl"), manifest).expect("a manifest can be written");
    let setup = || Setup { data: Some(folder.path().to_path_buf()), edits: 1, scored: false, real_engine: true, ..Setup::default() };
    let mut window = Window::open(setup());
    let mut preloaded = Vec::new();
    let mut jumps = Vec::new();
    for n in 0..30 {
        window.harness.key_press(egui::Key::ArrowDown);
        preloaded.push(until_shown(&mut window));
        window.settle();
        if n % 3 == 2 {
            // Four steps at once: the last one's pictures were not preloaded.
            for _ in 0..4 {
                window.harness.key_press(egui::Key::ArrowDown);
            }
            jumps.push(until_shown(&mut window));
            window.settle();
        }
    }
    let (preloaded, jumps) = (summary(preloaded), summary(jumps));
    println!("  next edit (preloaded): median {:.1} ms, p99 {:.1} ms", preloaded.median, preloaded.p99);
    println!("  jump (decoded first):  median {:.1} ms, p99 {:.1} ms", jumps.median, jumps.p99);
    print_memory(&window);
}

fn large_pictures() {
    println!("large pictures, zooming and panning at 1920×1080:");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (width, height) in [(8193, 8193), (17160, 200), (1, 30000)] {
        let picture =
            |offset: u32| RgbImage::from_fn(width, height, |x, y| Rgb([((x + offset) / 9) as u8, (y / 7) as u8, ((x ^ y) / 64) as u8]));
        picture(0).save(folder.path().join("source.png")).expect("a picture can be written");
        picture(20).save(folder.path().join("edit.png")).expect("a picture can be written");
        let line = "{\"id\": \"1\", \"item\": \"1\", \"source\": \"source.png\", \"instruction\": \"Large\", \"edited\": \"edit.png\", \"model\": \"m\"}\n";
        std::fs::write(folder.path().join("manifest.jsonl"), line).expect("a manifest can be written");
        let began = Instant::now();
        let setup = Setup {
            data: Some(folder.path().to_path_buf()),
            edits: 1,
            scored: false,
            real_engine: true,
            size: [1920.0, 1080.0],
            ..Setup::default()
        };
        let mut window = Window::open(setup);
        let opened = began.elapsed().as_secs_f64();
        let moving = summary(
            (0..300)
                .map(|n| {
                    if n % 4 == 0 {
                        window.harness.key_press(if n / 40 % 2 == 0 { egui::Key::Plus } else { egui::Key::Minus });
                    }
                    std::thread::sleep(Duration::from_millis(2));
                    frame(&mut window)
                })
                .collect(),
        );
        println!("  {width}×{height}: opened in {opened:.2} s; frame median {:.2} ms, p99 {:.2} ms", moving.median, moving.p99);
        print_memory(&window);
    }
}
