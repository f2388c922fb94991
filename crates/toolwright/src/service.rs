//! The macro that declares traits of services, which providers implement.

/// Declares the trait of a service. Implement its methods with `async fn`; their futures must be [`Send`]. A reference
/// or [`Arc`](std::sync::Arc) to a provider implements the trait too.
///
/// ```
/// use std::sync::Arc;
/// use toolwright::MethodError;
///
/// toolwright::service! {
///     /// Counts.
///     pub trait CounterService {
///         /// Returns the number after another one.
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
                async fn $method:ident(&self, $payload:ident: $args:ty $(,)?) -> $result:ty;
            )*
        }
    ) => {
        $(#[$about])*
        pub trait $name: Send + Sync {
            $(
                $(#[$docs])*
                fn $method(&self, $payload: $args) -> impl ::core::future::Future<Output = $result> + Send;
            )*
        }

        impl<S: $name + ?Sized> $name for &S {
            $(
                fn $method(&self, $payload: $args) -> impl ::core::future::Future<Output = $result> + Send {
                    S::$method(self, $payload)
                }
            )*
        }

        impl<S: $name + ?Sized> $name for ::std::sync::Arc<S> {
            $(
                fn $method(&self, $payload: $args) -> impl ::core::future::Future<Output = $result> + Send {
                    S::$method(self, $payload)
                }
            )*
        }
    };
}
