//! The system's file dialogs, on a thread of their own: some of them block until they are closed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::engine::Wake;

use super::exports::Out;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    OpenProject,
    /// A manifest to import.
    Data,
    /// A table of ratings for the open project.
    Ratings,
    /// Where the project of imported data goes; `data` is what was chosen.
    ProjectFor {
        data: PathBuf,
    },
    /// A folder in which missing pictures are looked for.
    PicturesIn,
    ExportTo,
    /// Where a report of the agreement page goes.
    ReportTo,
    /// A table of edits that are known to be good.
    GroundTruth,
    /// Where the range of that name goes.
    RangeTo {
        name: String,
    },
    /// A range to take into the project.
    RangeFrom,
    /// Where regions go: a file for annotations, else a folder.
    RegionsTo(Out),
    /// Where a pasted-back picture is saved.
    PastedBackTo {
        picture: PathBuf,
        /// What the file may be called.
        name: String,
    },
}

/// What kind of path answers a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// A file that is there.
    File,
    /// A folder that is there.
    Folder,
    /// A file to write.
    NewFile,
}

/// Names of kinds of files with their endings.
type Filters = &'static [(&'static str, &'static [&'static str])];

impl Ask {
    /// The title of the dialog.
    pub const fn title(&self) -> &'static str {
        match self {
            Self::OpenProject => "Open project",
            Self::Data => "Import data",
            Self::Ratings => "Import ratings",
            Self::ProjectFor { .. } => "Save the project as",
            Self::PicturesIn => "Where are the pictures?",
            Self::ExportTo => "Export scores and ratings",
            Self::ReportTo => "Write a report",
            Self::GroundTruth => "Edits that are known to be good",
            Self::RangeTo { .. } => "Export range",
            Self::RangeFrom => "Import range",
            Self::RegionsTo(Out::Coco(_)) => "Export regions",
            Self::RegionsTo(_) => "Export pictures into a folder",
            Self::PastedBackTo { .. } => "Save the pasted-back picture",
        }
    }

    /// What is to be chosen.
    pub const fn wants(&self) -> Wants {
        match self {
            Self::OpenProject | Self::Data | Self::Ratings | Self::GroundTruth | Self::RangeFrom => Wants::File,
            Self::PicturesIn | Self::RegionsTo(Out::Masks(_) | Out::PasteBack { .. }) => Wants::Folder,
            Self::ProjectFor { .. }
            | Self::ExportTo
            | Self::ReportTo
            | Self::RangeTo { .. }
            | Self::RegionsTo(Out::Coco(_))
            | Self::PastedBackTo { .. } => Wants::NewFile,
        }
    }

    /// What a new file may be called, with its folder where one suggests itself; empty where nothing does.
    pub fn suggested(&self) -> PathBuf {
        match self {
            Self::ProjectFor { data } => default_project(data),
            Self::ExportTo => "scores.csv".into(),
            Self::ReportTo => "agreement.html".into(),
            Self::RangeTo { name } => format!("{name}.json").into(),
            Self::RegionsTo(Out::Coco(_)) => "regions.json".into(),
            Self::PastedBackTo { name, .. } => name.into(),
            _ => PathBuf::new(),
        }
    }

    const fn filters(&self) -> Filters {
        match self {
            Self::OpenProject | Self::ProjectFor { .. } => &[("EditScope project", &["editscope"])],
            Self::Data => &[("Manifest", &["jsonl", "json", "csv", "tsv"])],
            Self::Ratings | Self::GroundTruth => &[("Table", &["csv", "tsv", "jsonl", "json"])],
            Self::ExportTo => &[("CSV", &["csv"]), ("JSON lines", &["jsonl"])],
            Self::ReportTo => &[("Web page", &["html"]), ("CSV", &["csv"]), ("LaTeX", &["tex"])],
            Self::RangeTo { .. } | Self::RangeFrom => &[("Range", &["json"])],
            Self::RegionsTo(Out::Coco(_)) => &[("COCO annotations", &["json"])],
            Self::PastedBackTo { .. } => &[("PNG", &["png"])],
            Self::PicturesIn | Self::RegionsTo(_) => &[],
        }
    }
}

/// What was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub ask: Ask,
    /// `None` when the dialog was cancelled, or not shown.
    pub path: Option<PathBuf>,
    /// Why no dialog was shown.
    pub unshown: Option<&'static str>,
}

impl Chosen {
    /// A path that was named.
    pub const fn path(ask: Ask, path: PathBuf) -> Self {
        Self { ask, path: Some(path), unshown: None }
    }
}

/// The channel of answers.
pub struct Dialogs {
    outgoing: Sender<Chosen>,
    answers: Receiver<Chosen>,
    wake: Wake,
}

impl Dialogs {
    /// No dialog yet.
    pub fn new(wake: Wake) -> Self {
        let (outgoing, answers) = unbounded();
        Self { outgoing, answers, wake }
    }

    /// Opens a dialog.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn ask(&self, ask: Ask) -> std::io::Result<()> {
        let (outgoing, wake) = (self.outgoing.clone(), self.wake.clone());
        std::thread::Builder::new().name("file dialog".into()).spawn(move || {
            // The window may be gone by now; then nobody needs the answer.
            let _ = outgoing.send(answer(ask));
            wake();
        })?;
        Ok(())
    }

    /// The next answer, if there is one.
    pub fn try_next(&self) -> Option<Chosen> {
        self.answers.try_recv().ok()
    }
}

/// A dialog that ends sooner than this without a choice was never on the screen: nobody cancels one so fast.
const AT_ONCE: Duration = Duration::from_millis(300);

fn answer(ask: Ask) -> Chosen {
    if !has_dialogs() {
        let why = "This system has no file dialogs: neither an XDG desktop portal nor the program zenity is installed.";
        return Chosen { ask, path: None, unshown: Some(why) };
    }
    let began = Instant::now();
    let path = show(&ask);
    let unshown = (path.is_none() && began.elapsed() < AT_ONCE).then_some("The system's file dialog did not open.");
    Chosen { ask, path, unshown }
}

fn show(ask: &Ask) -> Option<PathBuf> {
    let filtered = |dialog: rfd::FileDialog, (name, endings): &(&str, &[&str])| dialog.add_filter(*name, endings);
    let dialog = ask.filters().iter().fold(rfd::FileDialog::new().set_title(ask.title()), filtered);
    match ask.wants() {
        Wants::File => dialog.pick_file(),
        Wants::Folder => dialog.pick_folder(),
        Wants::NewFile => {
            let suggested = ask.suggested();
            let name = suggested.file_name().unwrap_or_default().to_string_lossy();
            let dialog = dialog.set_file_name(name);
            match suggested.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                Some(folder) => dialog.set_directory(folder).save_file(),
                None => dialog.save_file(),
            }
        }
    }
}

/// Whether the system can show file dialogs at all. Windows and macOS always can.
fn has_dialogs() -> bool {
    if !cfg!(all(unix, not(target_os = "macos"))) || Path::new("/.flatpak-info").exists() {
        return true;
    }
    let folders = |name: &str, default: &str| -> Vec<PathBuf> {
        let set = std::env::var_os(name).filter(|set| !set.is_empty()).unwrap_or_else(|| default.into());
        std::env::split_paths(&set).collect()
    };
    let data: Vec<PathBuf> = folders("XDG_DATA_DIRS", "/usr/local/share:/usr/share").into_iter().chain(dirs::data_dir()).collect();
    let runtime_bus = std::env::var_os("XDG_RUNTIME_DIR").is_some_and(|folder| Path::new(&folder).join("bus").exists());
    let bus = runtime_bus || std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some();
    has_zenity(&folders("PATH", "/usr/bin")) || (bus && has_portal(&data))
}

fn has_zenity(path: &[PathBuf]) -> bool {
    path.iter().any(|folder| folder.join("zenity").is_file())
}

/// Whether the session bus knows how to start a portal.
fn has_portal(data: &[PathBuf]) -> bool {
    data.iter().any(|folder| folder.join("dbus-1/services/org.freedesktop.portal.Desktop.service").is_file())
}

/// The project that data is imported into when nobody is asked: beside the data, with its name.
pub fn default_project(data: &Path) -> PathBuf {
    let named_by = match data.file_stem() {
        // A manifest says less than the folder it describes.
        Some(stem) if stem == "manifest" => data.parent().filter(|folder| folder.file_name().is_some()).unwrap_or(data),
        _ => data,
    };
    let name = named_by.file_stem().map_or_else(|| "project".into(), |stem| stem.to_string_lossy().into_owned());
    data.parent().unwrap_or(Path::new("")).join(format!("{name}.editscope"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_with_neither_portal_nor_zenity_has_no_dialogs() {
        let folder = tempfile::tempdir().expect("the test machine has a temporary folder");
        let places = [folder.path().join("none"), folder.path().to_owned()];
        assert!(!has_zenity(&places) && !has_portal(&places));
        std::fs::write(folder.path().join("zenity"), "").expect("the folder is ours");
        let services = folder.path().join("dbus-1/services");
        std::fs::create_dir_all(&services).expect("the folder is ours");
        assert!(has_zenity(&places) && !has_portal(&places));
        std::fs::write(services.join("org.freedesktop.portal.Desktop.service"), "").expect("the folder is ours");
        assert!(has_portal(&places) && !has_portal(&places[..1]));
    }

    #[test]
    fn projects_are_named_after_their_data() {
        for (data, project) in [
            ("/d/cats.jsonl", "/d/cats.editscope"),
            ("/d/cats/manifest.jsonl", "/d/cats/cats.editscope"),
            ("/d/cats", "/d/cats.editscope"),
            ("manifest.jsonl", "manifest.editscope"),
        ] {
            assert_eq!(default_project(Path::new(data)), Path::new(project), "{data}");
        }
    }
}
