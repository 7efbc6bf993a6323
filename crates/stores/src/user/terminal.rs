//! The terminal, where a display is drawn again and again: it stops for messages and prompts, which are alone there.

use std::sync::Arc;

use parking_lot::Mutex;

/// Stops the display, lets another part write, and goes on.
type Suspend = dyn Fn(&mut dyn FnMut()) + Send + Sync;

static DISPLAY: Mutex<Option<Arc<Suspend>>> = Mutex::new(None);

/// Registers the display that is drawn from now on.
pub fn begin(suspend: impl Fn(&mut dyn FnMut()) + Send + Sync + 'static) {
    *DISPLAY.lock() = Some(Arc::new(suspend));
}

/// Removes the display.
pub fn end() {
    DISPLAY.lock().take();
}

/// Writes a message or asks a question while no display is drawn.
pub fn alone<T>(write: impl FnOnce() -> T) -> T {
    // The lock is not held meanwhile: a question waits for the user.
    let Some(suspend) = DISPLAY.lock().clone() else {
        return write();
    };
    let (mut write, mut written) = (Some(write), None);
    suspend(&mut || written = write.take().map(|write| write()));
    #[allow(
        clippy::expect_used,
        reason = "a display that is suspended calls the writer at once"
    )]
    written.expect("a display that is suspended calls the writer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_display_is_suspended_for_each_writer() {
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&said);
        begin(move |write| {
            heard.lock().push("stops");
            write();
            heard.lock().push("goes on");
        });
        assert_eq!(alone(|| said.lock().len()), 1);
        end();
        assert_eq!(alone(|| said.lock().len()), 2);
        assert_eq!(*said.lock(), ["stops", "goes on"]);
    }
}
