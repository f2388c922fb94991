//! The macro that declares traits of services, which providers implement.

/// Declares the trait of a service. Implement its methods with `async fn`; their futures must be [`Send`]. A reference
/// or [`Arc`](std::sync::Arc) to a provider implements the trait too.
///
/// A struct after the trait is its fake: a provider for tests, which has a `FakeMethod` of `toolwright::testing` for each
/// method. It exists only with the feature `testing` of this crate.
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
///
///     pub struct FakeCounterService;
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

        $(pub struct $fake:ident;)?
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

        $crate::__fake! {
            ($($fake)?) $name { $($method($args) -> $result;)* }
        }
    };
}

#[cfg(feature = "testing")]
#[doc(hidden)]
#[macro_export]
macro_rules! __fake {
    (() $($service:tt)*) => {};
    (($fake:ident) $name:ident { $($method:ident($args:ty) -> $result:ty;)* }) => {
        #[doc = concat!("A [`", stringify!($name), "`] for tests: it returns the results that are set, and records its calls.")]
        #[derive(Debug)]
        pub struct $fake {
            $(
                #[doc = concat!("The results of `", stringify!($method), "`, and its calls.")]
                pub $method: $crate::testing::FakeMethod<$args, $result>,
            )*
        }

        impl ::core::default::Default for $fake {
            fn default() -> Self {
                Self { $($method: $crate::testing::FakeMethod::new(stringify!($method)),)* }
            }
        }

        impl $name for $fake {
            $(
                async fn $method(&self, payload: $args) -> $result {
                    self.$method.call(payload)
                }
            )*
        }
    };
}

#[cfg(not(feature = "testing"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __fake {
    ($($service:tt)*) => {};
}
