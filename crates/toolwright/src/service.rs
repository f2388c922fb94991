//! Traits of services: what a provider implements.

/// Declares the trait of a service. It is implemented with `async fn`s, whose futures are [`Send`]; whatever points to a
/// provider is one too, so that a provider is shared by an [`Arc`](std::sync::Arc).
///
/// ```
/// use std::sync::Arc;
/// use toolwright::MethodError;
///
/// toolwright::service! {
///     /// Counts.
///     pub trait CounterService {
///         /// The number behind another one.
///         async fn next(&self, number: i64) -> Result<i64, MethodError>;
///     }
/// }
///
/// struct Counter;
///
/// impl CounterService for Counter {
///     async fn next(&self, number: i64) -> Result<i64, MethodError> {
///         Ok(number + 1)
///     }
/// }
///
/// async fn both(service: impl CounterService) -> Result<i64, MethodError> {
///     service.next(service.next(1).await?).await
/// }
///
/// let counter = Arc::new(Counter);
/// drop((both(&counter), both(Arc::clone(&counter))));
/// ```
#[macro_export]
macro_rules! service {
    (
        $(#[$about:meta])*
        pub trait $name:ident {
            $(
                $(#[$docs:meta])*
                async fn $method:ident(&self, $payload:ident: $taken:ty $(,)?) -> $given:ty;
            )*
        }
    ) => {
        $(#[$about])*
        pub trait $name: Send + Sync {
            $(
                $(#[$docs])*
                fn $method(&self, $payload: $taken) -> impl ::core::future::Future<Output = $given> + Send;
            )*
        }

        impl<S: $name + ?Sized> $name for &S {
            $(
                fn $method(&self, $payload: $taken) -> impl ::core::future::Future<Output = $given> + Send {
                    S::$method(self, $payload)
                }
            )*
        }

        impl<S: $name + ?Sized> $name for ::std::sync::Arc<S> {
            $(
                fn $method(&self, $payload: $taken) -> impl ::core::future::Future<Output = $given> + Send {
                    S::$method(self, $payload)
                }
            )*
        }
    };
}
