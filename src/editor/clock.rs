//! How long something was looked at, without breaks: what the seconds of answers are measured by.

/// Seconds after the last touch of mouse or keyboard that still count as looking. Whoever thinks about a pair of pictures moves the mouse
/// sooner or later; whoever fetches coffee does not.
pub const IDLE_SECONDS: f64 = 60.0;

/// Counts the seconds that something was looked at. It stands still while the person does something else, and from [`IDLE_SECONDS`] after
/// the last touch on. Times are those of any clock that only goes forward, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LookClock {
    before: f64,
    running: Option<Running>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Running {
    since: f64,
    touched: f64,
}

impl LookClock {
    /// The thing is looked at now; time counts.
    pub fn look(&mut self, now: f64) {
        self.running.get_or_insert(Running { since: now, touched: now });
    }

    /// The person does something else; time stands still.
    pub fn pause(&mut self, now: f64) {
        *self = Self { before: self.seconds(now), running: None };
    }

    /// The person moved the mouse or pressed a key; a break before that is over and does not count.
    pub fn touch(&mut self, now: f64) {
        if self.running.is_some() {
            *self = Self { before: self.seconds(now), running: Some(Running { since: now, touched: now }) };
        }
    }

    /// Seconds looked at so far.
    pub fn seconds(&self, now: f64) -> f64 {
        let since = |running: Running| (now.min(running.touched + IDLE_SECONDS) - running.since).max(0.0);
        self.before + self.running.map_or(0.0, since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_do_not_count_whether_the_window_is_left_or_only_the_mouse() {
        let mut clock = LookClock::default();
        clock.touch(5.0);
        assert_eq!(clock.seconds(9.0), 0.0, "nothing is looked at yet");
        clock.look(10.0);
        clock.look(12.0);
        clock.touch(13.0);
        // 3 seconds until the touch, then at most the idle minute.
        assert_eq!(clock.seconds(20.0), 10.0);
        assert_eq!(clock.seconds(1000.0), 63.0);
        clock.touch(1000.0);
        assert_eq!(clock.seconds(1002.0), 65.0);
        clock.pause(1002.0);
        assert_eq!(clock.seconds(5000.0), 65.0);
        clock.look(5000.0);
        assert_eq!(clock.seconds(5001.5), 66.5);
    }
}
