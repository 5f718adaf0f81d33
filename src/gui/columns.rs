//! A table of ratings on its way into the project: what each of its columns means.

use std::path::PathBuf;

use crate::engine::opinions::{Column, Role, TableColumns, TableEvent, TableFormat, TablePreview, TableRequest, Taken};
use crate::engine::{Level, Request};

use super::app::App;
use super::state::Dialog;

/// The table whose columns are being chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnsDraft {
    pub table: PathBuf,
    /// What is chosen; guessed until the first preview is here.
    pub columns: TableColumns,
    /// `None` while the table is read for the first time; the error says why it cannot be.
    pub preview: Option<Result<TablePreview, String>>,
    /// A preview is on its way.
    pub reading: bool,
    pub importing: bool,
    /// It was dropped on the window, and may as well be a manifest.
    pub dropped: bool,
}

/// What a person does with the columns.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnsAction {
    /// Gives a column a role, or none.
    Choose {
        column: String,
        role: Option<Role>,
    },
    LowerIsBetter {
        column: String,
        on: bool,
    },
    Import,
}

impl ColumnsDraft {
    /// Gives `column` a role. Another column that had the same role loses it, except that any number of columns may be answers.
    fn choose(&mut self, column: &str, role: Option<Role>) {
        let before = self.columns.0.iter().position(|known| known.name == column);
        let lower_is_better = before.is_some_and(|at| self.columns.0[at].lower_is_better);
        self.columns.0.retain(|known| known.name != column && Some(&known.role) != role.as_ref());
        if let Some(role) = role {
            let at = before.unwrap_or(self.columns.0.len()).min(self.columns.0.len());
            self.columns.0.insert(at, Column { role, name: column.to_owned(), lower_is_better });
        }
    }

    /// What `column` is chosen to be.
    pub fn chosen(&self, column: &str) -> Option<&Column> {
        self.columns.0.iter().find(|known| known.name == column)
    }

    /// What its columns are chosen to be; `None` for a format in which there is nothing to choose.
    fn choice(&self) -> Option<TableColumns> {
        let has_choice = |preview: &TablePreview| preview.format == TableFormat::Columns;
        let preview = self.preview.as_ref().and_then(|found| found.as_ref().ok());
        preview.is_none_or(has_choice).then(|| self.columns.clone())
    }

    /// Why the ratings cannot be taken into the project as things stand; `None` when they can.
    pub fn hindrance(&self) -> Option<&'static str> {
        let preview = match &self.preview {
            _ if self.is_ready() => return None,
            _ if self.reading => return Some("The table is still being read."),
            _ if self.importing => return Some("The ratings are being taken into the project."),
            Some(Ok(preview)) => preview,
            None | Some(Err(_)) => return Some("The table cannot be read."),
        };
        Some(match (&preview.objection, preview.format) {
            (Some(_), TableFormat::Columns) => "Choose the columns first.",
            (Some(_), _) => "The table holds nothing that can be taken; the reason stands above.",
            (None, _) => "No row of the table is about an edit of this project: item and model must be written as in the project.",
        })
    }

    /// Whether the ratings can be taken into the project as things stand.
    pub fn is_ready(&self) -> bool {
        let ready = |preview: &TablePreview| preview.objection.is_none() && preview.matched + preview.matched_votes > 0;
        !self.reading && !self.importing && self.preview.as_ref().is_some_and(|found| found.as_ref().is_ok_and(ready))
    }
}

impl App {
    /// Begins with a table: it is read, its columns are guessed, and the dialog opens (for one that was `dropped`, once it is known to be
    /// no manifest).
    pub(super) fn open_table(&mut self, table: PathBuf, dropped: bool) {
        let columns = TableColumns::default();
        self.state.columns = Some(ColumnsDraft { table, columns, preview: None, reading: true, importing: false, dropped });
        if !dropped {
            self.state.dialog = Some(Dialog::Columns);
        }
        self.ask_preview(false);
    }

    fn ask_preview(&mut self, chosen: bool) {
        let (Some(project), Some(draft)) = (self.state.info().map(|info| info.path.clone()), &self.state.columns) else { return };
        let columns = chosen.then(|| draft.columns.clone());
        self.engine.send(Request::Table(TableRequest::Preview { table: draft.table.clone(), project, columns }));
    }

    /// Applies one action.
    pub(super) fn apply_columns(&mut self, action: ColumnsAction) {
        let Some(draft) = &mut self.state.columns else { return };
        match action {
            ColumnsAction::Choose { column, role } => draft.choose(&column, role),
            ColumnsAction::LowerIsBetter { column, on } => {
                if let Some(known) = draft.columns.0.iter_mut().find(|known| known.name == column) {
                    known.lower_is_better = on;
                }
            }
            ColumnsAction::Import => {
                draft.importing = true;
                let (table, columns) = (draft.table.clone(), draft.choice());
                let Some(project) = self.state.info().map(|info| info.path.clone()) else { return };
                self.engine.send(Request::Table(TableRequest::Import { table, project, columns }));
                return;
            }
        }
        draft.reading = true;
        self.ask_preview(true);
    }

    /// Takes in what the engine says about the table; about one that is no longer looked at, nothing.
    pub(super) fn table_event(&mut self, event: TableEvent) {
        let (TableEvent::Previewed { table, .. } | TableEvent::Imported { table, .. }) = &event;
        let Some(draft) = self.state.columns.as_mut().filter(|draft| draft.table == *table) else { return };
        match event {
            TableEvent::Previewed { table, result: Ok(preview) } if draft.dropped && is_manifest(&preview.header) => {
                self.state.columns = None;
                let project = super::dialogs::default_project(&table);
                self.import(table, project);
            }
            TableEvent::Previewed { result, .. } => {
                if std::mem::take(&mut draft.dropped) {
                    self.state.dialog = Some(Dialog::Columns);
                }
                // An answer to an older choice: the newer one is on its way.
                let stale = result.as_ref().is_ok_and(|preview| draft.preview.is_some() && preview.columns != draft.columns);
                if !stale {
                    if let Ok(preview) = &result {
                        draft.columns = preview.columns.clone();
                    }
                    draft.preview = Some(result);
                    draft.reading = false;
                }
            }
            TableEvent::Imported { result: Ok(Taken { ratings, votes, notes }), .. } => {
                self.state.columns = None;
                self.state.dialog = None;
                let left_out = if notes.is_empty() { String::new() } else { format!("; {} things were left out or are odd", notes.len()) };
                let votes = if votes > 0 { format!(" and {votes} votes") } else { String::new() };
                self.toast(Level::Info, format!("{ratings} ratings{votes} are new{left_out}."));
                self.reload_rows();
                if let Some(id) = self.state.queue.selected() {
                    self.request_details(id);
                }
            }
            TableEvent::Imported { result: Err(why), .. } => {
                draft.importing = false;
                self.toast(Level::Error, format!("No rating is imported: {why}"));
            }
        }
    }
}

/// A manifest names pictures.
fn is_manifest(header: &[String]) -> bool {
    ["source", "edited"].iter().all(|name| header.iter().any(|column| column.eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_moves_and_answers_share() {
        let columns: TableColumns = "item=a,rater=b,overall=c".parse().unwrap(); // a map
        let mut draft = ColumnsDraft { table: PathBuf::new(), columns, preview: None, reading: false, importing: false, dropped: false };
        let answer = |criterion: &str| Some(Role::Answer { criterion: criterion.into(), rater: None });
        draft.choose("d", Some(Role::Item));
        assert_eq!(draft.columns.to_string(), "rater=b,overall=c,item=d");
        draft.choose("b", answer("size"));
        assert_eq!(draft.columns.to_string(), "size=b,overall=c,item=d");
        draft.choose("c", None);
        assert_eq!(draft.columns.to_string(), "size=b,item=d");
        assert!(draft.chosen("c").is_none() && !draft.is_ready());
    }
}
