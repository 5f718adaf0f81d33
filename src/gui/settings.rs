//! What a person sets once: where networks run, which ones, the profile, the rater's name, the theme.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::{Profile, rater_name};
use crate::engine::{DevicePreference, ModelSource};

/// Settings of the window. Device and networks may be overruled by the command line for one session.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Settings {
    pub device: DevicePreference,
    pub models: ModelSource,
    /// The person named the networks; else they are those that scored the project.
    pub models_given: bool,
    /// The person named the precision; else it is that of the project's newest run.
    pub precision_given: bool,
    pub profile: Profile,
    /// Name of the saved range to show scores with; `None`: fitted on the project itself.
    pub range: Option<String>,
    /// The saved range that was last chosen in each project, by the project's path; no entry: fitted on the project itself.
    pub ranges: BTreeMap<PathBuf, String>,
    /// Who rates; empty until the person says.
    pub rater: String,
    pub theme: ThemeChoice,
    /// Paths are typed in the window, not chosen in the system's file dialogs.
    pub typed_paths: bool,
}

/// Which theme is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ThemeChoice {
    /// That of the system.
    #[default]
    System,
    Dark,
    Light,
}

impl ThemeChoice {
    /// All choices, in the order they are offered.
    pub const ALL: [Self; 3] = [Self::System, Self::Dark, Self::Light];

    /// The word in the settings.
    pub const fn label(self) -> &'static str {
        match self {
            Self::System => "As the system",
            Self::Dark => "Dark",
            Self::Light => "Light",
        }
    }
}

impl From<ThemeChoice> for egui::ThemePreference {
    fn from(choice: ThemeChoice) -> Self {
        match choice {
            ThemeChoice::System => Self::System,
            ThemeChoice::Dark => Self::Dark,
            ThemeChoice::Light => Self::Light,
        }
    }
}

/// The part of the settings that outlives the session.
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct Kept {
    rater: String,
    theme: ThemeChoice,
    profile: Profile,
    typed_paths: bool,
    ranges: BTreeMap<PathBuf, String>,
}

/// Where settings are kept for this user; `None` when there is no such folder.
pub fn settings_file() -> Option<PathBuf> {
    dirs::config_dir().map(|folder| folder.join("editscope").join("window.ron"))
}

/// The path from the root: the same project is named differently from another folder.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

impl Settings {
    /// The name under which ratings are kept; empty until the person says.
    pub fn rater_name(&self) -> String {
        rater_name(&self.rater)
    }

    /// Remembers the present range as the one that was chosen in the project at `path`.
    pub fn remember_range(&mut self, path: &Path) {
        match &self.range {
            Some(range) => drop(self.ranges.insert(whole(path), range.clone())),
            None => drop(self.ranges.remove(&whole(path))),
        }
    }

    /// The range that was last chosen in the project at `path`.
    pub fn remembered_range(&self, path: &Path) -> Option<&String> {
        self.ranges.get(&whole(path))
    }

    /// Takes what is kept in `file`, as far as it can be read; an unreadable file is worth a warning, not a refusal to start.
    pub fn read_kept(&mut self, file: &Path) -> Result<(), String> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(format!("the settings cannot be read ({error}): {}", file.display())),
        };
        let kept: Kept = ron::from_str(&text).map_err(|error| format!("the settings are broken ({error}): {}", file.display()))?;
        (self.rater, self.theme, self.profile) = (kept.rater, kept.theme, kept.profile);
        (self.typed_paths, self.ranges) = (kept.typed_paths, kept.ranges);
        Ok(())
    }

    /// Keeps what outlives the session.
    pub fn write_kept(&self, file: &Path) -> Result<(), String> {
        let kept = Kept {
            rater: self.rater.clone(),
            theme: self.theme,
            profile: self.profile,
            typed_paths: self.typed_paths,
            // A path that is no Unicode text cannot be written; the others can.
            ranges: self
                .ranges
                .iter()
                .filter(|(path, _)| path.to_str().is_some())
                .map(|(path, name)| (path.clone(), name.clone()))
                .collect(),
        };
        let failed = |error: &dyn std::fmt::Display| format!("the settings cannot be kept ({error}): {}", file.display());
        let text = ron::ser::to_string_pretty(&kept, ron::ser::PrettyConfig::default()).map_err(|error| failed(&error))?;
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        }
        // Written beside and renamed: half a file would lose the rater's name.
        let part = file.with_extension("part");
        std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, file)).map_err(|error| failed(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_settings_come_back_and_broken_ones_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/window.ron");
        let settings = Settings {
            rater: "ann".into(),
            theme: ThemeChoice::Light,
            profile: Profile::Paper,
            typed_paths: true,
            ranges: [(PathBuf::from("/a/b.editscope"), "own".to_owned())].into(),
            ..Settings::default()
        };
        settings.write_kept(&file).unwrap();
        let mut read = Settings::default();
        read.read_kept(&file).unwrap();
        assert_eq!(read, settings);
        std::fs::write(&file, "(rater: 5").unwrap();
        assert!(read.read_kept(&file).unwrap_err().contains("broken"));
        assert_eq!(read, settings);
        assert_eq!(Settings::default().read_kept(&folder.path().join("none.ron")), Ok(()));
    }
}
