//! Many problems of few kinds, told by kind.

use std::collections::HashMap;

use super::Problem;

/// Problems of the same kind (the same words but for names in quotes and numbers) together, in the order in which each kind comes first:
/// `shown` of each kind one by one, and how many more there are.
pub fn grouped(problems: &[Problem], shown: usize) -> Vec<String> {
    let mut kinds: Vec<(Vec<&Problem>, usize)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for problem in problems {
        let at = *known.entry(kind_of(&problem.reason)).or_insert_with(|| {
            kinds.push((Vec::new(), 0));
            kinds.len() - 1
        });
        let (first, count) = &mut kinds[at];
        *count += 1;
        if first.len() < shown {
            first.push(problem);
        }
    }
    kinds
        .into_iter()
        .flat_map(|(first, count)| {
            let more = (count > first.len()).then(|| format!("… and {} more like these", count - first.len()));
            first.into_iter().map(ToString::to_string).chain(more).collect::<Vec<_>>()
        })
        .collect()
}

/// A reason without the names and numbers that make it the reason of one row.
fn kind_of(reason: &str) -> String {
    let mut kind = String::with_capacity(reason.len());
    let mut quoted = false;
    for c in reason.chars() {
        match c {
            '\'' => quoted = !quoted,
            _ if quoted || c.is_ascii_digit() => {}
            c => kind.push(c),
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_by_its_first_ones_and_a_count() {
        let problem = |line: usize, reason: &str| Problem { place: format!("f:{line}"), reason: reason.into() };
        let mut problems: Vec<Problem> = (1..=7).map(|n| problem(n, &format!("there is no edit 'e{n}'"))).collect();
        problems.insert(2, problem(99, "the row is no JSON"));
        assert_eq!(
            grouped(&problems, 2),
            ["f:1: there is no edit 'e1'", "f:2: there is no edit 'e2'", "… and 5 more like these", "f:99: the row is no JSON",]
        );
        assert_eq!(grouped(&problems[..2], 2).len(), 2);
        assert_eq!(grouped(&[], 2), [""; 0]);
    }
}
