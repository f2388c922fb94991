//! How far a call has come, told by what runs it to whoever asked. Never delivers anything itself, and changes nothing
//! for a call that nobody watches.
//!
//! Who makes a call may [`watch`] it; what runs it [`report`]s, wherever in its code it is:
//!
//! ```
//! # async fn sum(pages: Vec<u64>) -> u64 {
//! let mut sum = 0;
//! for (done, page) in pages.iter().enumerate() {
//!     toolwright::progress::report(done as f64, Some(pages.len() as f64), "adding pages");
//!     sum += page;
//! }
//! sum
//! # }
//! ```

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// How far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How much is done, in units of the reporter's own. Grows from report to report.
    pub done: f64,
    /// How much there is in all, where that is known.
    pub total: Option<f64>,
    /// The activity, in words for people.
    pub message: Option<String>,
}

/// Is told how far a call has come. Called in the midst of the call's work, so it must not block.
pub trait Watcher: Send + Sync {
    /// Takes a report.
    fn progressed(&self, progress: Progress);
}

thread_local! {
    /// Who watches the call that this thread works at just now.
    static CURRENT: RefCell<Option<Arc<dyn Watcher>>> = const { RefCell::new(None) };
}

/// A future whose reports are watched.
struct Watched<F> {
    watcher: Arc<dyn Watcher>,
    work: Pin<Box<F>>,
}

/// Puts the watcher back that was there before, also when the work panics.
struct Restore(Option<Arc<dyn Watcher>>);

/// Lets a watcher hear what is reported while a future works; what it spawns on tasks of their own is not heard.
pub fn watch<F: Future>(
    watcher: Arc<dyn Watcher>,
    work: F,
) -> impl Future<Output = F::Output> + use<F> {
    Watched { watcher, work: Box::pin(work) }
}

/// Reports the progress of the current call to its watcher. A report whose `done` is infinite or NaN is dropped; such a
/// `total` is left out.
pub fn report<'a>(done: f64, total: Option<f64>, message: impl Into<Option<&'a str>>) {
    let total = total.filter(|total| total.is_finite());
    if let Some(watcher) = watcher().filter(|_| done.is_finite()) {
        watcher.progressed(Progress { done, total, message: message.into().map(str::to_owned) });
    }
}

/// Who watches the current call: for work on tasks and threads of its own, which must take it along.
pub fn watcher() -> Option<Arc<dyn Watcher>> {
    CURRENT.with_borrow(Clone::clone)
}

impl<F: Future> Future for Watched<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _restore = Restore(CURRENT.replace(Some(Arc::clone(&self.watcher))));
        self.work.as_mut().poll(context)
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Waker};

    use super::{Progress, Watcher, report, watch, watcher};

    #[derive(Default)]
    struct Heard(Mutex<Vec<Progress>>);

    impl Watcher for Heard {
        fn progressed(&self, progress: Progress) {
            self.0.lock().unwrap().push(progress);
        }
    }

    fn run(work: impl Future<Output = ()>) {
        let mut work = Box::pin(work);
        while work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {}
    }

    #[test]
    fn reports_reach_the_watcher_of_the_work_they_are_made_in() {
        let (outer, inner) = (Arc::new(Heard::default()), Arc::new(Heard::default()));
        report(0.0, None, "nobody hears this");
        run(watch(outer.clone(), async {
            report(1.0, Some(2.0), "one");
            watch(inner.clone(), async { report(7.0, None, None) }).await;
            report(f64::NAN, None, None);
            report(f64::INFINITY, None, None);
            report(2.0, Some(f64::INFINITY), "two");
        }));
        let heard = outer.0.lock().unwrap();
        let one = Progress { done: 1.0, total: Some(2.0), message: Some("one".to_owned()) };
        let two = Progress { done: 2.0, total: None, message: Some("two".to_owned()) };
        assert_eq!(*heard, [one, two]);
        assert_eq!(inner.0.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_panic_in_watched_work_leaves_nobody_watching() {
        let work = watch(Arc::new(Heard::default()), async { panic!("for this test") });
        assert!(catch_unwind(AssertUnwindSafe(|| run(work))).is_err());
        assert!(watcher().is_none());
    }
}
