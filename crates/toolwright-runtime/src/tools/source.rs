//! Sources of toolsets: a shared instance, or a factory that is called for each run or each step.

use crate::caught::{Caught, caught};
use crate::debug::debug;
use std::sync::Arc;

use toolwright::{BoxError, Executor, Scope};

use super::factory::{Factory, Made};
use super::{ExecutorToolset, PerStep, ToolEntry, ToolSpecRef, Toolset, ToolsetError};

/// A shared toolset, or a factory of toolsets. Cheap to clone.
#[derive(Clone)]
pub struct Source(Kind);

#[derive(Clone)]
enum Kind {
    Shared(Arc<dyn Toolset>),
    PerRun(Factory),
    PerStep(Factory),
}

/// A type that a factory may return: a toolset, an `Option` of one, or a `Result` of either.
pub trait IntoToolset {
    /// Converts it into a toolset, if there is one.
    ///
    /// # Errors
    ///
    /// The error that the factory returned.
    fn into_toolset(self) -> Result<Option<Arc<dyn Toolset>>, BoxError>;
}

impl<T: Toolset + 'static> IntoToolset for T {
    fn into_toolset(self) -> Made {
        Ok(Some(Arc::new(self)))
    }
}

impl<T: IntoToolset> IntoToolset for Option<T> {
    fn into_toolset(self) -> Made {
        self.map_or(Ok(None), T::into_toolset)
    }
}

impl<T: IntoToolset, E: Into<BoxError>> IntoToolset for Result<T, E> {
    fn into_toolset(self) -> Made {
        self.map_err(Into::into)?.into_toolset()
    }
}

/// A type that can be registered as a toolset: an instance, a sync or async factory, or a [`Source`]. `Kind` distinguishes
/// them and is inferred.
///
/// A factory is called once in each run; with [`Source::per_step`] once in each step.
pub trait IntoSource<Kind> {
    /// Converts it into a source.
    fn into_source(self) -> Source;
}

/// The `Kind` of instances; see [`IntoSource`].
#[derive(Debug)]
pub struct Instance;
/// The `Kind` of sync factories; see [`IntoSource`].
#[derive(Debug)]
pub struct Immediate<T>(std::marker::PhantomData<T>);
/// The `Kind` of async factories; see [`IntoSource`].
#[derive(Debug)]
pub struct Awaited<T>(std::marker::PhantomData<T>);
/// The `Kind` of sources; see [`IntoSource`].
#[derive(Debug)]
pub struct Itself;

impl<T: Toolset + 'static> IntoSource<Instance> for T {
    fn into_source(self) -> Source {
        Source(Kind::Shared(Arc::new(self)))
    }
}

impl<F, T> IntoSource<Immediate<T>> for F
where
    F: Fn(Scope) -> T + Send + Sync + 'static,
    T: IntoToolset,
{
    fn into_source(self) -> Source {
        Source(Kind::PerRun(Factory(Arc::new(move |scope| {
            let made = caught(|| self(scope));
            let made = made.map_err(|_| BoxError::from("it panicked")).and_then(T::into_toolset);
            Box::pin(std::future::ready(made))
        }))))
    }
}

impl<F, R> IntoSource<Awaited<R>> for F
where
    F: Fn(Scope) -> R + Send + Sync + 'static,
    R: Future<Output: IntoToolset> + Send + 'static,
{
    fn into_source(self) -> Source {
        Source(Kind::PerRun(Factory(Arc::new(move |scope| {
            let making = caught(|| Caught::new(self(scope)));
            Box::pin(async move {
                let panicked = |_| BoxError::from("it panicked");
                making.map_err(panicked)?.await.map_err(panicked)?.into_toolset()
            })
        }))))
    }
}

impl IntoSource<Itself> for Source {
    fn into_source(self) -> Source {
        self
    }
}

debug!(Source, source => { is_shared: source.is_shared() });

impl Source {
    /// Turns a source that builds per step into one that builds per run.
    pub(crate) fn per_run(self) -> Self {
        match self.0 {
            Kind::PerStep(factory) => Self(Kind::PerRun(factory)),
            other => Self(other),
        }
    }

    /// Calls a factory again for each step, before the planner is asked: for tools that depend on the progress of the run. Each
    /// instance ends with its step, and its state is not [saved](Toolset::save). Use a toolset that is built once per run for
    /// state that must outlast a step. A session, and a connection of a client to a served source, have no steps and one instance.
    pub fn per_step<K>(factory: impl IntoSource<K>) -> Self {
        match factory.into_source().0 {
            Kind::PerRun(factory) => Self(Kind::PerStep(factory)),
            other => Self(other),
        }
    }

    /// Creates a source of tools that one executor runs. Runs share the executor.
    pub fn executed<S: Into<ToolSpecRef>>(
        specs: impl IntoIterator<Item = S>,
        executor: Arc<dyn Executor>,
    ) -> Self {
        ExecutorToolset::new(specs, executor).into_source()
    }

    /// Creates a source of tools that the host runs: a call suspends its run until the host provides the result.
    pub fn run_by_host<S: Into<ToolSpecRef>>(specs: impl IntoIterator<Item = S>) -> Self {
        ExecutorToolset::run_by_host(specs).into_source()
    }

    /// Wraps each toolset of the source.
    pub(crate) fn wrapped(
        self,
        wrap: impl Fn(Arc<dyn Toolset>) -> Arc<dyn Toolset> + Send + Sync + 'static,
    ) -> Self {
        let (wrap, kind) = (Arc::new(wrap), self.0);
        let wrapping = |Factory(make): Factory| {
            let wrap = Arc::clone(&wrap);
            Factory(Arc::new(move |scope| {
                let (making, wrap) = (make(scope), Arc::clone(&wrap));
                Box::pin(async move { Ok(making.await?.map(|toolset| wrap(toolset))) })
            }))
        };
        Self(match kind {
            Kind::Shared(toolset) => Kind::Shared(wrap(toolset)),
            Kind::PerRun(factory) => Kind::PerRun(wrapping(factory)),
            Kind::PerStep(factory) => Kind::PerStep(wrapping(factory)),
        })
    }

    /// Returns the tools of a shared instance, if they are known before it is entered.
    pub(crate) fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        match &self.0 {
            Kind::Shared(toolset) => toolset.known_tools(),
            Kind::PerRun(_) | Kind::PerStep(_) => None,
        }
    }

    /// Returns whether all runs share one instance.
    pub fn is_shared(&self) -> bool {
        matches!(self.0, Kind::Shared(_))
    }

    /// Returns the toolset for a run, before it is entered; `None` if the factory returns none. `name` is that of the toolset,
    /// for errors.
    ///
    /// # Errors
    ///
    /// The factory failed.
    pub async fn resolve(
        &self,
        name: &str,
        scope: &Scope,
    ) -> Result<Option<Arc<dyn Toolset>>, ToolsetError> {
        match &self.0 {
            Kind::Shared(toolset) => Ok(Some(Arc::clone(toolset))),
            Kind::PerRun(factory) => factory.make(name, scope).await,
            Kind::PerStep(factory) => {
                Ok(Some(Arc::new(PerStep::new(name.to_owned(), factory.clone()))))
            }
        }
    }
}
