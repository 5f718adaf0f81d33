//! Ratings and votes as people have them on disk (trial inputs 15): what is read, and what is listed as not understood.

use std::path::PathBuf;

use editscope::datasets::Sheet;
use editscope::datasets::opinions::{ColumnMap, OpinionFormat, Opinions, read_opinions};
use editscope::domain::Preference;

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder can be made"))
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).expect("a file can be written");
        path
    }
}

fn read(name: &str, content: impl AsRef<[u8]>) -> Opinions {
    let files = Files::new();
    read_opinions(&files.put(name, content), None, None).expect("it holds ratings")
}

fn mapped(name: &str, content: &str, map: &str) -> Opinions {
    let files = Files::new();
    let map: ColumnMap = map.parse().expect("a map");
    read_opinions(&files.put(name, content), None, Some(&map)).expect("it holds ratings")
}

fn why(name: &str, content: impl AsRef<[u8]>) -> String {
    let files = Files::new();
    read_opinions(&files.put(name, content), None, None).expect_err("it holds no ratings").to_string()
}

/// (item, model, rater, criterion, value) of every answer.
fn answers(found: &Opinions) -> Vec<(String, String, String, String, f64)> {
    let of = |rated: &editscope::datasets::opinions::RatedEdit| {
        let name = (rated.item.clone(), rated.model.clone(), rated.rating.rater.clone());
        rated.rating.values.iter().map(move |(c, v)| (name.0.clone(), name.1.clone(), name.2.clone(), c.clone(), *v)).collect::<Vec<_>>()
    };
    found.ratings.iter().flat_map(of).collect()
}

fn values(found: &Opinions) -> Vec<f64> {
    answers(found).into_iter().map(|answer| answer.4).collect()
}

fn problems(found: &Opinions) -> Vec<String> {
    found.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn imagenhub_cells_are_read_in_both_spellings_and_never_evaluated() {
    let found = read(
        "Some_rater2.tsv",
        "\u{feff}uid\tA\tB\r\ns1.jpg\t[0,0]\t[0, 0.5]\r\ns2.jpg\t\t[1,1]\r\ns3.jpg\t[__import__('os').abort(), 1]\tNaN\r\ns4.jpg\t[0.3, 1]\t[1]\r\n",
    );
    assert_eq!(found.format, OpinionFormat::ImagenHub);
    let expected = [("s1.jpg", "A", 0.0, 0.0), ("s1.jpg", "B", 0.5, 0.0), ("s2.jpg", "B", 1.0, 1.0), ("s4.jpg", "A", 1.0, 0.3)];
    let read: Vec<_> =
        found.ratings.iter().map(|r| (r.item.as_str(), r.model.as_str(), r.rating.values["PQ"], r.rating.values["SC"])).collect();
    assert_eq!(read, expected);
    assert!(found.ratings.iter().all(|rated| rated.rating.rater == "rater2"));
    let problems = problems(&found);
    assert_eq!(problems.len(), 4, "{problems:?}");
    for (problem, words) in problems.iter().zip([
        "rater2.tsv:4, column 'A'",
        "rater2.tsv:4, column 'B'",
        "rater2.tsv:5, column 'B'",
        "outside 0 to 1 in steps of 0.5",
    ]) {
        assert!(problem.contains(words), "{problem} should name {words}");
    }
}

#[test]
fn tables_with_semicolons_decimal_commas_and_utf16_are_read() {
    let text = "item;model;rater;overall\r\na;m1;kim;3,5\r\na;m2;kim;4\r\n";
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    for content in [text.as_bytes().to_vec(), utf16] {
        let found = read("t.csv", content);
        assert_eq!(values(&found), [3.5, 4.0]);
        assert!(found.problems.is_empty(), "{:?}", found.problems);
    }
}

#[test]
fn missing_cells_are_missing_and_nan_and_words_are_listed_with_row_and_column() {
    let found = read("t.csv", "item,model,rater,overall,size\na,m1,kim,3,\na,m2,kim,NaN,2\n,m3,kim,1,1\nb,m1,kim,good,2\n");
    assert_eq!(values(&found), [3.0, 2.0, 2.0]);
    let problems = problems(&found);
    for words in ["t.csv:3, column 'overall': 'NaN' is not a number", "t.csv:4, column 'item'", "t.csv:5, column 'overall': 'good'"] {
        assert!(problems.iter().any(|problem| problem.contains(words)), "{words}: {problems:?}");
    }
    assert_eq!(problems.len(), 3, "{problems:?}");
}

#[test]
fn answers_outside_the_rubric_are_kept_and_said() {
    let found = read("t.csv", "item,model,rater,overall\na,m1,kim,7\na,m2,kim,3\n");
    assert_eq!(values(&found), [7.0, 3.0]);
    let problems = problems(&found);
    assert!(
        problems.len() == 1 && problems[0].contains("outside 1 to 5") && problems[0].contains("first 7 by kim for m1 of a"),
        "{problems:?}"
    );
}

#[test]
fn columns_are_guessed_from_their_names_and_a_map_says_otherwise() {
    let table = "uid,method,who,score,rater1_SC,LPIPS\na,m1,kim,3,0.5,0.2\n";
    let files = Files::new();
    let sheet = Sheet::read(&files.put("t.csv", table)).expect("a table");
    assert_eq!(ColumnMap::guess(&sheet).to_string(), "item=uid,model=method,rater=who,SC@rater1=rater1_SC");
    assert_eq!(ColumnMap::guess_by_name(&sheet).free_numbers(&sheet), ["score", "LPIPS"]);
    let found = mapped("t.csv", table, "item=uid, model=method, rater=who, overall=score, distance=-LPIPS, SC@rater1=rater1_SC");
    let expected = [("kim", "distance", -0.2), ("kim", "overall", 3.0), ("rater1", "SC", 0.5)];
    let got: Vec<_> = answers(&found).into_iter().map(|a| (a.2, a.3, a.4)).collect();
    let got: Vec<_> = got.iter().map(|(rater, criterion, value)| (rater.as_str(), criterion.as_str(), *value)).collect();
    assert_eq!(got, expected);
}

#[test]
fn a_table_without_known_answers_takes_its_numbers_and_says_so() {
    let found = read("t.csv", "item,model,fidelity\na,m1,3\na,m2,4\n");
    assert_eq!(answers(&found).iter().map(|a| a.3.as_str()).collect::<Vec<_>>(), ["fidelity", "fidelity"]);
    assert!(found.read_as.contains("guessed") && found.read_as.contains("fidelity=fidelity"), "{}", found.read_as);
}

#[test]
fn maps_that_make_no_sense_are_refused_with_the_reason() {
    for (text, words) in [("overall", "no ROLE=COLUMN"), ("=x", "lacks the role"), ("", "no column is named")] {
        assert!(text.parse::<ColumnMap>().expect_err("no map").contains(words), "{text}");
    }
    let files = Files::new();
    let path = files.put("t.csv", "item,model,overall\na,m1,3\n");
    for (map, words) in [
        ("item=nope,overall=overall", "no column 'nope'"),
        ("model=model,overall=overall", "no column is named as the item"),
        ("item=item,model=model", "no column is named as an answer"),
        ("item=item,first=model,vote=overall", "needs the columns first, second and vote"),
    ] {
        let map: ColumnMap = map.parse().expect("a map");
        let why = read_opinions(&path, None, Some(&map)).expect_err("refused").to_string();
        assert!(why.contains(words) && why.contains("t.csv"), "{why}");
        assert!(
            why.ends_with("the table has: item, model, overall; say what they mean with --columns item=item,model=model,overall=overall"),
            "{why}"
        );
    }
    let unknown = why("u.tsv", "picture\tsystem\tclarity\np\ts\t3\n");
    assert!(unknown.contains("no column is named as the item"), "{unknown}");
    assert!(unknown.ends_with("with --columns item=…,model=system,clarity=clarity"), "{unknown}");
}

#[test]
fn the_same_rater_may_answer_twice() {
    let found = read("t.csv", "item,model,rater,overall\na,m1,kim,3\na,m1,kim,4\n");
    assert_eq!(values(&found), [3.0, 4.0], "both are kept in order: the last counts, the first shows consistency");
}

#[test]
fn genai_bench_votes_are_read_from_jsonl_and_from_a_viewers_rows() {
    let row = |vote: &str| {
        format!(
            r#"{{"instruct_prompt": "make it red", "source_prompt": "a car", "left_model": "X", "right_model": "Y", "vote_type": "{vote}"}}"#
        )
    };
    let votes = ["leftvote", "rightvote", "tievote", "bothbad_vote"];
    let lines: Vec<String> = votes.iter().map(|vote| row(vote)).chain([row("maybe"), "{broken".to_owned()]).collect();
    let found = read("v.jsonl", lines.join("\n"));
    assert_eq!(found.format, OpinionFormat::GenAiBench);
    let preferences: Vec<_> = found.votes.iter().map(|vote| vote.preference).collect();
    assert_eq!(preferences, [Preference::First, Preference::Second, Preference::Tie, Preference::BothBad]);
    assert_eq!((found.votes[0].item.as_str(), found.votes[0].first.as_str()), ("a car: make it red", "X"));
    let problems = problems(&found);
    assert!(
        problems.iter().any(|p| p.contains("v.jsonl:5, column 'vote_type'")) && problems.iter().any(|p| p.contains("v.jsonl:6")),
        "{problems:?}"
    );
    let viewer = format!(r#"{{"rows": [{{"row_idx": 0, "row": {}}}]}}"#, row("leftvote"));
    assert_eq!(read("v.json", viewer).votes.len(), 1);
}

/// The names of raters' columns are those of other tables, and what is not used is said.
#[test]
fn votes_name_their_raters_in_any_spelling_and_unused_columns_are_said() {
    for column in ["who", "annotator", "Worker ID", "judge", "rater"] {
        let found =
            read("v.csv", format!("id,left_model,right_model,vote_type,{column},mood\n1,X,Y,leftvote,kim,good\n1,X,Y,leftvote,,bad\n"));
        assert_eq!(found.format, OpinionFormat::GenAiBench);
        let raters: Vec<&str> = found.votes.iter().map(|vote| vote.rater.as_str()).collect();
        assert_eq!(raters, ["kim", "v"], "{column}");
        assert!(found.read_as.contains(&format!("the rater from column '{column}'")), "{}", found.read_as);
        assert!(found.read_as.ends_with("; columns not used: mood"), "{}", found.read_as);
    }
    let found = read("e.csv", "key,instruction,dimension,output_images,annotator\n\"[\"\"a\"\", \"\"b\"\"]\",x,quality,p.png,lee\n");
    assert_eq!((found.format, found.votes[0].rater.as_str()), (OpinionFormat::EditScore, "lee"));
    assert!(found.read_as.ends_with("; columns not used: output_images"), "{}", found.read_as);
    let found = read("r.json", r#"[{"prompt": "p", "model1": "A", "model2": "B", "model1_dim1_score": 4, "evaluator": "max"}]"#);
    assert_eq!((found.votes[0].rater.as_str(), found.ratings[0].rating.rater.as_str()), ("max", "max"));
    assert!(!found.read_as.contains("not used"), "{}", found.read_as);
}

#[test]
fn editreward_pairs_give_votes_and_ratings() {
    let found = read(
        "e.json",
        r#"[{"prompt": "p", "path_src": "s.png", "path1": "1.png", "path2": "2.png", "model1": "A", "model2": "B", "model1_dim1_score": 4,
             "model1_dim2_score": 3, "model1_overall_score": 7, "model2_dim1_score": 1, "model2_dim2_score": 9, "model2_overall_score": 3, "tie_case": false},
            {"prompt": "q", "path_src": "s.png", "model1": "B", "model2": "A", "model1_dim1_score": 2, "tie_case": true},
            {"prompt": "r", "path_src": "s.png", "model1": "A", "model2": "A", "model1_dim1_score": 2}]"#,
    );
    assert_eq!(found.format, OpinionFormat::EditReward);
    let votes: Vec<_> = found.votes.iter().map(|v| (v.first.as_str(), v.second.as_str(), v.preference)).collect();
    assert_eq!(votes, [("A", "B", Preference::First), ("B", "A", Preference::Tie)]);
    assert_eq!(found.ratings[0].rating.values["instruction_following"], 4.0);
    assert_eq!(found.ratings[1].rating.values["overall"], 3.0);
    let problems = problems(&found);
    assert!(problems.iter().any(|p| p.contains("both edits are by 'A'")), "{problems:?}");
    assert!(problems.iter().any(|p| p.contains("'visual_quality' are outside 1 to 4")), "{problems:?}");
}

#[test]
fn editscore_pairs_name_the_preferred_edit_first_and_doubled_rows_count_once() {
    let row = |dimension: &str| {
        format!(r#"{{"key": ["k1", "k2"], "instruction": "i", "output_images": ["a", "b"], "task_type": "t", "dimension": "{dimension}"}}"#)
    };
    let found = read("s.jsonl", [row("overall"), row("consistency"), row("overall")].join("\n"));
    assert_eq!(found.format, OpinionFormat::EditScore);
    let votes: Vec<_> = found.votes.iter().map(|v| (v.criterion.as_str(), v.first.as_str(), v.second.as_str(), v.preference)).collect();
    assert_eq!(votes, [("overall", "k1", "k2", Preference::First), ("consistency", "k1", "k2", Preference::First)]);
    assert!(problems(&found).iter().any(|p| p.contains("1 pairs come more than once")), "{:?}", found.problems);
}

#[test]
fn votes_in_columns_may_name_the_winner() {
    let found = mapped(
        "v.csv",
        "pair,a,b,judge,won\n1,X,Y,kim,Y\n2,X,Y,kim,tie\n3,X,Y,kim,left\n4,X,Y,kim,Z\n5,X,X,kim,X\n",
        "item=pair,first=a,second=b,rater=judge,vote=won",
    );
    let preferences: Vec<_> = found.votes.iter().map(|vote| vote.preference).collect();
    assert_eq!(preferences, [Preference::Second, Preference::Tie, Preference::First]);
    assert_eq!(found.problems.len(), 2, "{:?}", found.problems);
}

#[test]
fn bpm_values_and_manifest_ratings_need_no_pictures() {
    let found = read(
        "local_metadata.json",
        r#"[{"index": 0, "instruction": "x", "source_image_path": "no/s.png",
             "edited_image1": {"image_path": "no/mgie.png", "user_overall_quality": 3, "user_preservation": 6}}]"#,
    );
    assert_eq!(found.format, OpinionFormat::Bpm);
    assert_eq!(values(&found), [3.0, 6.0]);
    let outside = found.problems.iter().filter(|problem| problem.reason.contains("outside")).collect::<Vec<_>>();
    assert!(outside.len() == 1 && outside[0].reason.contains("'preservation' is 6"), "said once, with its place: {outside:?}");
    let manifest = r#"{"id": "a", "source": "s.png", "instruction": "x", "edited": "e.png", "model": "m", "ratings": [{"rater": "kim", "values": {"overall": 4}}]}"#;
    let found = read("manifest.jsonl", manifest);
    assert_eq!((found.format, values(&found), found.problems.len()), (OpinionFormat::Manifest, vec![4.0], 0));
}

#[test]
fn files_without_ratings_say_why() {
    for (name, content, words) in [
        ("e.csv", &b""[..], "the file is empty"),
        ("p.parquet", b"PAR1....", "Parquet"),
        ("p.png", b"\x89PNG....", "picture"),
        ("t.csv", b"item,model,overall\n", "there are no rows"),
        ("l.json", b"[]", "there are no rows"),
        ("r.json", b"{\"rows\": []}", "there are no rows"),
        ("n.csv", b",,\n1,2,3\n", "there is no header"),
        ("d.csv", b"1,2,3\n4,5,6\n", "there is no header"),
        ("o.json", b"[{}, {}]", "there is no header"),
        ("q.json", b"[1, 2]", "there are no rows that could be read (q.json entry 0: the row is no object"),
        ("w.csv", b"item,model,comment\na,m,fine\n", "no column is named as an answer"),
        ("v.jsonl", b"{\"left_model\": \"a\", \"right_model\": \"b\", \"vote_type\": \"?\", \"id\": 1}", "no row holds an answer"),
        ("x.jsonl", b"{broken", "none of its lines is a JSON object"),
    ] {
        let why = why(name, content);
        assert!(why.contains(words) && why.contains(name), "{name}: {why}");
    }
}

#[test]
fn a_quote_that_is_not_closed_is_listed_and_the_rows_after_it_are_read() {
    let found = read("t.csv", "item,rater,overall,comment\n1,kim,3,\"oops\n2,kim,4,fine\n3,kim,5,\"two\nlines\"\n");
    assert_eq!(values(&found), [3.0, 4.0, 5.0]);
    let comments: Vec<&str> = found.ratings.iter().map(|rated| rated.rating.comment.as_str()).collect();
    assert_eq!(comments, ["oops", "fine", "two\nlines"]);
    let problems = problems(&found);
    assert!(problems.len() == 1 && problems[0].starts_with("t.csv:2: a quote opens a cell here and is not closed"), "{problems:?}");
}

#[test]
fn columns_of_the_same_name_are_told_apart_and_listed() {
    let found = read("t.csv", "item,model,overall,rater,overall\na,m1,3,kim,1\n");
    assert_eq!(values(&found), [3.0]);
    let told = problems(&found);
    assert!(told.len() == 2 && told[0].contains("t.csv:1, column 5: the header names 'overall' more than once"), "{told:?}");
    assert!(told[1].contains("overall (column 5)") && told[1].ends_with("the values of this one are left out"), "{told:?}");
    let found = mapped("t.csv", "item,overall,overall\na,3,1\n", "item=item,overall=overall (column 3)");
    assert_eq!(values(&found), [1.0]);
    // Other names for the same answer.
    let found = read("t.csv", "item,model,rating_overall,overall\na,m1,3,1\n");
    assert_eq!((values(&found), problems(&found).len()), (vec![3.0], 1), "{:?}", found.problems);
    let files = Files::new();
    let map: ColumnMap = "item=item,overall=a,overall=b".parse().expect("a map");
    let why = read_opinions(&files.put("t.csv", "item,a,b\na,3,1\n"), None, Some(&map)).expect_err("refused").to_string();
    assert!(why.contains("the columns 'a' and 'b' are both named as overall"), "{why}");
}

#[test]
fn a_column_without_a_name_is_listed_unless_it_is_an_index() {
    let found = read("t.csv", ",item,overall,\n0,a,3,7\n1,b,4,\n");
    assert_eq!(values(&found), [3.0, 4.0]);
    let told = problems(&found);
    assert!(told.len() == 1 && told[0].contains("column 4 has no name in the header; its 1 cells are not read"), "{told:?}");
}

#[test]
fn seconds_and_answers_that_are_no_numbers_are_listed() {
    let rows: String = ["nan", "-3", "1e400", "abc", "2.5"].iter().enumerate().map(|(n, s)| format!("{n},kim,3,{s}\n")).collect();
    let found = read("t.csv", format!("item,rater,overall,seconds\n{rows}"));
    assert_eq!(found.ratings.iter().map(|rated| rated.seconds).collect::<Vec<_>>(), [None, None, None, None, Some(2.5)]);
    let told = problems(&found);
    for (line, word) in [(2, "nan"), (3, "-3"), (4, "1e400"), (5, "abc")] {
        let words = format!("t.csv:{line}, column 'seconds': '{word}' is no number of seconds");
        assert!(told.iter().any(|told| told.contains(&words)), "{words}: {told:?}");
    }
    assert_eq!(told.len(), 4, "{told:?}");
    let found = read("t.csv", "item,rater,overall,size\n1,kim,3,NaN\n2,kim,4,n/a\n");
    let told = problems(&found);
    assert!(told.len() == 1 && told[0].contains("column 'size': none of its cells is a number"), "{told:?}");
    // Where numbers are taken for answers, columns that are not are told.
    let found = read("t.csv", "item,rater,fidelity,style\n1,kim,NaN,2\n2,kim,3,bold\n");
    assert!(values(&found) == [3.0] && found.read_as.contains("column 'style' is not taken for one of numbers"), "{}", found.read_as);
    assert!(problems(&found)[0].contains("t.csv:2, column 'fidelity': 'NaN' is not a number"), "{:?}", found.problems);
    let found = read("t.csv", "item,rater,overall\n1,kim,NaN\n2,kim,NaN\n3,kim,NaN\n4,kim,4\n");
    assert_eq!((values(&found), found.problems.len()), (vec![4.0], 3), "{:?}", found.problems);
}

#[test]
fn the_decimal_sign_is_that_of_the_file() {
    let told = |found: &Opinions| problems(found).join("; ");
    let found = read("t.csv", "item,rater,overall\n1,kim,\"1,234\"\n2,kim,\"3,5\"\n3,kim,4.5\n");
    assert_eq!(values(&found), [4.5]);
    assert!(told(&found).contains("t.csv:2, column 'overall': '1,234' is not a number: the numbers of this file have a decimal point"));
    assert!(told(&found).contains("t.csv:3, column 'overall': '3,5' is not a number"), "{}", told(&found));
    // Commas elsewhere in the file say what a comma means.
    let found = read("t.csv", "item;rater;overall\n1;kim;1,234\n2;kim;3,5\n");
    assert_eq!((values(&found), found.problems.len()), (vec![1.234, 3.5], 0), "{:?}", found.problems);
    let found = read("t.csv", "item;rater;overall\n1;kim;1,234\n2;kim;3\n");
    assert_eq!(values(&found), [3.0]);
    assert!(told(&found).contains("'1,234' is not a number: it may mean 1.234 or 1234"), "{}", told(&found));
    let found = read("t.tsv", "item\trater\toverall\n1\tkim\t1,234\n2\tkim\t3.5\n");
    assert!(values(&found) == [3.5] && told(&found).contains("have a decimal point"), "{}", told(&found));
}

#[test]
fn cells_that_were_kept_from_being_formulas_are_read_as_they_were() {
    let found = read("t.csv", "item,rater,overall,comment\n'=a,'-kim,-1,'=1+1\n");
    let rated = &found.ratings[0];
    assert_eq!((rated.item.as_str(), rated.rating.rater.as_str(), rated.rating.comment.as_str()), ("=a", "-kim", "=1+1"));
    assert_eq!(rated.rating.values["overall"], -1.0);
}
