//! The project file is moved, deleted or replaced while it is open.
#![cfg(unix)]

use editscope::storage::{Project, StorageError};

use crate::{Bench, two_edits};

/// Bytes in the log that lies beside `p.editscope`.
fn log_bytes(bench: &Bench) -> u64 {
    std::fs::metadata(bench.path("p.editscope-wal")).map_or(0, |meta| meta.len())
}

#[test]
fn a_moved_file_has_all_that_was_saved_and_is_written_to_no_more() {
    let bench = Bench::new();
    let project = bench.project();
    project.set_meta("rater", "Jo").unwrap();
    assert!(log_bytes(&bench) > 0, "what was saved is still in the log");
    std::fs::rename(bench.path("p.editscope"), bench.path("renamed.editscope")).unwrap();
    let error = project.set_meta("rater", "Ann").unwrap_err();
    assert!(matches!(error, StorageError::Lost { .. }) && error.to_string().contains("was moved, renamed or deleted"), "{error}");
    drop(project);
    assert_eq!(log_bytes(&bench), 0, "a log under the old name would be applied to whatever lies there next");
    assert_eq!(Project::open(&bench.path("renamed.editscope")).unwrap().meta("rater").unwrap().as_deref(), Some("Jo"));
}

#[test]
fn a_file_that_is_moved_back_is_written_to_again() {
    let bench = Bench::new();
    let project = bench.project();
    project.set_meta("rater", "Jo").unwrap();
    for _ in 0..2 {
        std::fs::rename(bench.path("p.editscope"), bench.path("renamed.editscope")).unwrap();
        assert!(matches!(project.set_meta("rater", "nobody"), Err(StorageError::Lost { .. })));
        std::fs::rename(bench.path("renamed.editscope"), bench.path("p.editscope")).unwrap();
        #[cfg(target_os = "linux")]
        project.set_meta("rater", "Ann").unwrap();
    }
    drop(project);
    #[cfg(target_os = "linux")]
    assert_eq!(bench.project().meta("rater").unwrap().as_deref(), Some("Ann"));
}

#[test]
fn a_file_that_replaces_the_open_one_stays_whole() {
    let bench = Bench::new();
    let project = bench.project();
    project.import(&two_edits(&bench)).unwrap();
    let other = Project::create(&bench.path("other.editscope")).unwrap();
    other.set_meta("rater", "other").unwrap();
    drop(other);
    assert!(log_bytes(&bench) > 0, "the import is still in the log");
    std::fs::rename(bench.path("other.editscope"), bench.path("p.editscope")).unwrap();
    let before = std::fs::read(bench.path("p.editscope")).unwrap();
    let error = project.set_meta("rater", "Jo").unwrap_err();
    assert!(error.to_string().contains("was replaced by another file"), "{error}");
    drop(project);
    assert_eq!(std::fs::read(bench.path("p.editscope")).unwrap(), before);
    // The log of the one that was open must not be applied to it.
    let found = bench.project();
    assert_eq!((found.meta("rater").unwrap().as_deref(), found.counts().unwrap()), (Some("other"), (0, 0)));
}

#[test]
fn closing_alone_leaves_no_log_behind_either() {
    let bench = Bench::new();
    let project = bench.project();
    project.set_meta("rater", "Jo").unwrap();
    std::fs::rename(bench.path("p.editscope"), bench.path("renamed.editscope")).unwrap();
    drop(project);
    assert_eq!(log_bytes(&bench), 0);
    assert_eq!(Project::open(&bench.path("renamed.editscope")).unwrap().meta("rater").unwrap().as_deref(), Some("Jo"));
}
