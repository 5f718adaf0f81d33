//! Who changed what about the selected edit, newest first.

use egui::{Label, RichText, Ui};

use crate::editor::EditDetails;
use crate::gui::context::Context;

/// Draws the tab.
pub fn history_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails) {
    let palette = cx.palette(ui);
    if details.history.is_empty() {
        ui.label(RichText::new("Nothing has been changed yet.").color(palette.text_dim.0));
        return;
    }
    for line in &details.history {
        egui::Frame::new().fill(palette.background.0).corner_radius(4).inner_margin(egui::Margin::symmetric(8, 5)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal(|ui| {
                ui.label(RichText::new(&line.who).strong());
                let when = line.at_millis.map_or_else(|| "at an unknown time".to_owned(), utc);
                crate::gui::widgets::right(ui, |ui| ui.label(RichText::new(when).size(11.5).color(palette.text_dim.0)));
            });
            ui.add(Label::new(&line.what).wrap());
        });
    }
}

/// `YYYY-MM-DD hh:mm UTC` of milliseconds since 1970, by the days-to-date arithmetic of the proleptic Gregorian calendar.
pub(super) fn utc(millis: i64) -> String {
    let seconds = millis.div_euclid(1000);
    let (days, second_of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years begin in March here, so that the leap day is the last of a year.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = (year_of_era + era * 400 + i64::from(month >= 10), if month < 10 { month + 3 } else { month - 9 });
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", second_of_day / 3600, second_of_day % 3600 / 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_date_command() {
        // `date -u -d @N`: 0, 951782400 (a leap day), 1796000000, -1.
        for (seconds, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_796_000_000, "2026-11-30 00:53 UTC"),
            (-1, "1969-12-31 23:59 UTC"),
        ] {
            assert_eq!(utc(seconds * 1000), text);
        }
    }
}
