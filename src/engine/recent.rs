//! The last few things that were computed, for as long as they fit.

/// Values under names, most recently used last; the least recently used goes when a new one does not fit.
pub struct Recent<T> {
    entries: Vec<(String, T)>,
    capacity: usize,
}

impl<T> Recent<T> {
    /// Keeps at most `capacity` values, and at least one.
    pub fn new(capacity: usize) -> Self {
        Self { entries: Vec::new(), capacity: capacity.max(1) }
    }

    /// The value of that name, made if it is not there.
    ///
    /// # Errors
    /// When it is not there and cannot be made.
    pub fn get_or_make<E>(&mut self, name: &str, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        let entry = match self.entries.iter().position(|(known, _)| known == name) {
            Some(at) => self.entries.remove(at),
            None => (name.to_owned(), make()?),
        };
        if self.entries.len() == self.capacity {
            self.entries.remove(0);
        }
        self.entries.push(entry);
        let last = self.entries.len() - 1;
        Ok(&self.entries[last].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes() {
        let mut recent = Recent::new(2);
        let mut made = Vec::new();
        for name in ["a", "b", "a", "c", "a", "b"] {
            let value = recent.get_or_make(name, || {
                made.push(name);
                Ok::<_, ()>(name)
            });
            assert_eq!(value, Ok(&name));
        }
        // "c" took the place of "b", which was made again; "a" was always there.
        assert_eq!(made, ["a", "b", "c", "b"]);
    }

    #[test]
    fn what_cannot_be_made_is_not_kept() {
        let mut recent = Recent::new(1);
        assert_eq!(recent.get_or_make("a", || Err::<u8, _>("no")), Err("no"));
        assert_eq!(recent.get_or_make("a", || Ok::<_, ()>(1)), Ok(&1));
    }
}
