//! The arrows of `ARCHITECTURE.md`, checked: which folder under `src` may use which.
//!
//! A rule that is not run is a wish. The check reads the sources as text: every `crate::NAME` (and `editscope::NAME` in `main.rs`)
//! outside comments counts as a use of folder NAME.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder and the folders that it may use besides itself.
const ARROWS: [(&str, &[&str]); 13] = [
    ("domain", &[]),
    ("imaging", &["domain"]),
    ("stats", &["domain"]),
    ("storage", &["domain"]),
    ("editor", &["domain"]),
    ("export", &["stats", "imaging", "domain"]),
    ("nets", &["imaging", "domain"]),
    ("metrics", &["imaging", "domain"]),
    ("instruct", &["imaging", "domain"]),
    ("datasets", &["imaging", "domain"]),
    ("engine", &["metrics", "nets", "instruct", "storage", "datasets", "stats", "imaging", "domain"]),
    ("gui", &["editor", "engine", "export", "storage", "stats", "domain"]),
    ("cli", &["engine", "export", "storage", "stats", "datasets", "domain"]),
];

/// Crates that only these folders may name.
const WALLS: [(&str, &[&str]); 4] = [("egui", &["gui"]), ("eframe", &["gui"]), ("burn", &["nets"]), ("rusqlite", &["storage"])];

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a source folder can be read") {
        let path = entry.expect("a folder entry can be read").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The lines of a source without comments; strings stay, as no message needs to name a crate path.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(n, line)| (n + 1, line.split("//").next().unwrap_or("")))
}

/// Names that follow `prefix` as a path, with `crate::{a, b::c}` taken apart.
fn names_after(line: &str, prefix: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = Vec::new();
    for (at, _) in line.match_indices(prefix) {
        if line[..at].chars().next_back().is_some_and(is_word) {
            continue;
        }
        let rest = &line[at + prefix.len()..];
        if let Some(group) = rest.strip_prefix('{') {
            names.extend(
                group.trim_end_matches(['}', ';']).split(',').map(|part| part.trim().chars().take_while(|&c| is_word(c)).collect()),
            );
        } else {
            names.push(rest.chars().take_while(|&c| is_word(c)).collect());
        }
    }
    names
}

/// Every use that the arrows or the walls forbid, as `file:line: …`.
fn violations(root: &Path) -> Vec<String> {
    let known: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    let mut wrong = Vec::new();
    for (folder, allowed) in ARROWS {
        let mut files = Vec::new();
        rust_files(&root.join(folder), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).expect("a source file can be read");
            for (n, line) in code_lines(&text) {
                for used in names_after(line, "crate::") {
                    if known.contains(used.as_str()) && used != folder && !allowed.contains(&used.as_str()) {
                        wrong.push(format!("{}:{n}: {folder} may not use {used}", file.display()));
                    }
                }
                for (krate, homes) in WALLS {
                    if !homes.contains(&folder) && !names_after(line, &format!("{krate}::")).is_empty() {
                        wrong.push(format!("{}:{n}: only {homes:?} may use {krate}", file.display()));
                    }
                }
            }
        }
    }
    wrong
}

#[test]
fn folders_use_only_what_stands_to_their_right() {
    let wrong = violations(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_folder_has_its_arrows() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let known: BTreeSet<String> = ARROWS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let found: BTreeSet<String> = fs::read_dir(src)
        .expect("src can be read")
        .map(|entry| entry.expect("a folder entry can be read").path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().expect("an entry has a name").to_string_lossy().into_owned())
        .collect();
    assert_eq!(known, found, "a folder without arrows, or arrows without a folder");
}

#[test]
fn a_forbidden_use_would_be_found() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    for (folder, _) in ARROWS {
        fs::create_dir_all(dir.path().join(folder)).expect("a folder can be made");
    }
    fs::write(dir.path().join("domain/a.rs"), "// crate::gui is fine in a comment\nuse crate::{stats::X, domain};\n")
        .expect("a file can be written");
    fs::write(dir.path().join("stats/b.rs"), "fn f() { egui::Context::default(); }\n").expect("a file can be written");
    let wrong = violations(dir.path());
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    assert!(wrong[0].ends_with("a.rs:2: domain may not use stats"), "{wrong:?}");
    assert!(wrong[1].contains("may use egui"), "{wrong:?}");
}
