//! A path that is typed in the window, where the system has no file dialog.

use std::path::{Path, PathBuf};

use super::app::App;
use super::dialogs::{Ask, Chosen, Wants};
use super::state::Dialog;

/// A path that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedPath {
    pub(super) ask: Ask,
    pub text: String,
    /// Why it is typed and not chosen.
    pub because: String,
    /// Why what was typed is not taken.
    pub objection: Option<String>,
    /// The file is there, and the person was told that it would be replaced.
    replaces: Option<PathBuf>,
    /// The field takes the cursor in the next frame.
    pub fresh: bool,
}

impl TypedPath {
    /// What it is asked for.
    pub const fn title(&self) -> &'static str {
        self.ask.title()
    }

    /// What kind of path is asked for, in words.
    pub const fn wanted(&self) -> &'static str {
        match self.ask.wants() {
            Wants::File => "A file",
            Wants::Folder => "A folder",
            Wants::NewFile => "A file to write",
        }
    }
}

/// What the person does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathAction {
    Type(String),
    /// Take it.
    Done,
}

impl App {
    /// Asks for a path in the window.
    pub(super) fn type_path(&mut self, ask: Ask, because: &str) {
        let suggested = ask.suggested();
        let text = if suggested.as_os_str().is_empty() { String::new() } else { absolute(&suggested).display().to_string() };
        let because = because.to_owned();
        self.state.typed_path = Some(TypedPath { ask, text, because, objection: None, replaces: None, fresh: true });
        self.state.dialog = Some(Dialog::Path);
    }

    /// Applies one action.
    pub(super) fn typed_path(&mut self, action: PathAction) {
        let Some(typed) = &mut self.state.typed_path else { return };
        match action {
            PathAction::Type(text) => (typed.text, typed.objection) = (text, None),
            PathAction::Done => match checked(typed) {
                Err(why) => typed.objection = Some(why),
                Ok(path) => {
                    let ask = typed.ask.clone();
                    self.state.typed_path = None;
                    self.state.dialog = None;
                    self.chosen(Chosen::path(ask, path));
                }
            },
        }
    }
}

/// The path that was typed, or what is wrong with it. A file that would be replaced is named once.
fn checked(typed: &mut TypedPath) -> Result<PathBuf, String> {
    let text = typed.text.trim();
    if text.is_empty() {
        return Err("Type a path first.".into());
    }
    let path = absolute(&with_home(text));
    let shown = path.display();
    match typed.ask.wants() {
        Wants::File if !path.is_file() => Err(format!("There is no such file: {shown}")),
        Wants::Folder if !path.is_dir() => Err(format!("There is no such folder: {shown}")),
        Wants::NewFile if path.is_dir() => Err(format!("This is a folder; add a file name: {shown}")),
        Wants::NewFile if path.parent().is_none_or(|folder| !folder.is_dir()) => Err(format!("There is no folder for this file: {shown}")),
        Wants::NewFile if path.exists() && typed.replaces.as_ref() != Some(&path) => {
            let why = format!("This file is there already and will be replaced; press OK once more: {shown}");
            typed.replaces = Some(path);
            Err(why)
        }
        _ => Ok(path),
    }
}

/// `~` at the beginning is the person's folder, as in a shell.
fn with_home(text: &str) -> PathBuf {
    let home = text.strip_prefix("~/").and_then(|rest| Some(dirs::home_dir()?.join(rest)));
    home.unwrap_or_else(|| text.into())
}

/// From the current folder, if it is not absolute already.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_looked_at_before_it_is_taken() {
        let folder = tempfile::tempdir().expect("the test machine has a temporary folder");
        let there = folder.path().join("there.csv");
        std::fs::write(&there, "a").expect("the folder is ours");
        let typed = |ask: Ask, path: &Path| TypedPath {
            ask,
            text: format!("  {} ", path.display()),
            because: String::new(),
            objection: None,
            replaces: None,
            fresh: false,
        };
        let said = |ask: Ask, path: &Path| checked(&mut typed(ask, path));
        assert_eq!(said(Ask::Ratings, &there), Ok(there.clone()));
        assert!(said(Ask::Ratings, &folder.path().join("none.csv")).is_err_and(|why| why.contains("no such file")));
        assert_eq!(said(Ask::PicturesIn, folder.path()), Ok(folder.path().to_owned()));
        assert!(said(Ask::PicturesIn, &there).is_err_and(|why| why.contains("no such folder")));
        assert!(said(Ask::ExportTo, folder.path()).is_err_and(|why| why.contains("add a file name")));
        assert!(said(Ask::ExportTo, &folder.path().join("none/new.csv")).is_err_and(|why| why.contains("no folder for this file")));
        assert_eq!(said(Ask::ExportTo, &folder.path().join("new.csv")), Ok(folder.path().join("new.csv")));
        // What is there is replaced only when it is said twice.
        let mut again = typed(Ask::ExportTo, &there);
        assert!(checked(&mut again).is_err_and(|why| why.contains("will be replaced")));
        assert_eq!(checked(&mut again), Ok(there));
        assert!(checked(&mut TypedPath { text: " ".into(), ..again }).is_err_and(|why| why.contains("Type a path")));
    }
}
