//! Errors of service methods: those that a method declares, and all others.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;

use crate::call::ToolCall;
use crate::outcome::{BoxError, ToolFailure};

/// The errors that one method declares. Generated code has an enum for each method.
pub trait DeclaredError: Error + Send + Sync + Sized + 'static {
    /// Converts this error to the failure of a call.
    fn into_failure(self, call: &ToolCall) -> ToolFailure;

    /// Converts a failure back to the declared error that caused it.
    ///
    /// # Errors
    ///
    /// The failure, if no declared error caused it.
    fn from_failure(failure: ToolFailure) -> Result<Self, ToolFailure> {
        Err(failure)
    }
}

/// The error of a method. `?` converts every type that implements [`Error`]: an `E` becomes `Declared`, any other error
/// `Internal`.
///
/// It does not implement [`Error`] itself, because then `?` could not convert every type that does.
#[derive(Debug)]
pub enum MethodError<E = Infallible> {
    /// An error that the method declares.
    Declared(E),
    /// Any other error. It is hidden from the model and logged for operators; a wrapped [`ToolFailure`] is passed
    /// through.
    Internal(BoxError),
}

impl<E: DeclaredError> MethodError<E> {
    /// Wraps any error or text as `Internal`; a declared error becomes `Declared`.
    pub fn internal(cause: impl Into<BoxError>) -> Self {
        let cause = match cause.into().downcast::<E>() {
            Ok(declared) => return Self::Declared(*declared),
            Err(cause) => cause,
        };
        match cause.downcast::<ToolFailure>().map(|failure| E::from_failure(*failure)) {
            Ok(Ok(declared)) => Self::Declared(declared),
            Ok(Err(failure)) => Self::Internal(Box::new(failure)),
            Err(cause) => Self::Internal(cause),
        }
    }

    /// Converts this error to the failure of a call.
    pub fn into_failure(self, call: &ToolCall) -> ToolFailure {
        match self {
            Self::Declared(error) => error.into_failure(call),
            Self::Internal(cause) => ToolFailure::caused_by(cause, call),
        }
    }
}

impl<E: DeclaredError, X: Error + Send + Sync + 'static> From<X> for MethodError<E> {
    fn from(error: X) -> Self {
        Self::internal(error)
    }
}

impl<E: DeclaredError> From<MethodError<E>> for BoxError {
    fn from(error: MethodError<E>) -> Self {
        match error {
            MethodError::Declared(error) => Box::new(error),
            MethodError::Internal(cause) => cause,
        }
    }
}

impl<E: fmt::Display> fmt::Display for MethodError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declared(error) => error.fmt(f),
            Self::Internal(cause) => write!(f, "internal: {cause}"),
        }
    }
}

/// The error type of a method that declares no errors.
impl DeclaredError for Infallible {
    fn into_failure(self, _: &ToolCall) -> ToolFailure {
        match self {}
    }
}

/// Implements [`DeclaredError`](crate::method::DeclaredError) and [`Display`](std::fmt::Display) for an enum of errors.
/// Each variant has an arm with the recovery (`correct_call`, `retry`, `replan` or `finish`), the error's name and its
/// sentence.
///
/// A name in parentheses binds the error's data, whose fields the sentence may use. A name in brackets binds the
/// message of a foreign service, an `Option<String>`.
///
/// ```
/// use toolwright::codec::Range;
/// use toolwright::{MethodError, Payload, ToolCall};
///
/// #[derive(Debug)]
/// struct Missing {
///     id: i64,
/// }
/// toolwright::object!(Missing { required "id" => id: integer(Range::<i64>::ANY), });
///
/// #[derive(Debug)]
/// enum GetIssueError {
///     NotFound(Missing),
///     Busy,
/// }
/// toolwright::declared_errors!(GetIssueError {
///     NotFound(missing) => replan("not_found", "there is no issue {}", missing.id),
///     Busy => retry("busy", "the tracker is busy"),
/// });
///
/// fn get(id: i64) -> Result<(), MethodError<GetIssueError>> {
///     Err(GetIssueError::NotFound(Missing { id }))?
/// }
///
/// let call = ToolCall::new("get_issue", Payload::new("{}"));
/// let failure = get(7).unwrap_err().into_failure(&call);
/// assert_eq!(failure.message, "there is no issue 7");
/// assert_eq!(failure.data.unwrap().as_str(), r#"{"id":7}"#);
/// ```
#[macro_export]
macro_rules! declared_errors {
    ($name:ident {
        $($variant:ident $(($data:ident))? $([$message:ident])? =>
            $recovery:ident($code:literal, $sentence:literal $(, $value:expr)* $(,)?)),+ $(,)?
    }) => {
        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    $(Self::$variant $(($data))? $(($message))? => {
                        $(let _ = $data;)?
                        $(let _ = $message;)?
                        ::core::write!(f, $sentence $(, $value)*)
                    })+
                }
            }
        }

        impl ::core::error::Error for $name {}

        impl $crate::method::DeclaredError for $name {
            fn into_failure(self, call: &$crate::ToolCall) -> $crate::ToolFailure {
                let sentence = self.to_string();
                match self {
                    $(Self::$variant $(($data))? $(($message))? => {
                        $crate::ToolFailure::declared(
                            $code,
                            sentence,
                            $crate::__recovery!($recovery call),
                        )
                        $(.with_data(&$data))?
                        $(.reported($message))?
                    })+
                }
            }

            fn from_failure(
                failure: $crate::ToolFailure,
            ) -> ::core::result::Result<Self, $crate::ToolFailure> {
                // A failure that may have had an effect, or of another kind, is none that a method declares.
                let code = match failure.kind {
                    $crate::FailureKind::DomainRejection | $crate::FailureKind::Unavailable => {
                        failure.code.as_deref()
                    }
                    _ => ::core::option::Option::None,
                };
                match code {
                    $(Some($code) => $crate::__error_of_failure!($variant failure $(($data))? $([$message])?),)+
                    _ => Err(failure),
                }
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __recovery {
    (correct_call $call:ident) => {
        $crate::Recovery::correct($call)
    };
    (retry $call:ident) => {
        $crate::Recovery::Retry
    };
    (replan $call:ident) => {
        $crate::Recovery::Replan
    };
    (finish $call:ident) => {
        $crate::Recovery::Finish
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __error_of_failure {
    ($variant:ident $failure:ident) => {
        Ok(Self::$variant)
    };
    ($variant:ident $failure:ident ($data:ident)) => {
        match $failure.decoded_data() {
            Some(data) => Ok(Self::$variant(data)),
            // Data that are not of this error are dropped.
            None => Err($crate::ToolFailure { data: None, ..$failure }),
        }
    };
    ($variant:ident $failure:ident [$message:ident]) => {
        Ok(Self::$variant($failure.detail))
    };
}
