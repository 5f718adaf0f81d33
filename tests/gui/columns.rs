//! A table of ratings: dropped, its columns chosen, imported.

use std::path::Path;
use std::sync::Arc;

use editscope::gui::state::Dialog;
use editscope::storage::Project;
use egui::Key;
use egui_kittest::kittest::Queryable as _;

use crate::support::{Setup, Window};
use crate::walk::Dropped;

/// The demo as a project file, in a folder with a table of ratings.
fn window_with(folder: &Path, table: &str) -> Window {
    window_with_file(folder, "t.csv", table)
}

fn window_with_file(folder: &Path, name: &str, table: &str) -> Window {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo");
    let project = folder.join("p.editscope");
    let items = editscope::datasets::read(&demo, None).expect("the demo is a data set").items;
    Project::create(&project).expect("a project can be made").import(&items).expect("the demo can be imported");
    std::fs::write(folder.join(name), table).expect("a table can be written");
    let mut window = Window::open(Setup { open: Some(project), ..Setup::default() });
    window.harness.input_mut().dropped_files.push(Arc::new(Dropped(folder.join(name))));
    window.settle();
    window
}

#[test]
fn a_dropped_table_is_previewed_and_imported_with_the_columns_that_are_chosen() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let table =
        "uid,method,who,overall,seed\n01-add,Margit,zoe,4,1\n01-add,Osric,zoe,2,2\nnowhere,Osric,zoe,2,3\n01-add,Blitz,zoe,good,4\n";
    let mut window = window_with(folder.path(), table);
    assert_eq!(window.state().dialog, Some(Dialog::Columns));
    window.harness.get_by_label("3 ratings, 2 of them about edits of this project.");
    window.harness.get_by_label("t.csv:5, column 'overall': 'good' is not a number; read as missing");
    window.harness.get_by_label("t.csv:4: the project has no edit of 'nowhere' by 'Osric'");
    let chosen = window.state().columns.as_ref().map(|draft| draft.columns.to_string());
    assert_eq!(chosen.as_deref(), Some("item=uid,model=method,rater=who,overall=overall"));
    window.harness.get_by_label("Import ratings").click();
    window.settle();
    assert_eq!(window.state().dialog, None);
    let project = Project::open(&folder.path().join("p.editscope")).expect("the project is there");
    let edits = project.edits_by_name().expect("it can be read");
    let ratings = project.latest_ratings(edits[&("01-add".to_owned(), "Margit".to_owned())][0]).expect("they can be read");
    let zoe = ratings.iter().find(|rating| rating.rater == "zoe").expect("the new rater is there");
    assert_eq!(zoe.values["overall"], 4.0);
}

#[test]
fn a_published_format_needs_no_choice_and_votes_are_taken() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let tsv = "uid\tMargit\tOsric\n01-add\t[1, 0.5]\t[0,0]\nnowhere\t[1,1]\t[0,0]\n";
    let mut window = window_with_file(folder.path(), "IE_rater3.tsv", tsv);
    assert_eq!(window.state().dialog, Some(Dialog::Columns));
    window.harness.get_by_label_contains("Read as imagenhub: ratings [SC, PQ] by 'rater3'");
    window.harness.get_by_label("4 ratings, 2 of them about edits of this project.");
    window.harness.get_by_label("Import ratings").click();
    window.settle();
    assert_eq!(window.state().dialog, None);
    let project = Project::open(&folder.path().join("p.editscope")).expect("the project is there");
    let edits = project.edits_by_name().expect("it can be read");
    let ratings = project.latest_ratings(edits[&("01-add".to_owned(), "Margit".to_owned())][0]).expect("they can be read");
    let rater = ratings.iter().find(|rating| rating.rater == "rater3").expect("the new rater is there");
    assert_eq!((rater.values["SC"], rater.values["PQ"]), (1.0, 0.5));
    drop(window);

    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let votes = "id,left_model,right_model,vote_type\n01-add,Margit,Osric,leftvote\n01-add,Osric,Nobody,tievote\n";
    let mut window = window_with(folder.path(), votes);
    window.harness.get_by_label("2 votes, 1 of them about edits of this project.");
    window.harness.get_by_label("t.csv:3: the project has no edit of '01-add' by 'Nobody'");
    window.harness.get_by_label("Import ratings").click();
    window.settle();
    let project = Project::open(&folder.path().join("p.editscope")).expect("the project is there");
    let found = project.session_opinions().expect("it can be read").votes;
    assert_eq!(found.iter().map(|vote| (vote.rater.as_str(), vote.first.as_str())).collect::<Vec<_>>(), [("t", "Margit")]);
}

#[test]
fn a_table_that_fits_nothing_cannot_be_imported_and_says_why() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut window = window_with(folder.path(), "a,b\nx,y\n");
    assert_eq!(window.state().dialog, Some(Dialog::Columns));
    window.harness.get_by_label_contains("no column is named as the item; the table has: a, b");
    assert!(!window.state().columns.as_ref().is_some_and(editscope::gui::columns::ColumnsDraft::is_ready));
    window.key(Key::Escape);
    assert_eq!(window.state().dialog, None);
}

#[test]
fn a_dropped_manifest_is_imported_as_one() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let window = window_with(folder.path(), "source,edited,instruction,model\ns.png,e.png,x,m\n");
    assert_eq!(window.state().dialog, None);
    assert!(
        window.asked.borrow().iter().any(|asked| asked.starts_with("import") && asked.contains("t.csv")),
        "{:?}",
        window.asked.borrow()
    );
}
