//! How methods of services fail: with an error that they declare, or with anything else.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;

use crate::call::ToolCall;
use crate::outcome::{BoxError, ToolFailure};

/// The errors that one method declares. Generated code has one enum a method.
pub trait DeclaredError: Error + Send + Sync + Sized + 'static {
    /// The failure of a call that this error causes.
    fn into_failure(self, call: &ToolCall) -> ToolFailure;

    /// The declared error that a failure stands for.
    ///
    /// # Errors
    ///
    /// The failure, where it stands for none.
    fn from_failure(failure: ToolFailure) -> Result<Self, ToolFailure> {
        Err(failure)
    }
}

/// Why a method failed. Whatever implements [`Error`] becomes one with `?`: an error of `E` is declared, anything else is
/// internal.
///
/// It does not implement [`Error`] itself, because then `?` could not take everything that does.
#[derive(Debug)]
pub enum MethodError<E = Infallible> {
    /// An error that the method declares.
    Declared(E),
    /// Anything else. Operators are told, the model is not; a [`ToolFailure`] in it stays what it is.
    Internal(BoxError),
}

impl<E: DeclaredError> MethodError<E> {
    /// Anything that went wrong inside, a text for instance. What is one of the declared errors stays one.
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

    /// The failure of a call that this error causes.
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

/// A method that declares nothing fails with nothing of its own.
impl DeclaredError for Infallible {
    fn into_failure(self, _: &ToolCall) -> ToolFailure {
        match self {}
    }
}

/// Writes how a declared error reads and which failure it causes: an arm a variant, with what the caller can do about it
/// (`correct_call`, `retry`, `replan` or `finish`), the error's name and its sentence.
///
/// A variant in parentheses holds the data of the error, whose fields the sentence may name. A variant in brackets holds
/// what a foreign service said about it.
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
        $($variant:ident $(($data:ident))? $([$said:ident])? =>
            $recovery:ident($code:literal, $sentence:literal $(, $value:expr)* $(,)?)),+ $(,)?
    }) => {
        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    $(Self::$variant $(($data))? $(($said))? => {
                        $(let _ = $data;)?
                        $(let _ = $said;)?
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
                    $(Self::$variant $(($data))? $(($said))? => {
                        $crate::ToolFailure::declared(
                            $code,
                            sentence,
                            $crate::__recovery!($recovery call),
                        )
                        $(.with_data(&$data))?
                        $(.reported($said))?
                    })+
                }
            }

            fn from_failure(
                failure: $crate::ToolFailure,
            ) -> ::core::result::Result<Self, $crate::ToolFailure> {
                match failure.code.as_deref() {
                    $(Some($code) => $crate::__error_of_failure!($variant failure $(($data))? $([$said])?),)+
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
            // What is no data of this error is nobody's business.
            None => Err($crate::ToolFailure { data: None, ..$failure }),
        }
    };
    ($variant:ident $failure:ident [$said:ident]) => {
        Ok(Self::$variant($failure.detail))
    };
}
