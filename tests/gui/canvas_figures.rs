//! Frame times, switching times and memory of the window, printed: by the ignored test below and by `cargo bench --bench canvas`.
//!
//! The window is driven without a display. "Frame" is what the program does for one frame on its window thread: taking in events, laying
//! out and drawing the window, and turning shapes into triangles. What the GPU (or a software driver) then does is not measured. The clock
//! suffers from what else the machine does; the processor time of the thread does not.

use std::path::Path;
use std::time::{Duration, Instant};

use editscope::domain::Size;
use editscope::gui::command::Command;
use editscope::imaging::decode::{DecodeOptions, decode};
use editscope::imaging::resize::{PilFilter, pil_resize};
use egui_kittest::kittest::Queryable as _;
use image::{Rgb, RgbImage};

use crate::support::{Setup, Window};

#[test]
#[ignore = "prints the figures of docs/performance.md; takes a minute or two"]
fn canvas_figures() {
    print_all();
}

/// Prints everything.
pub fn print_all() {
    frames_at_4k();
    switching_at_1024();
    large_pictures();
}

fn press(window: &mut Window, command: Command) {
    let shortcut = command.shortcut().expect("the bench presses commands that have a key");
    window.harness.key_press_modifiers(shortcut.modifiers, shortcut.logical_key);
    window.settle();
}

/// What one frame took, in milliseconds.
struct Took {
    clock: f64,
    /// Processor time of the window's thread; `None` where the system does not tell it this way.
    processor: Option<f64>,
}

/// One frame with everything that happened since the last one, as the window system hands it over. The test harness would make a frame of
/// each event and take the accessibility tree in; here there is one frame, and no screen reader.
fn frame(window: &mut Window, events: Vec<egui::Event>) -> Took {
    let ctx = window.harness.ctx.clone();
    let input = egui::RawInput { events, ..window.harness.input().clone() };
    let app = window.harness.state_mut();
    let (used, began) = (thread_millis(), Instant::now());
    let mut output = ctx.run_ui(input, |ui| {
        app.update();
        app.draw(ui);
    });
    let triangles = ctx.tessellate(std::mem::take(&mut output.shapes), output.pixels_per_point);
    std::hint::black_box(&triangles);
    let processor = used.zip(thread_millis()).map(|(from, to)| to - from);
    let clock = began.elapsed().as_secs_f64() * 1e3;
    // There is no GPU that would take them.
    output.textures_delta.clear();
    Took { clock, processor }
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

/// Processor milliseconds that this thread has used so far; `None` where the system does not tell it this way.
fn thread_millis() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e6)
}

/// Measures `count` frames, of which the n-th gets the events `happens(n)`, and says how long they took.
fn frames(window: &mut Window, count: usize, mut happens: impl FnMut(usize) -> Vec<egui::Event>) -> String {
    let ctx = window.harness.ctx.clone();
    ctx.disable_accesskit();
    let took: Vec<Took> = (0..count).map(|n| frame(window, happens(n))).collect();
    ctx.enable_accesskit();
    window.harness.step();
    let Summary { median, p99 } = summary(took.iter().map(|took| took.clock).collect());
    let used: Option<Vec<f64>> = took.iter().map(|took| took.processor).collect();
    let used = used.map(summary).map_or("not measured".to_owned(), |used| format!("{:.2} ms, p99 {:.2} ms", used.median, used.p99));
    format!("median {median:.2} ms, p99 {p99:.2} ms, processor median {used}")
}

/// A key, pressed and let go between two frames.
fn key(key: egui::Key) -> Vec<egui::Event> {
    let event = |pressed| egui::Event::Key { key, physical_key: None, pressed, repeat: false, modifiers: egui::Modifiers::NONE };
    vec![event(true), event(false)]
}

/// Nothing happens.
fn still(_: usize) -> Vec<egui::Event> {
    Vec::new()
}

/// Zooms in and out by turns of ten frames.
fn zoom(n: usize) -> Vec<egui::Event> {
    key(if (n / 10).is_multiple_of(2) { egui::Key::Plus } else { egui::Key::Minus })
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
        println!("  {name:<13} still:   {}", frames(&mut window, 200, still));
        println!("  {name:<13} zooming: {}", frames(&mut window, 200, zoom));
        press(&mut window, Command::FitView);
    }
    corrected_mask(&mut window);
    print_memory(&window);
}

/// The mask of a person is drawn anew for each view; a stroke of the brush makes the automatic one a person's.
fn corrected_mask(window: &mut Window) {
    press(window, Command::CompareSideBySide);
    press(window, Command::ToolBrush);
    let area = window.harness.get_by_label("Canvas").rect();
    let at = |x: f32| area.lerp_inside(egui::vec2(x, 0.5));
    window.harness.drag_at(at(0.7));
    window.harness.step();
    let stroke = frames(window, 100, |n| vec![egui::Event::PointerMoved(at(0.7 + n as f32 * 0.002))]);
    window.harness.drop_at(at(0.9));
    window.settle();
    println!("  Corrected     stroke:  {stroke}");
    println!("  Corrected     still:   {}", frames(window, 200, still));
    println!("  Corrected     zooming: {}", frames(window, 200, zoom));
}

/// Goes to the next edit and makes frames until both its pictures are drawn; how long that took, in milliseconds.
fn until_shown(window: &mut Window) -> f64 {
    use editscope::gui::pictures::Wanted;
    let began = Instant::now();
    let mut events = key(egui::Key::ArrowDown);
    loop {
        // What is there when a frame begins is drawn in it.
        frame(window, std::mem::take(&mut events));
        let app = window.harness.state();
        let shown = app.state().queue.selected_row().is_some_and(|row| {
            [&row.source, &row.edited].into_iter().all(|path| app.pictures().ready(&Wanted::Full(path.clone())).is_some())
        });
        if shown {
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
        preloaded.push(until_shown(&mut window));
        window.settle();
        if n % 3 == 2 {
            // Four steps quickly, a frame each: the last one's pictures were not preloaded, and those before it are being decoded.
            for _ in 0..3 {
                frame(&mut window, key(egui::Key::ArrowDown));
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
        let moving = frames(&mut window, 300, |n| {
            // Tiles are made meanwhile.
            std::thread::sleep(Duration::from_millis(2));
            if n % 4 == 0 { zoom(n / 4) } else { Vec::new() }
        });
        println!("  {width}×{height}: opened in {opened:.2} s; zooming: {moving}");
        press(&mut window, Command::OneToOne);
        let middle = window.harness.get_by_label("Canvas").rect().center();
        window.harness.drag_at(middle);
        window.harness.step();
        let panning = frames(&mut window, 200, |n| {
            let (sin, cos) = (n as f32 * 0.1).sin_cos();
            vec![egui::Event::PointerMoved(middle + egui::vec2(300.0 * sin, 300.0 * (cos - 1.0)))]
        });
        window.harness.drop_at(middle);
        println!("  {width}×{height}: panning at 1:1: {panning}");
        print_memory(&window);
    }
}
