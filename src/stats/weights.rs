//! The weight α between the semantic parts and the region parts (`bpm.md` section 5): agreement over a sweep, with a held-out half.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::agreement::{TiePolicy, agreement_of};
use super::random::Random;
use super::sheet::Names;
use super::undefined;
use crate::domain::Outcome;

/// One edit's parts, those of the semantic judge already brought to 0..1 by a range.
#[derive(Clone, Debug, PartialEq)]
pub struct PartsRow {
    pub item: String,
    pub model: String,
    pub modify: Option<f64>,
    pub preserve: Option<f64>,
    pub size: Option<f64>,
    pub position: Option<f64>,
    pub human: Option<f64>,
}

impl PartsRow {
    /// `α·(modify + preserve) + (1 − α)·(size + position)`; `None` when a part that has a weight is missing.
    pub fn overall(&self, alpha: f64) -> Option<f64> {
        let weighted = |weight: f64, a: Option<f64>, b: Option<f64>| if weight == 0.0 { Some(0.0) } else { Some(weight * (a? + b?)) };
        Some(weighted(alpha, self.modify, self.preserve)? + weighted(1.0 - alpha, self.size, self.position)?)
    }
}

/// Agreement at one weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AtWeight {
    pub alpha: f64,
    /// Macro mean over pairs of models.
    #[serde(with = "undefined")]
    pub agreement: Outcome<f64>,
}

/// Agreement with people at each weight. The best of them is fitted to these rows: report [`held_out`] instead.
pub fn sweep(rows: &[PartsRow], alphas: &[f64], policy: TiePolicy) -> Vec<AtWeight> {
    let names = Names::new(rows.iter().map(|row| (row.item.as_str(), row.model.as_str())));
    let at = |alpha: f64| {
        let sheet = names.sheet(|row| rows.get(row).map(|row| [row.overall(alpha), row.human]));
        agreement_of(&sheet, policy).macro_mean
    };
    alphas.iter().map(|&alpha| AtWeight { alpha, agreement: at(alpha) }).collect()
}

/// A weight chosen on one half of the items and judged on the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// The best weight on the first half; the smallest of equally good ones.
    pub alpha: f64,
    pub agreement_on_chosen: f64,
    /// What may be reported.
    pub agreement_held_out: f64,
    pub items_chosen: usize,
    pub items_held_out: usize,
    pub seed: u64,
}

/// Splits the items in two halves by the seed, chooses the weight on one and judges it on the other.
pub fn held_out(rows: &[PartsRow], alphas: &[f64], policy: TiePolicy, seed: u64) -> Outcome<HeldOut> {
    let mut items: Vec<&str> = rows.iter().map(|r| r.item.as_str()).collect::<BTreeSet<_>>().into_iter().collect();
    if items.len() < 2 {
        return Outcome::NotApplicable(format!("{} item(s); two halves need two", items.len()));
    }
    let mut random = Random::new(seed);
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
    let chosen: BTreeSet<&str> = items[..items.len() / 2].iter().copied().collect();
    let (first, second): (Vec<PartsRow>, Vec<PartsRow>) = rows.iter().cloned().partition(|r| chosen.contains(r.item.as_str()));
    let mut best: Option<(f64, f64)> = None;
    let mut why = "no weight was given".to_owned();
    for at in sweep(&first, alphas, policy) {
        match at.agreement {
            Outcome::Value(share) if best.is_none_or(|(_, top)| share > top) => best = Some((at.alpha, share)),
            Outcome::Value(_) => {}
            Outcome::NotApplicable(reason) | Outcome::Failed(reason) => why = reason,
        }
    }
    let Some((alpha, agreement_on_chosen)) = best else {
        return Outcome::NotApplicable(format!("the half to choose on: {why}"));
    };
    let judged = sweep(&second, &[alpha], policy).pop().map_or_else(|| Outcome::NotApplicable(String::new()), |at| at.agreement);
    match judged {
        Outcome::Value(agreement_held_out) => Outcome::Value(HeldOut {
            alpha,
            agreement_on_chosen,
            agreement_held_out,
            items_chosen: chosen.len(),
            items_held_out: items.len() - chosen.len(),
            seed,
        }),
        Outcome::NotApplicable(why) | Outcome::Failed(why) => Outcome::NotApplicable(format!("the held-out half: {why}")),
    }
}
