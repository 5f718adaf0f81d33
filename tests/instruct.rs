//! The built-in reader of instructions against fields written by hand, and against inputs that break readers.
//!
//! `tests/instruct/dev.txt` was used to write the rules; `held_out.txt` was written before them and never used to change
//! them. Both state the conventions of the metric's parse. `cargo test --test instruct -- --nocapture` prints the shares.

use editscope::domain::{FieldWords, Parse};
use editscope::instruct::parse_instruction;
use proptest::prelude::*;

/// One line of a table: the instruction, the seven fields in the order of [`Parse::FIELDS`], and the two flags.
struct Case {
    instruction: String,
    fields: [String; 7],
    more: bool,
    doubtful: bool,
}

fn cases(table: &str) -> Vec<Case> {
    table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).map(case).collect()
}

/// Spells out the fields that a kind of edit implies.
fn case(line: &str) -> Case {
    let mut columns = line.split('|');
    let kind = columns.next().unwrap_or_default();
    let instruction = columns.next().unwrap_or_default().to_owned();
    let rest: Vec<&str> = columns.map(|c| if c.is_empty() { "none" } else { c }).collect();
    let get = |i: usize| rest.get(i).copied().unwrap_or("none");
    let stay = ["unchanged", "unchanged"];
    let none = ["none", "none"];
    let (parts, kind_name, [size, position]) = match kind.trim_end_matches(['+', '?']) {
        "add" => (["none", get(0), get(1), get(0)], "add", ["none", get(2)]),
        "rem" => ([get(0), "none", "none", "none"], "remove", none),
        "rep" => ([get(0), get(1), "none", "none"], "replace", stay),
        "col" => ([get(0), get(1), "none", "none"], "change color", stay),
        "tex" => ([get(0), get(1), "none", "none"], "change texture", stay),
        "siz" => ([get(0), get(1), "none", "none"], "change size", [get(2), "unchanged"]),
        "mov" => ([get(0), get(1), "none", "none"], "other", ["none", get(2)]),
        "oth" => ([get(0), get(1), "none", "none"], "other", none),
        "all" => (["all", "all", "none", "none"], "other", none),
        unknown => panic!("no kind '{unknown}' in {line}"),
    };
    let [original, edited, reference, added] = parts;
    Case {
        instruction,
        fields: [original, edited, kind_name, reference, added, size, position].map(str::to_owned),
        more: kind.contains('+'),
        doubtful: kind.contains('?'),
    }
}

fn fields(parse: &Parse) -> [String; 7] {
    Parse::FIELDS.map(|name| parse.field(name).unwrap_or_default().to_owned())
}

/// Counts the cases read exactly, and prints the others.
fn share(name: &str, table: &str) -> (usize, usize) {
    let cases = cases(table);
    let mut right = 0;
    let mut by_field = [0; 7];
    for case in &cases {
        let parse = parse_instruction(&case.instruction);
        let got = fields(&parse);
        for (hits, (a, b)) in by_field.iter_mut().zip(got.iter().zip(&case.fields)) {
            *hits += usize::from(a == b);
        }
        let flags = parse.more_edits == case.more && (parse.doubtful.is_some() || !case.doubtful);
        if got == case.fields && flags {
            right += 1;
        } else {
            println!("{name}: {}\n  expected {:?} more {}\n  read     {got:?} more {} ({:?})", case.instruction, case.fields, case.more, parse.more_edits, parse.doubtful);
        }
    }
    println!("{name}: {right} of {} with all seven fields and flags; by field {:?} {by_field:?}", cases.len(), Parse::FIELDS);
    (right, cases.len())
}

#[test]
fn instructions_used_for_the_rules_are_read() {
    let (right, all) = share("dev", include_str!("instruct/dev.txt"));
    assert_eq!(right, all);
}

#[test]
fn held_out_instructions_are_read() {
    let (right, all) = share("held out", include_str!("instruct/held_out.txt"));
    assert!(right * 100 >= all * 90, "{right} of {all}");
}
