//! Paths that go on meaning the same when a folder moves.

use std::path::{Component, Path, PathBuf};

/// `path` seen from `folder`, by their names alone; both absolute and without `..`. `None` when they share nothing but the
/// root: moving one together with the other would mean nothing then.
pub fn relative_path(folder: &Path, path: &Path) -> Option<PathBuf> {
    let common = folder.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let shares = folder.components().take(common).any(|part| matches!(part, Component::Normal(_)));
    if !shares {
        return None;
    }
    let ups = folder.components().skip(common).map(|_| Component::ParentDir);
    Some(ups.chain(path.components().skip(common)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_where_it_shares_a_folder() {
        for (folder, path, expected) in [
            ("/a/b", "/a/b/c/x.png", Some("c/x.png")),
            ("/a/b", "/a/c/x.png", Some("../c/x.png")),
            ("/a/b", "/z/x.png", None),
            ("/a", "/a/x.png", Some("x.png")),
        ] {
            assert_eq!(relative_path(Path::new(folder), Path::new(path)), expected.map(PathBuf::from), "{path}");
        }
    }
}
