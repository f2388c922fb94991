//! Progress of calls: the code that runs a call reports it, and a [`Watcher`] that the caller sets receives it. Reports
//! of a call without a watcher have no effect.
//!
//! The caller may [`watch`] a call; the code that runs it can call [`report`] anywhere:
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

/// The progress of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How much is done, in units that the reporter chooses. Grows from report to report.
    pub done: f64,
    /// The total amount, if it is known.
    pub total: Option<f64>,
    /// A description of the activity, for people.
    pub message: Option<String>,
}

/// Receives the progress of a call. Called while the call runs, so it must not block.
pub trait Watcher: Send + Sync {
    /// Receives a report.
    fn on_progress(&self, progress: Progress);
}

thread_local! {
    /// The watcher of the call that this thread runs now.
    static CURRENT: RefCell<Option<Arc<dyn Watcher>>> = const { RefCell::new(None) };
}

/// A future whose reports are watched.
struct Watched<F> {
    watcher: Arc<dyn Watcher>,
    work: Pin<Box<F>>,
}

/// Restores the previous watcher when dropped, also after a panic.
struct Restore(Option<Arc<dyn Watcher>>);

/// Wraps a future so that its reports go to a watcher. Reports of tasks that the future spawns do not.
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
        watcher.on_progress(Progress { done, total, message: message.into().map(str::to_owned) });
    }
}

/// Returns the watcher of the current call, to be passed to [`watch`] in the tasks and threads that the call spawns.
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
    struct Recorder(Mutex<Vec<Progress>>);

    impl Watcher for Recorder {
        fn on_progress(&self, progress: Progress) {
            self.0.lock().unwrap().push(progress);
        }
    }

    fn run(work: impl Future<Output = ()>) {
        let mut work = Box::pin(work);
        while work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {}
    }

    #[test]
    fn reports_reach_the_watcher_of_the_work_they_are_made_in() {
        let (outer, inner) = (Arc::new(Recorder::default()), Arc::new(Recorder::default()));
        report(0.0, None, "this has no watcher");
        run(watch(outer.clone(), async {
            report(1.0, Some(2.0), "one");
            watch(inner.clone(), async { report(7.0, None, None) }).await;
            report(f64::NAN, None, None);
            report(f64::INFINITY, None, None);
            report(2.0, Some(f64::INFINITY), "two");
        }));
        let recorded = outer.0.lock().unwrap();
        let one = Progress { done: 1.0, total: Some(2.0), message: Some("one".to_owned()) };
        let two = Progress { done: 2.0, total: None, message: Some("two".to_owned()) };
        assert_eq!(*recorded, [one, two]);
        assert_eq!(inner.0.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_panic_in_watched_work_removes_the_watcher() {
        let work = watch(Arc::new(Recorder::default()), async { panic!("for this test") });
        assert!(catch_unwind(AssertUnwindSafe(|| run(work))).is_err());
        assert!(watcher().is_none());
    }
}
