//! Regions and pasted pictures out of the window, on a thread of their own: a large set takes minutes.

use std::path::{Path, PathBuf};

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::domain::{Mask, Profile};
use crate::engine::outputs::{self, IGNORED, MaskOf, Masks};
use crate::engine::paste_back::paste_back;
use crate::engine::results::{self, ScoredEdit};
use crate::engine::{Level, Wake};
use crate::export::{
    CocoPicture, ExportError, Kept, MaskForm, MaskInk, OUTDATED, PASTED_MANIFEST, Written, check_output, note_outdated, picture_files,
    write_coco, write_file, write_jsonl, write_masks, write_pictures,
};
use crate::storage::Project;

use super::app::App;

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// The edit regions as PNGs, into a folder.
    Masks(MaskInk),
    /// The region of each edit on its source, into a folder; the edge soft over so many pixels of the source.
    PasteBack { feather: u16 },
    /// Boxes and masks as annotations, into a file.
    Coco(MaskForm),
}

/// An export that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub project: PathBuf,
    pub profile: Profile,
    pub out: Out,
    /// A file for annotations; a folder for pictures, in which one of its own is made.
    pub to: PathBuf,
}

/// What the thread tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// So many of all are written.
    Progress(usize, usize),
    /// In words what was written; `Err`: why nothing was, or not all.
    Done(Result<String, String>),
    /// Where a single picture was saved; `Err`: why it was not.
    Copied(Result<PathBuf, String>),
}

/// The channel of answers.
pub struct Exports {
    outgoing: Sender<Told>,
    answers: Receiver<Told>,
    wake: Wake,
}

impl Exports {
    /// No export yet.
    pub fn new(wake: Wake) -> Self {
        let (outgoing, answers) = unbounded();
        Self { outgoing, answers, wake }
    }

    fn start(&self, job: Job) -> std::io::Result<()> {
        self.on_a_thread(move |tell| tell(Told::Done(write(&job, &mut |done, total| tell(Told::Progress(done, total))))))
    }

    /// Copies a picture, unless one of `kept` would be lost.
    ///
    /// # Errors
    /// When the system gives no thread; what became of the copy is told later.
    pub(super) fn copy(&self, picture: PathBuf, to: PathBuf, kept: Vec<PathBuf>) -> std::io::Result<()> {
        self.on_a_thread(move |tell| tell(Told::Copied(copied(&picture, &to, &kept).map(|()| to))))
    }

    fn on_a_thread(&self, work: impl FnOnce(&dyn Fn(Told)) + Send + 'static) -> std::io::Result<()> {
        let (outgoing, wake) = (self.outgoing.clone(), self.wake.clone());
        std::thread::Builder::new().name("export".into()).spawn(move || {
            work(&|told| {
                // The window may be gone by now; then nobody needs the answer.
                let _ = outgoing.send(told);
                wake();
            });
        })?;
        Ok(())
    }
}

impl App {
    /// Starts an export; one at a time.
    pub(super) fn export_regions(&mut self, out: Out, to: PathBuf) {
        let Some(project) = self.state.info().map(|info| info.path.clone()) else { return };
        if self.state.exporting.is_some() {
            self.toast(Level::Warning, "Another export is being written; try again when it is done.");
            return;
        }
        self.state.exporting = Some((0, 0));
        if let Err(error) = self.exports.start(Job { project, profile: self.settings.profile, out, to }) {
            self.state.exporting = None;
            self.toast(Level::Error, format!("Nothing is exported: {error}"));
        }
    }

    /// Takes in what the thread tells.
    pub(super) fn exports_told(&mut self) {
        while let Ok(told) = self.exports.answers.try_recv() {
            match told {
                Told::Progress(done, total) => self.state.exporting = Some((done, total)),
                Told::Copied(Ok(path)) => self.toast(Level::Info, format!("Saved: {}", path.display())),
                Told::Copied(Err(why)) => self.toast(Level::Error, format!("The picture is not saved: {why}")),
                Told::Done(result) => {
                    self.state.exporting = None;
                    match result {
                        Ok(what) => self.toast(Level::Info, what),
                        Err(why) => self.toast(Level::Error, format!("The export is not complete: {why}")),
                    }
                }
            }
        }
    }
}

/// Writes what the job asks for.
///
/// # Errors
/// In words for the person.
fn write(job: &Job, told: &mut dyn FnMut(usize, usize)) -> Result<String, String> {
    let said = |error: anyhow::Error| crate::engine::in_words(&error);
    let project = Project::open_read_only(&job.project).map_err(|error| error.to_string())?;
    let kept = kept(&project, &job.to)?;
    let mut scored = results::all(&project, job.profile, None, None).map_err(|error| error.to_string())?;
    results::mark_changed(&project, &mut scored).map_err(|error| error.to_string())?;
    if let Out::Coco(form) = job.out {
        let found = outputs::annotated(&project, &scored).map_err(said)?;
        let pictures: Vec<CocoPicture> =
            found.pictures.into_iter().map(|(picture, size, regions)| CocoPicture { picture, size, regions }).collect();
        let written = write_coco(&pictures, form, &job.to).map_err(|error| error.to_string())?;
        let (pictures, regions, said) = (pictures.len(), written.annotations, written.words());
        let what = format!("{pictures} pictures with {regions} regions: {}{said}", job.to.display());
        return complete(what, found.failed);
    }
    let masks = outputs::masks(&project, &scored).map_err(|error| error.to_string())?;
    if masks.edit.is_empty() && masks.ignored.is_empty() {
        return Err(format!(
            "no edit has an edit region of profile {}: it was not scored, or nothing was located, and nobody drew one",
            job.profile
        ));
    }
    let total = masks.edit.len();
    let folder = folder_for(job);
    claim(&kept, job.out, &masks, &folder).map_err(|error| error.to_string())?;
    let mut each = |done| told(done, total);
    let written = match job.out {
        Out::Masks(ink) => masks_into(&masks, ink, &folder, &mut each).map_err(|error| error.to_string())?,
        Out::PasteBack { feather } => pasted(&project, &scored, &masks, (job, feather), &folder, &mut each)?,
        Out::Coco(_) => Written::default(),
    };
    let outdated: Vec<&str> = masks.outdated().collect();
    note_outdated(&folder, &outdated).map_err(|error| error.to_string())?;
    let outdated = match outdated.len() {
        0 => String::new(),
        count => format!("; {count} of them belong to outdated scores ({OUTDATED} names them)"),
    };
    let failed = written.failed.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    let without = outputs::without_words(&masks.without(&scored));
    complete(format!("{} pictures: {}{without}{outdated}", written.files.len(), folder.display()), failed)
}

/// Says no to an output that would replace the project's own files. Returns the files that nothing may replace.
pub(super) fn kept(project: &Project, out: &Path) -> Result<Kept, String> {
    check_output(out, &[project.path()]).map_err(|error| error.to_string())?;
    let kept = Kept::of(project.picture_files().map_err(|error| error.to_string())?);
    kept.check(out).map_err(|error| error.to_string())?;
    Ok(kept)
}

/// Says no to folders in which something would be lost.
fn claim(kept: &Kept, out: Out, masks: &Masks, folder: &Path) -> Result<(), ExportError> {
    fn files(masks: &[MaskOf]) -> Vec<String> {
        picture_files(masks.iter().map(|mask| mask.key.0.as_str()))
    }
    let mut written = files(&masks.edit);
    if matches!(out, Out::PasteBack { .. }) {
        written.push(PASTED_MANIFEST.to_owned());
    } else if !masks.ignored.is_empty() {
        kept.claim(&folder.join(IGNORED), &files(&masks.ignored))?;
    }
    kept.claim(folder, &written)
}

/// Edit regions, and ignored pixels in a folder below.
fn masks_into(masks: &Masks, ink: MaskInk, folder: &Path, told: &mut dyn FnMut(usize)) -> Result<Written, ExportError> {
    fn named(masks: &[MaskOf]) -> impl Iterator<Item = (&str, Result<Mask, String>)> {
        masks.iter().map(|mask| (mask.key.0.as_str(), mask.mask()))
    }
    let mut written = write_masks(named(&masks.edit), ink, folder, told)?;
    if !masks.ignored.is_empty() {
        let ignored = write_masks(named(&masks.ignored), ink, &folder.join(IGNORED), &mut |_| {})?;
        written.files.extend(ignored.files);
        written.failed.extend(ignored.failed);
    }
    Ok(written)
}

/// Copies a picture to a place that holds nothing which must not be lost.
fn copied(picture: &Path, to: &Path, kept: &[PathBuf]) -> Result<(), String> {
    let kept: Vec<&Path> = kept.iter().map(PathBuf::as_path).collect();
    check_output(to, &kept).map_err(|error| match error {
        ExportError::Input { path } => {
            format!("{} is a picture of this project, or what is shown, and would be lost; choose another name", path.display())
        }
        other => other.to_string(),
    })?;
    let bytes = std::fs::read(picture).map_err(|error| format!("{}: {error}", picture.display()))?;
    write_file(to, |file| file.write_all(&bytes).map_err(|error| error.to_string())).map_err(|error| error.to_string())
}

/// The words, unless something failed; the first few failures are named.
fn complete(what: String, failed: Vec<String>) -> Result<String, String> {
    if failed.is_empty() {
        return Ok(what);
    }
    let rest = failed.len().saturating_sub(3);
    let more = if rest > 0 { format!("; and {rest} more") } else { String::new() };
    Err(format!("{what}; {} failed: {}{more}", failed.len(), failed.into_iter().take(3).collect::<Vec<_>>().join("; ")))
}

/// A folder of the project's own in the chosen one, so that hundreds of pictures do not lie among other files.
fn folder_for(job: &Job) -> PathBuf {
    let name = job.project.file_stem().unwrap_or_default().to_string_lossy();
    let what = match job.out {
        Out::PasteBack { .. } => "pasted-back",
        Out::Masks(MaskInk::Black) => "masks-black",
        Out::Masks(MaskInk::White) | Out::Coco(_) => "masks",
    };
    job.to.join(format!("{name}-{what}"))
}

/// Pasted pictures, and the manifest that makes a data set of them.
fn pasted(
    project: &Project,
    scored: &[ScoredEdit],
    masks: &Masks,
    (job, feather): (&Job, u16),
    folder: &Path,
    told: &mut dyn FnMut(usize),
) -> Result<Written, String> {
    let rows = results::rows(project, scored, job.profile, "").map_err(|error| error.to_string())?;
    let pictures = outputs::pairs(&masks.edit, &rows).map(|(of, row)| {
        let picture = of.mask().and_then(|mask| paste_back(&row.source.path, &row.edited.path, &mask, f32::from(feather)));
        (of.key.0.as_str(), picture)
    });
    let written = write_pictures(pictures, folder, told).map_err(|error| error.to_string())?;
    let manifest = outputs::pasted_rows(&rows, &written.files);
    write_jsonl(&manifest, &folder.join(PASTED_MANIFEST)).map_err(|error| error.to_string())?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;
    use crate::domain::rle::Rle;
    use crate::domain::{Mask, Outcome, Parts, Score, Size};
    use crate::storage::{NewRun, RunKind};

    /// A project of one scored edit whose region is its left half.
    fn project(folder: &Path) -> PathBuf {
        for (name, value) in [("s.png", 10), ("e.png", 200)] {
            RgbImage::from_pixel(20, 10, Rgb([value; 3])).save(folder.join(name)).expect("the folder is ours");
        }
        let line = r#"{"id": "e", "item": "i", "source": "s.png", "instruction": "Make it red", "edited": "e.png", "model": "m"}"#;
        std::fs::write(folder.join("m.jsonl"), line).expect("the folder is ours");
        let path = folder.join("p.editscope");
        crate::engine::files::import(&folder.join("m.jsonl"), &path, None).expect("a manifest");
        let project = Project::open(&path).expect("made above");
        let about = NewRun {
            kind: RunKind::Set,
            profile: Profile::Corrected,
            models: "demo".into(),
            models_fingerprint: "f".into(),
            device: "CPU".into(),
            settings: serde_json::json!({}),
            range: None,
        };
        let run = project.start_run(&about).expect("writable");
        let none = || Outcome::NotApplicable("not judged".to_owned());
        let parts = Parts { size: none(), position: none(), modify: none(), preserve: none() };
        let mask = Some(Rle::from_mask(&Mask::from_fn(Size::new(20, 10), |x, _| x < 10)));
        let score = Score { mask, ..Score::of_parts(Profile::Corrected, false, parts) };
        project.put_score(run, project.edits().expect("readable")[0].id, &score, 0.1).expect("writable");
        path
    }

    #[test]
    fn masks_annotations_and_pasted_pictures_come_out_of_a_project() {
        let folder = tempfile::tempdir().expect("the test machine has a temporary folder");
        let (project, to) = (project(folder.path()), folder.path().to_owned());
        let job = |out, profile, to: &Path| Job { project: project.clone(), profile, out, to: to.to_owned() };
        let mut told = Vec::new();
        write(&job(Out::Masks(MaskInk::White), Profile::Corrected, &to), &mut |done, total| told.push((done, total))).expect("one region");
        assert_eq!(told, [(1, 1)]);
        let mask = image::open(to.join("p-masks/e.png")).expect("a PNG").into_luma8();
        assert_eq!((mask.get_pixel(9, 0).0, mask.get_pixel(10, 0).0), ([255], [0]));

        let said = write(&job(Out::PasteBack { feather: 0 }, Profile::Corrected, &to), &mut |_, _| {}).expect("one region");
        assert!(said.starts_with("1 pictures") && said.contains("p-pasted-back"), "{said}");
        let pasted = image::open(to.join("p-pasted-back/e.png")).expect("a PNG").into_rgb8();
        assert_eq!((pasted.get_pixel(9, 5).0, pasted.get_pixel(10, 5).0), ([200; 3], [10; 3]));
        let data = crate::engine::files::import(&to.join("p-pasted-back/manifest.jsonl"), &to.join("again.editscope"), None);
        assert!(data.is_ok_and(|data| data.problems.is_empty()), "the manifest is a data set");

        let coco = to.join("c.json");
        write(&job(Out::Coco(MaskForm::Polygons), Profile::Corrected, &coco), &mut |_, _| {}).expect("pictures are there");
        let text = std::fs::read_to_string(&coco).expect("written above");
        assert!(text.contains("\"segmentation\":[["), "{text}");
        let why = write(&job(Out::Masks(MaskInk::Black), Profile::Paper, &to), &mut |_, _| {}).expect_err("nothing is scored");
        assert!(why.contains("no edit has an edit region of profile paper"), "{why}");
    }

    #[test]
    fn a_copied_picture_replaces_no_picture_and_no_project() {
        let folder = tempfile::tempdir().expect("the test machine has a temporary folder");
        let project = project(folder.path());
        let (source, shown) = (folder.path().join("s.png"), folder.path().join("shown.png"));
        RgbImage::from_pixel(4, 4, Rgb([7; 3])).save(&shown).expect("the folder is ours");
        let kept = [source.clone(), folder.path().join("e.png"), shown.clone(), project.clone()];
        let bytes = |path: &Path| std::fs::read(path).expect("it is there");
        for lost in [&source, &shown, &project, &folder.path().join("again/../s.png")] {
            std::fs::create_dir_all(folder.path().join("again")).expect("the folder is ours");
            let before = bytes(lost);
            let why = copied(&shown, lost, &kept).expect_err("it would be lost");
            assert!(why.contains("would be lost") && bytes(lost) == before, "{why}");
        }
        let to = folder.path().join("new.png");
        copied(&shown, &to, &kept).expect("nothing is lost");
        assert_eq!(bytes(&to), bytes(&shown));
        // A file that is nobody's may be replaced.
        copied(&shown, &to, &kept).expect("nothing is lost");
    }

    #[test]
    fn a_picture_that_is_gone_is_named_and_the_others_are_written() {
        let folder = tempfile::tempdir().expect("the test machine has a temporary folder");
        let project = project(folder.path());
        std::fs::remove_file(folder.path().join("e.png")).expect("made above");
        let job = |out, to| Job { project: project.clone(), profile: Profile::Corrected, out, to };
        let why = write(&job(Out::PasteBack { feather: 4 }, folder.path().to_owned()), &mut |_, _| {}).expect_err("the edit is gone");
        assert!(why.contains("1 failed: e: the edited image:"), "{why}");
        let why = write(&job(Out::Coco(MaskForm::Rle), folder.path().join("c.json")), &mut |_, _| {}).expect_err("the edit is gone");
        assert!(why.contains("1 pictures with 1 regions") && why.contains("e.png"), "{why}");
    }
}
