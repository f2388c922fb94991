//! Where a run gets a toolset from: an instance that runs share, or a factory. Never enters what it gives.

use crate::debug::debug;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use toolwright::{BoxError, Executor, Scope};

use super::factory::{Factory, Made};
use super::{Dynamic, Executed, ToolEntry, ToolSpecRef, Toolset, ToolsetError};

/// Where a run gets a toolset from. Cheap to clone.
#[derive(Clone)]
pub struct Source(Kind);

#[derive(Clone)]
enum Kind {
    Shared(Arc<dyn Toolset>),
    PerRun(Factory),
    PerStep(Factory),
}

/// What a factory may return: a toolset, none, or an error in the place of either.
pub trait IntoToolset {
    /// The toolset, if there is one.
    ///
    /// # Errors
    ///
    /// Whatever the factory returned in its place.
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

/// What can be registered as a toolset: an instance, a factory (sync or async), a [`Source`]. `Kind` tells the three
/// apart and is inferred.
///
/// A factory builds once a run; [`Source::per_step`] makes it build once a step.
pub trait IntoSource<Kind> {
    /// The source.
    fn into_source(self) -> Source;
}

/// Tells instances from factories; see [`IntoSource`].
#[derive(Debug)]
pub struct Instance;
/// Tells sync factories; see [`IntoSource`].
#[derive(Debug)]
pub struct Immediate<T>(std::marker::PhantomData<T>);
/// Tells async factories from sync ones; see [`IntoSource`].
#[derive(Debug)]
pub struct Awaited<T>(std::marker::PhantomData<T>);
/// A source is one already; see [`IntoSource`].
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
            let made = std::panic::catch_unwind(AssertUnwindSafe(|| self(scope)));
            let made = made.map_err(|_| BoxError::from("a panic")).and_then(T::into_toolset);
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
            let making = AssertUnwindSafe(self(scope)).catch_unwind();
            Box::pin(
                async move { making.await.map_err(|_| BoxError::from("a panic"))?.into_toolset() },
            )
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
    /// The same source, building once where it would build for each step.
    pub(crate) fn built_once(self) -> Self {
        match self.0 {
            Kind::PerStep(factory) => Self(Kind::PerRun(factory)),
            other => Self(other),
        }
    }

    /// A factory that builds anew for each step, before the planner is asked: for tools that depend on how far the run
    /// has come. What an instance holds ends with its step, and no instance is asked to [save](Toolset::save) it. State
    /// that is to outlast a step belongs to a toolset that is built once a run.
    pub fn per_step<K>(factory: impl IntoSource<K>) -> Self {
        match factory.into_source().0 {
            Kind::PerRun(factory) => Self(Kind::PerStep(factory)),
            other => Self(other),
        }
    }

    /// Tools of these specs, run by an executor that runs share.
    pub fn executed<S: Into<ToolSpecRef>>(
        specs: impl IntoIterator<Item = S>,
        executor: Arc<dyn Executor>,
    ) -> Self {
        Executed::new(specs, executor).into_source()
    }

    /// Deferred tools of these specs: a call suspends its run until the host brings the result.
    pub fn deferred<S: Into<ToolSpecRef>>(specs: impl IntoIterator<Item = S>) -> Self {
        Executed::deferred(specs).into_source()
    }

    /// The same source of toolsets, each in a wrapper.
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

    /// The tools of an instance that runs share, if it knows them before it is entered.
    pub(crate) fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        match &self.0 {
            Kind::Shared(toolset) => toolset.known_tools(),
            Kind::PerRun(_) | Kind::PerStep(_) => None,
        }
    }

    /// Whether runs share an instance of it.
    pub fn is_shared(&self) -> bool {
        matches!(self.0, Kind::Shared(_))
    }

    /// What a run uses, not yet entered; none if the factory gives none.
    pub(crate) async fn resolve(
        &self,
        name: &str,
        scope: &Scope,
    ) -> Result<Option<Arc<dyn Toolset>>, ToolsetError> {
        match &self.0 {
            Kind::Shared(toolset) => Ok(Some(Arc::clone(toolset))),
            Kind::PerRun(factory) => factory.make(name, scope).await,
            Kind::PerStep(factory) => {
                Ok(Some(Arc::new(Dynamic::new(name.to_owned(), factory.clone()))))
            }
        }
    }
}
