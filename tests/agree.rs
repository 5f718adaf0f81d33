//! `agree` from outside, on tables alone: no project, no pictures, no networks.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn agree(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_editscope"))
        .arg("agree")
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn json(out: &Output) -> Value {
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&out.stderr)))
}

/// The three raters' tables of ImagenHub's text-guided editing task (github.com/TIGER-AI-Lab/ImagenHub, `eval/human_ratings`), which are not
/// part of this repository: in the folder that `EDITSCOPE_IMAGENHUB` names, else in `shared/data` beside the repository.
fn imagenhub() -> Option<Vec<String>> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/ratings/imagenhub/Text-Guided_IE");
    let folder = std::env::var_os("EDITSCOPE_IMAGENHUB").map_or_else(beside, PathBuf::from);
    let file = |n| folder.join(format!("Text-Guided_IE_rater{n}.tsv")).canonicalize().ok();
    (1..=3).map(|n| file(n).map(|file| file.display().to_string())).collect()
}

/// Krippendorff's α, ordinal, of ImagenHub's text-guided table: computed with the Python package krippendorff 0.9.0 from the same files.
/// Imagic got one value only on SC, so that α is undefined.
const PUBLISHED: [(&str, Option<f64>, f64); 9] = [
    ("InstructPix2Pix", Some(0.743), 0.611),
    ("MagicBrush", Some(0.662), 0.470),
    ("DiffEdit", Some(0.177), 0.665),
    ("CycleDiffusion", Some(0.583), 0.523),
    ("Pix2PixZero", Some(0.367), 0.531),
    ("Prompt2prompt", Some(0.560), 0.433),
    ("SDEdit", Some(0.204), 0.349),
    ("Text2Live", Some(0.308), 0.586),
    ("Imagic", None, 0.948),
];

#[test]
fn ratings_alone_give_the_agreement_between_people() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let Some(files) = imagenhub() else {
        assert!(std::env::var_os("EDITSCOPE_IMAGENHUB").is_none(), "EDITSCOPE_IMAGENHUB names a folder without the three tables");
        // Past the capture of the test runner, which swallows what a passing test prints: that nothing was compared must be seen.
        let skipped = "SKIPPED ratings_alone_give_the_agreement_between_people: ImagenHub's three tables are not here, and they may not be \
                       copied into this repository. EDITSCOPE_IMAGENHUB names the folder that holds Text-Guided_IE_rater1.tsv, 2 and 3.";
        std::io::Write::write_all(&mut std::io::stderr(), format!("\n{skipped}\n").as_bytes()).expect("there is a standard error");
        return;
    };
    let mut arguments = vec!["--ratings"];
    arguments.extend(files.iter().map(String::as_str));
    arguments.push("--json");
    let out = agree(dir.path(), &arguments);
    let found = json(&out);
    for (model, sc, pq) in PUBLISHED {
        let alpha = |criterion: &str| &found["between_raters"][criterion][model]["alpha_ordinal"];
        match sc {
            Some(sc) => assert!((alpha("SC").as_f64().unwrap() - sc).abs() <= 0.0005, "{model} SC: {}", alpha("SC")),
            None => assert!(alpha("SC")["undefined"].as_str().unwrap().contains("one value only"), "{model} SC: {}", alpha("SC")),
        }
        assert!((alpha("PQ").as_f64().unwrap() - pq).abs() <= 0.0005, "{model} PQ: {}", alpha("PQ"));
    }
    assert_eq!(found["rater_set"], serde_json::json!(["rater1", "rater2", "rater3"]));
    assert_eq!((found["edits"].as_u64(), found["rated"].as_u64()), (Some(179 * 9), Some(179 * 9)));
    assert!(out.status.success(), "{}", text(&out.stderr));
    // As a table for people, too.
    let table = text(&agree(dir.path(), &arguments[..4]).stdout);
    assert!(table.contains("InstructPix2Pix") && table.contains("0.743") && table.contains("one value only (0)"), "{table}");
}

/// ImagenHub's format with numbers of our own, for machines that have not its tables.
#[test]
fn the_agreement_of_two_raters_is_what_it_is_by_hand() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let files = ["IE_rater1.tsv", "IE_rater2.tsv"];
    for (file, cells) in files.into_iter().zip([["[0,0]", "[0, 0.5]", "[1,1]", "[1, 1]"], ["[0, 0]", "[1,0.5]", "[1, 0.5]", "[1,1]"]]) {
        let rows = cells.iter().enumerate().map(|(item, cell)| format!("sample_{item}.jpg\t{cell}\t[0, 0]\r\n"));
        std::fs::write(dir.path().join(file), format!("uid\tA\tB\r\n{}", rows.collect::<String>())).expect("the folder is ours");
    }
    let out = agree(dir.path(), &["--ratings", files[0], files[1], "--json"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let found = json(&out);
    let alpha = |criterion: &str, model: &str| found["between_raters"][criterion][model]["alpha_ordinal"].clone();
    // By hand, SC of A: 0 0, 0 1, 1 1, 1 1. Three 0 and five 1 in eight cells; observed 2/8, expected 2·3·5/(8·7) of disagreements.
    let sc = 1.0 - (2.0 / 8.0) / (30.0 / 56.0);
    // PQ of A: 0 0, 0.5 0.5, 1 0.5, 1 1. Two 0, three 0.5, three 1; squared distances of their middle places 1, 3.5, 6.5: 6.25 from 0 to 0.5,
    // 9 from 0.5 to 1, 30.25 from 0 to 1. Observed 2·9/8, expected 2·(2·3·6.25 + 3·3·9 + 2·3·30.25)/(8·7).
    let pq = 1.0 - (2.0 * 9.0 / 8.0) / (2.0 * (37.5 + 81.0 + 181.5) / 56.0);
    for (criterion, expected) in [("SC", sc), ("PQ", pq)] {
        let found = alpha(criterion, "A").as_f64().expect("a number");
        assert!((found - expected).abs() < 1e-12, "{criterion}: {found} against {expected}");
        assert!(alpha(criterion, "B")["undefined"].as_str().is_some_and(|why| why.contains("one value only")), "{}", alpha(criterion, "B"));
    }
    assert_eq!(found["rater_set"], serde_json::json!(["rater1", "rater2"]));
}

/// A table of scores: metrics `clip` and `LPIPS` (lower is better), with two raters; `clip` is always right, LPIPS never.
fn scores(folder: &Path) -> PathBuf {
    let mut table = String::from("item,model,clip,LPIPS,overall@kim,overall@jo\n");
    for item in 0..6 {
        table.push_str(&format!("{item},good,0.9,0.8,5,4\n{item},bad,0.1,0.2,1,{}\n", 1 + item % 2));
    }
    let path = folder.join("scores.csv");
    std::fs::write(&path, table).expect("a table can be written");
    path
}

const COLUMNS: &str = "item=item,model=model,overall@kim=overall@kim,overall@jo=overall@jo";

#[test]
fn any_columns_of_numbers_are_metrics() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    scores(dir.path());
    let out = agree(dir.path(), &["scores.csv", "--columns", COLUMNS, "--resamples", "100", "--json"]);
    let found = json(&out);
    let shares: Vec<_> = found["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["metric"].as_str().unwrap(), line["agreement"]["macro_mean"].as_f64().unwrap()))
        .collect();
    assert_eq!(shares, [("clip", 1.0), ("LPIPS", 0.0)]);
    assert!(text(&out.stderr).contains("lower is better, so the sign is turned: LPIPS"), "{}", text(&out.stderr));
    let significance = &found["significance"][0];
    assert_eq!((significance["first"].as_str(), significance["result"]["difference"].as_f64()), (Some("clip"), Some(1.0)));
    assert_eq!(found["leaderboards"][0]["standings"][0]["model"], "good");
    // Means of the raters are 4.5 against 1 or 1.5: both raters always prefer the good one.
    assert_eq!(found["between_raters_all"]["overall"]["raters"], serde_json::json!(["jo", "kim"]));
}

#[test]
fn scores_with_decimal_commas_are_numbers() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let table = "item;model;clip;overall\n1;x;0,9;4\n1;y;0,1;2,5\n2;x;0,2;1\n2;y;0,7;3\n2;z;much;3\n";
    std::fs::write(dir.path().join("m.csv"), table).expect("a file can be written");
    let out = agree(dir.path(), &["m.csv", "--resamples", "20", "--json"]);
    let line = json(&out)["lines"][0].clone();
    assert_eq!((line["metric"].as_str(), line["complete"].as_u64()), (Some("clip"), Some(4)), "{line}");
    assert_eq!(line["agreement"]["macro_mean"], 1.0);
    assert!(text(&out.stderr).contains("m.csv:6, column 'clip': 'much' is not a number"), "{}", text(&out.stderr));
}

#[test]
fn a_table_whose_rows_cannot_be_told_apart_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let put = |name: &str, content: &str| std::fs::write(dir.path().join(name), content).expect("the folder is ours");
    put("model.csv", "item,tool,rater,overall\na,m1,kim,5\na,m2,kim,1\nb,m1,kim,3\n");
    put("rater.csv", "item,model,who is it,overall\na,m1,kim,5\na,m1,jo,1\n");
    put("both.csv", "item,tool,overall\na,m1,5\na,m2,1\n");
    for (file, words) in [
        ("model.csv", "2 rows are about 'a' (kim) and no column is named as the model"),
        ("rater.csv", "2 rows are about 'a' (m1) and no column is named as the rater"),
        ("both.csv", "2 rows are about 'a' and no column is named as the model or the rater"),
    ] {
        let out = agree(dir.path(), &["--ratings", file]);
        assert_eq!(out.status.code(), Some(2), "{file}: {}", text(&out.stderr));
        assert!(text(&out.stderr).contains(words) && text(&out.stderr).contains("--columns"), "{file}: {}", text(&out.stderr));
    }
    // Known under other names, and a number that names a person is no criterion.
    put("known.csv", "item,Algorithm,participant,fidelity\na,m1,1,5\na,m2,1,1\na,m1,2,4\na,m2,2,2\n");
    let found = json(&agree(dir.path(), &["--ratings", "known.csv", "--json"]));
    assert_eq!(found["rater_set"], serde_json::json!(["1", "2"]));
    assert_eq!(
        found["between_raters_all"].as_object().map(|all| all.keys().cloned().collect::<Vec<_>>()),
        Some(vec!["fidelity".to_owned()])
    );
    // Answers that replace others, and rows without a model, are listed.
    put("again.csv", "item,model,rater,overall\na,m1,kim,5\na,m1,kim,1\na,m1,kim,1\na,,kim,3\n");
    let out = agree(dir.path(), &["--ratings", "again.csv", "--json"]);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("1 answers differ from an earlier one of the same rater to the same edit, first kim about m1 of a"), "{said}");
    assert!(said.contains("again.csv:5, column 'model': the row names no model"), "{said}");
}

#[test]
fn answers_of_tables_on_different_scales_are_not_pooled() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(dir.path().join("kim.csv"), "item,model,overall\na,A,5\na,B,1\n").expect("the folder is ours");
    let pair =
        r#"[{"id": "a", "model1": "A", "model2": "B", "model1_dim1_score": 4, "model1_overall_score": 8, "model2_overall_score": 2}]"#;
    std::fs::write(dir.path().join("pairs.json"), pair).expect("the folder is ours");
    let out = agree(dir.path(), &["--ratings", "kim.csv", "pairs.json", "--json"]);
    let found = json(&out);
    let between = &found["between_raters_all"];
    // As many answers on either scale: the one that is assumed where nothing says it keeps the name.
    assert_eq!(between["overall"]["raters"], serde_json::json!(["kim"]));
    assert_eq!(between["overall (2 to 8)"]["raters"], serde_json::json!(["pairs"]));
    assert!(text(&out.stderr).contains("'overall' was answered on 2 scales, which are not pooled"), "{}", text(&out.stderr));
}

#[test]
fn votes_and_ratings_meet_scores_by_item_and_model() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(dir.path().join("m.csv"), "item,model,metric\n1,x,0.9\n1,y,0.1\n2,x,0.2\n2,y,0.7\n").expect("a file can be written");
    let vote = |id: u32, vote: &str| format!(r#"{{"id": {id}, "left_model": "x", "right_model": "y", "vote_type": "{vote}"}}"#);
    let votes = [vote(1, "leftvote"), vote(2, "leftvote"), vote(2, "tievote"), vote(3, "leftvote")].join("\n");
    std::fs::write(dir.path().join("v.jsonl"), votes).expect("a file can be written");
    let found = json(&agree(dir.path(), &["m.csv", "--ratings", "v.jsonl", "--resamples", "50", "--json"]));
    let line = &found["votes"][0];
    // By hand: item 1 right, item 2 wrong, a tie dropped, item 3 has no scores.
    assert_eq!(line["agreement"]["micro_mean"], 0.5);
    let counts = &line["agreement"]["counts"];
    assert_eq!(
        (counts["compared"].as_u64(), counts["human_ties"].as_u64(), counts["missing_metric"].as_u64()),
        (Some(2), Some(1), Some(1))
    );
}

#[test]
fn the_tie_policy_is_a_switch_and_all_policies_are_shown() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(dir.path().join("m.csv"), "item,model,part,overall\n1,x,1,5\n1,y,0,1\n2,x,1,5\n2,y,1,1\n")
        .expect("a file can be written");
    let columns = "item=item,model=model,overall=overall";
    let with = |ties: &str| json(&agree(dir.path(), &["m.csv", "--columns", columns, "--ties", ties, "--resamples", "50", "--json"]));
    for (ties, share) in [("paper", 0.5), ("half", 0.75), ("dropped", 1.0), ("calibrated=0.5", 0.5)] {
        let found = with(ties);
        assert_eq!(found["lines"][0]["agreement"]["macro_mean"].as_f64(), Some(share), "{ties}");
        let shown: Vec<_> = found["lines"][0]["by_policy"].as_array().unwrap().iter().map(|p| p["macro_mean"].as_f64().unwrap()).collect();
        assert_eq!(shown[..3], [0.5, 0.75, 1.0], "{ties}");
    }
    let wrong = agree(dir.path(), &["m.csv", "--columns", columns, "--ties", "best"]);
    assert!(wrong.status.code() == Some(2) && text(&wrong.stderr).contains("calibrated=THRESHOLD"), "{}", text(&wrong.stderr));
}

#[test]
fn ground_truth_is_the_share_of_items_where_the_good_edit_wins() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(dir.path().join("m.csv"), "item,model,metric\n1,g,0.9\n1,o,0.1\n2,g,0.2\n2,o,0.7\n").expect("a file can be written");
    let truth = "item,model,role\n1,g,good\n1,o,over_preserved\n2,g,good\n2,o,over_modified\n";
    std::fs::write(dir.path().join("truth.csv"), truth).expect("a file can be written");
    let found = json(&agree(dir.path(), &["m.csv", "--ground-truth", "truth.csv", "--json"]));
    assert_eq!(found["ground_truth"][0]["result"]["share"], 0.5);
    let against = found["ground_truth"][0]["result"]["against"].as_array().unwrap();
    assert_eq!((against[0]["kind"].as_str(), against[0]["share"].as_f64()), (Some("over_modified"), Some(0.0)));
    assert_eq!((against[1]["kind"].as_str(), against[1]["share"].as_f64()), (Some("over_preserved"), Some(1.0)));
    // What the table said is part of what the comparison was made of.
    let hash = |found: &Value| {
        let content = found["content"].as_array().unwrap();
        content.iter().find(|one| one["what"] == "ground truth: truth.csv").map(|one| one["hash"].clone()).expect("it is named")
    };
    std::fs::write(dir.path().join("truth.csv"), truth.replace("2,g,good", "2,g,fine")).expect("a file can be written");
    let other = json(&agree(dir.path(), &["m.csv", "--ground-truth", "truth.csv", "--json"]));
    assert_ne!(hash(&found), hash(&other));
}

#[test]
fn reports_are_self_contained_and_say_what_they_are_made_of() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    scores(dir.path());
    for out in ["r.html", "r.csv", "r.tex"] {
        let done = agree(dir.path(), &["scores.csv", "--columns", COLUMNS, "--resamples", "100", "--report", out, "--quiet"]);
        assert!(done.status.success() && done.stdout.is_empty() && done.stderr.is_empty(), "--quiet is quiet: {}", text(&done.stderr));
    }
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).expect("the report is there");
    let html = read("r.html");
    for forbidden in ["<script", "src=\"http", "href=\"http", "url(", "@import", "<link"] {
        assert!(!html.contains(forbidden), "the page holds {forbidden}");
    }
    for words in ["prefers-color-scheme: dark", "<svg", "published", "other data", "content hashes", "scores.csv"] {
        assert!(html.to_lowercase().contains(words), "the page lacks {words}");
    }
    // Every element that is opened is closed.
    for element in ["table", "svg", "details", "div", "h2", "p", "td"] {
        let opened = html.matches(&format!("<{element}>")).count() + html.matches(&format!("<{element} ")).count();
        assert_eq!(opened, html.matches(&format!("</{element}>")).count(), "{element}");
    }
    let mut table = csv::Reader::from_reader(std::io::Cursor::new(read("r.csv")));
    let rows: Vec<csv::StringRecord> = table.records().map(|row| row.expect("a row")).collect();
    assert_eq!((rows.len(), &rows[0][0], &rows[0][9], &rows[1][9]), (2, "clip", "1", "0"));
    let tex = read("r.tex");
    for words in [
        "\\toprule",
        "\\bottomrule",
        "clip & overall & 6 & 1.000 {\\tiny [1.000, 1.000]}",
        "Published on other data",
        "BPM & overall & & 0.799",
        "LPIPS (cf. LPIPS Alex) & overall",
    ] {
        assert!(tex.contains(words), "{tex}");
    }
    let wrong = agree(dir.path(), &["scores.csv", "--columns", COLUMNS, "--report", "r.pdf"]);
    assert!(wrong.status.code() == Some(2) && text(&wrong.stderr).contains(".html, .csv or .tex"), "{}", text(&wrong.stderr));
}

#[test]
fn a_result_in_a_file_is_printed_again_and_compared() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    scores(dir.path());
    let first = agree(dir.path(), &["scores.csv", "--columns", COLUMNS, "--resamples", "100", "--json"]);
    std::fs::write(dir.path().join("first.json"), &first.stdout).expect("a file can be written");
    let again = agree(dir.path(), &["scores.csv", "--saved", "first.json", "--json"]);
    assert_eq!(json(&again), json(&first));
    let ties = agree(
        dir.path(),
        &["scores.csv", "--columns", COLUMNS, "--resamples", "100", "--ties", "half", "--against", "first.json", "--json"],
    );
    let changes = json(&ties);
    assert_eq!(changes["same_data"], true);
    assert_eq!(changes["changes"][0]["difference"], 0.0);
}

#[test]
fn wrong_usage_names_what_to_do() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(dir.path().join("m.csv"), "item,model,metric\n1,x,0.9\n").expect("a file can be written");
    std::fs::write(dir.path().join("n.csv"), "name,metric\n1,0.9\n").expect("a file can be written");
    std::fs::write(dir.path().join("h.csv"), "item,model,metric\n").expect("a file can be written");
    for (arguments, words) in [
        (&[][..], "--ratings"),
        (&["m.csv"], "none of its 1 edits has been rated"),
        (&["n.csv"], "--columns item=…,model=…"),
        (&["nowhere.csv"], "nowhere.csv"),
        (&["m.csv", "--split", "colour"], "there is no split 'colour'"),
        (&["m.csv", "--lower-is-better", "x"], "there is no metric 'x'"),
        (&["m.csv", "--level", "2"], "--level"),
        (&["m.csv", "--save", "x"], "none of its 1 edits has been rated"),
        (&["m.csv", "--list"], "kept in a project"),
        (&["m.csv", "--saved", "x"], "kept in a project"),
        (&["--ratings", "m.csv", "--ratings-format", "excel"], "imagenhub"),
        (&["m.csv", "--range", "nope"], "--range: only the scores of a project"),
        (&["--ratings", "m.csv", "--range", "nope"], "--range: only the scores of a project"),
        (&["m.csv", "--good-from", "nan"], "--good-from must be a number"),
        // Before anything is read.
        (&["nowhere.csv", "--report", "o.pdf"], ".html, .csv or .tex"),
        (&["h.csv"], "h.csv"),
        (&["h.csv"], "there are no rows"),
    ] {
        let out = agree(dir.path(), arguments);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}: {}", text(&out.stderr));
        assert!(text(&out.stderr).contains(words), "{arguments:?}: {}", text(&out.stderr));
    }
}

#[test]
fn what_a_ground_truth_table_says_of_nothing_or_twice_is_listed() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let put = |name: &str, content: &str| std::fs::write(dir.path().join(name), content).expect("the folder is ours");
    put("m.csv", "item,model,metric\n1,g,0.9\n1,o,0.1\n2,g,0.2\n2,o,0.7\n3,g,0.5\n3,o,0.4\n");
    put(
        "t.csv",
        "item,model,role\n1,g,good\n1,o,over_preserved\n2,g,good\n2,o,goood\n3,g,good\n3,g,bad\n3,o,bad\n9,g,good\n1,x,bad\n1,o,\n",
    );
    let out = agree(dir.path(), &["m.csv", "--ground-truth", "t.csv", "--json"]);
    let said = text(&out.stderr);
    for words in [
        "t.csv:7: 'g' of '3' is 'bad' here and 'good' at t.csv:6; neither counts",
        "2 rows are about edits that have no scores here, first 'x' of '1'",
        "t.csv:11: no role is given for 'o' of '1'",
        "worse than 'good' are edits with the roles bad (2), goood (1), over_preserved (1)",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // Item 1 is right, item 2 wrong; item 3 has no good edit left.
    assert_eq!((out.status.code(), &json(&out)["ground_truth"][0]["result"]["share"]), (Some(1), &0.5.into()));
    // Without a rival the printed line ends where it should, and says why.
    put("alone.csv", "item,model,role\n1,g,good\n");
    let printed = text(&agree(dir.path(), &["m.csv", "--ground-truth", "alone.csv"]).stdout);
    assert!(printed.contains("without a value)\n") && !printed.contains("; over \n"), "{printed}");
    assert!(printed.contains("no item can be judged"), "{printed}");
}

#[test]
fn no_column_of_a_score_table_vanishes_without_a_word() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let rows = [("g", "0.9", "NaN", "NaN", "fine"), ("b", "0.1", "0.2", "n/a", "3"), ("c", "0.2", "inf", "NaN", "bad")];
    let rows =
        rows.map(|(model, a, half, none, words)| format!("1,{model},{a},{a},{half},{none},{words},{}\n", if model == "g" { 5 } else { 1 }));
    let table = format!("item,model,good,good,half,none,words,overall\n{}", rows.concat());
    std::fs::write(dir.path().join("m.csv"), table).expect("the folder is ours");
    let out = agree(dir.path(), &["m.csv", "--resamples", "20", "--json"]);
    let said = text(&out.stderr);
    let found = json(&out);
    let mut metrics: Vec<&str> = found["lines"].as_array().unwrap().iter().map(|line| line["metric"].as_str().unwrap()).collect();
    metrics.dedup();
    assert_eq!(metrics, ["good", "good (column 4)", "half"]);
    for words in [
        "m.csv:1, column 4: the header names 'good' more than once",
        "m.csv:2, column 'half': 'NaN' is not a number",
        "m.csv:4, column 'half': 'inf' is not a number",
        "column 'none' is not taken for one of numbers: all of its cells say that there is none",
        "column 'words' is not taken for one of numbers: of 3 cells that were looked at, 1 hold one",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn names_that_steer_a_terminal_or_a_spreadsheet_do_neither() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let row = |model: &str, metric: f64, overall: u32| {
        serde_json::json!({"item": "i", "model": model, "=HYPERLINK(1)": metric, "overall": overall}).to_string()
    };
    let rows = [row("a\n\u{1b}[31mb", 0.9, 5), row("c\u{202e}d", 0.1, 1)].join("\n");
    std::fs::write(dir.path().join("m.jsonl"), rows).expect("the folder is ours");
    let out = agree(dir.path(), &["m.jsonl", "--resamples", "20", "--report", "r.csv"]);
    let printed = text(&out.stdout);
    assert!(printed.contains("a\\n\\u{1b}[31mb") && printed.contains("c\\u{202e}d"), "{printed}");
    assert!(!printed.contains('\u{1b}') && !printed.contains('\u{202e}'), "{printed}");
    // For programs the names stay what they are.
    let found = json(&agree(dir.path(), &["m.jsonl", "--resamples", "20", "--json"]));
    assert_eq!(found["leaderboards"][0]["standings"][0]["model"], "a\n\u{1b}[31mb");
    let report = std::fs::read_to_string(dir.path().join("r.csv")).expect("the report is there");
    let line = report.lines().nth(1).expect("a line");
    assert!(line.starts_with("'=HYPERLINK(1),overall,"), "{line}");
    // Means of the one pair of models: numbers as they were.
    assert_eq!(line.split(',').nth(9), Some("1"), "{line}");
}

#[cfg(unix)]
#[test]
fn a_report_goes_into_a_pipe_and_behind_a_link() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    scores(dir.path());
    let path = |name: &str| dir.path().join(name);
    assert!(Command::new("mkfifo").arg(path("pipe.csv")).status().expect("mkfifo is there").success());
    let pipe = path("pipe.csv");
    let reader = std::thread::Builder::new().spawn(move || std::fs::read_to_string(pipe)).expect("a thread starts");
    std::os::unix::fs::symlink("target.csv", path("link.csv")).expect("a link can be made");
    std::fs::write(path("target.csv"), "old").expect("the folder is ours");
    for out in ["pipe.csv", "link.csv"] {
        let done = agree(dir.path(), &["scores.csv", "--columns", COLUMNS, "--resamples", "20", "--report", out, "--quiet"]);
        assert!(done.status.success(), "{}", text(&done.stderr));
    }
    let piped = reader.join().expect("it reads").expect("it is text");
    assert!(piped.starts_with("metric,criterion,") && path("link.csv").is_symlink(), "{piped}");
    assert_eq!(std::fs::read_to_string(path("target.csv")).expect("it is there"), piped);
}
