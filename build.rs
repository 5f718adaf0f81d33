//! Recompiles when the embedded demo changes; the macro that embeds folders cannot say so itself.

fn main() {
    for folder in ["assets/demo", "models/demo", "models/catalog.toml"] {
        println!("cargo:rerun-if-changed={folder}");
    }
}
