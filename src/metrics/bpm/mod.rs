//! BPM (ICML 2025, arXiv 2506.13827): region-aware and semantic-aware judgement of an edit.
