//! Prints frame times, switching times and memory of the window: `cargo bench --bench canvas`.

#[path = "../tests/gui/canvas_figures.rs"]
mod canvas_figures;
#[allow(dead_code, reason = "shared with the tests, which use all of it")]
#[path = "../tests/gui/support.rs"]
mod support;

fn main() {
    canvas_figures::print_all();
}
