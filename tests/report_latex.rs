//! The LaTeX report: what a TeX system would stumble over is not in it, whatever metrics and criteria are called.

use std::collections::BTreeMap;
use std::process::Command;

use editscope::export::{ReportExtras, write_report};
use editscope::stats::Bootstrap;
use editscope::stats::comparison::{About, Comparison, Evidence, Plan, Subject, compare_all};

/// Every character that means something to TeX, an end of line, and a bracket where a row begins.
const ODD: &str = "[m]_1 & 50 % of {x} \\y ~ ^ # $ <a|b> \"q\"\nend";

fn comparison() -> Comparison {
    let subject = |n: usize| Subject {
        item: format!("i{}", n / 3),
        model: ["a", "b", "c"][n % 3].to_owned(),
        // Runs against people: coefficients are negative.
        metrics: [("overall", n as f64), (ODD, -((n * 7 % 11) as f64))].map(|(name, value)| (name.to_owned(), value)).into(),
        human: BTreeMap::from([("overall".to_owned(), (n * 7 % 11) as f64)]),
        labels: BTreeMap::new(),
    };
    let evidence =
        Evidence { subjects: (0..24).map(subject).collect(), metrics: vec!["overall".into(), ODD.into()], ..Evidence::default() };
    let about =
        About { data: format!("{ODD}.csv"), name: ODD.into(), tie_policy: "50 % & more".into(), edits: 24, rated: 24, ..About::default() };
    let plan = Plan { bootstrap: Bootstrap { resamples: 50, ..Bootstrap::default() }, ..Plan::default() };
    compare_all(about, &evidence, &plan)
}

fn latex(comparison: &Comparison) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("r.tex");
    write_report(comparison, &ReportExtras::default(), &path).expect("it can be written");
    std::fs::read_to_string(&path).expect("it was written")
}

/// A line without its comment, its escaped characters replaced by a dot.
fn plain(line: &str) -> String {
    let mut kept = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' => break,
            '\\' => match chars.clone().next() {
                Some(next) if !next.is_alphabetic() => {
                    chars.next();
                    kept.push(if next == '\\' { '↵' } else { '.' });
                }
                _ => kept.push('\\'),
            },
            c => kept.push(c),
        }
    }
    kept
}

#[test]
fn the_table_is_well_formed_whatever_things_are_called() {
    let text = latex(&comparison());
    assert!(text.contains("{[}m{]}\\_1 \\& 50 \\% of \\{x\\}"), "{text}");
    assert!(text.contains("$-$"), "a negative coefficient has a minus sign: {text}");
    let mut depth = 0_i64;
    let mut environments = Vec::new();
    let (mut rows, mut in_table) = (0, false);
    for line in text.lines().map(plain) {
        for c in line.chars() {
            depth += i64::from(c == '{') - i64::from(c == '}');
            assert!(depth >= 0, "{line}");
        }
        assert_eq!(depth, 0, "a group goes over the end of a line: {line}");
        assert_eq!(line.matches('$').count() % 2, 0, "{line}");
        assert!(!line.contains(['#', '~', '^', '<', '>', '|', '"']), "{line}");
        if let Some(rest) = line.trim().strip_prefix("\\begin{") {
            environments.push(rest.split('}').next().unwrap_or_default().to_owned());
            in_table |= rest.starts_with("tabular");
        } else if let Some(rest) = line.trim().strip_prefix("\\end{") {
            assert_eq!(environments.pop().as_deref(), rest.split('}').next(), "{line}");
            in_table &= !rest.starts_with("tabular");
        } else if in_table && line.contains('↵') && !line.contains("\\multicolumn{7}") {
            assert_eq!(line.matches('&').count(), 6, "seven cells: {line}");
            assert!(!line.trim().starts_with('['), "{line}");
            rows += 1;
        }
    }
    assert!(environments.is_empty(), "{environments:?}");
    // The head, two metrics against people, eight published ones.
    assert_eq!(rows, 1 + 2 + 8, "{text}");
}

/// Rows of zones are there, as comments; a distance is marked in its row and explained in the caption.
#[test]
fn zones_are_comments_and_distances_are_marked() {
    let metrics = ["overall", "l1", "l1.inside", "ssim.outside"].map(str::to_owned);
    let subject = |n: usize| Subject {
        item: format!("i{}", n / 3),
        model: ["a", "b", "c"][n % 3].to_owned(),
        metrics: metrics.iter().map(|name| (name.clone(), (n * 5 % 7) as f64)).collect(),
        human: BTreeMap::from([("overall".to_owned(), (n * 7 % 11) as f64)]),
        labels: BTreeMap::new(),
    };
    let evidence = Evidence { subjects: (0..12).map(subject).collect(), metrics: metrics.to_vec(), ..Evidence::default() };
    let plan = Plan { bootstrap: Bootstrap { resamples: 20, ..Bootstrap::default() }, ..Plan::default() };
    let found = compare_all(About { profile: Some("corrected".into()), ..About::default() }, &evidence, &plan);
    let text = latex(&found);
    let rows: Vec<&str> = text.lines().filter(|line| line.contains(" & overall & ")).collect();
    assert!(rows[0].starts_with("    BPM & overall & ") && rows[1].starts_with("    l1 $\\downarrow$ & overall & "), "{text}");
    assert!(rows[2].starts_with("%    l1.inside $\\downarrow$ & ") && rows[3].starts_with("%    ssim.outside & "), "{text}");
    assert!(text.contains("% 2 rows of metrics inside and outside of the region: take the % away to print them"), "{text}");
    assert!(text.contains("$\\downarrow$: a distance, counted with its sign turned."), "{text}");
}

#[test]
#[ignore = "needs pdflatex with booktabs"]
fn the_table_compiles_and_fits_the_page() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join("r.tex"), latex(&comparison())).expect("the folder is ours");
    let page = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n\\input{r.tex}\n\\end{document}\n";
    std::fs::write(folder.path().join("page.tex"), page).expect("the folder is ours");
    let done = Command::new("pdflatex")
        .args(["-interaction=nonstopmode", "-halt-on-error", "page.tex"])
        .current_dir(folder.path())
        .output()
        .expect("pdflatex is there");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}");
    assert!(folder.path().join("page.pdf").is_file());
}
