//! The system's file dialogs, on a thread of their own: some of them block until they are closed.

use std::path::PathBuf;

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
    },
}

/// What was chosen; `path` is `None` when the dialog was cancelled or the system has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub ask: Ask,
    pub path: Option<PathBuf>,
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
            let path = show(&ask);
            // The window may be gone by now; then nobody needs the answer.
            let _ = outgoing.send(Chosen { ask, path });
            wake();
        })?;
        Ok(())
    }

    /// The next answer, if there is one.
    pub fn try_next(&self) -> Option<Chosen> {
        self.answers.try_recv().ok()
    }
}

fn show(ask: &Ask) -> Option<PathBuf> {
    let dialog = rfd::FileDialog::new();
    match ask {
        Ask::OpenProject => dialog.set_title("Open project").add_filter("EditScope project", &["editscope"]).pick_file(),
        Ask::Data => dialog.set_title("Import data").add_filter("Manifest", &["jsonl", "json", "csv", "tsv"]).pick_file(),
        Ask::Ratings => dialog.set_title("Import ratings").add_filter("Table", &["csv", "tsv", "jsonl", "json"]).pick_file(),
        Ask::ProjectFor { data } => {
            let suggested = default_project(data);
            let name = suggested.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let dialog = dialog.set_title("Save the project as").set_file_name(name).add_filter("EditScope project", &["editscope"]);
            match suggested.parent() {
                Some(folder) => dialog.set_directory(folder).save_file(),
                None => dialog.save_file(),
            }
        }
        Ask::PastedBackTo { .. } => {
            dialog.set_title("Save the pasted-back picture").set_file_name("pasted-back.png").add_filter("PNG", &["png"]).save_file()
        }
        Ask::GroundTruth => {
            dialog.set_title("Edits that are known to be good").add_filter("Table", &["csv", "tsv", "jsonl", "json"]).pick_file()
        }
        Ask::RangeTo { name } => {
            dialog.set_title("Export range").set_file_name(format!("{name}.json")).add_filter("Range", &["json"]).save_file()
        }
        Ask::RangeFrom => dialog.set_title("Import range").add_filter("Range", &["json"]).pick_file(),
        Ask::ReportTo => dialog
            .set_title("Write a report")
            .set_file_name("agreement.html")
            .add_filter("Web page", &["html"])
            .add_filter("CSV", &["csv"])
            .add_filter("LaTeX", &["tex"])
            .save_file(),
        Ask::PicturesIn => dialog.set_title("Where are the pictures?").pick_folder(),
        Ask::RegionsTo(Out::Coco(_)) => {
            dialog.set_title("Export regions").set_file_name("regions.json").add_filter("COCO annotations", &["json"]).save_file()
        }
        Ask::RegionsTo(_) => dialog.set_title("Export pictures into a folder").pick_folder(),
        Ask::ExportTo => dialog
            .set_title("Export scores and ratings")
            .set_file_name("scores.csv")
            .add_filter("CSV", &["csv"])
            .add_filter("JSON lines", &["jsonl"])
            .save_file(),
    }
}

/// The project that data is imported into when nobody is asked: beside the data, with its name.
pub fn default_project(data: &std::path::Path) -> PathBuf {
    let named_by = match data.file_stem() {
        // A manifest says less than the folder it describes.
        Some(stem) if stem == "manifest" => data.parent().filter(|folder| folder.file_name().is_some()).unwrap_or(data),
        _ => data,
    };
    let name = named_by.file_stem().map_or_else(|| "project".into(), |stem| stem.to_string_lossy().into_owned());
    data.parent().unwrap_or(std::path::Path::new("")).join(format!("{name}.editscope"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

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
