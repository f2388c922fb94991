//! The HTTP client that generated implementations of services use. Generated code has a table of operations; the address
//! and the credentials are set at run time.
//!
//! A host creates one client per service, and passes it to the generated type that implements the service's trait:
//! `ShelterHttp::new(client)`. Credentials are never printed.
//!
//! ```
//! use toolwright_http::{Client, Credentials};
//!
//! let client = Client::builder("http://127.0.0.1:8080/v1")
//!     .with_credentials(Credentials::bearer("open sesame"))
//!     .build()?;
//! assert!(!format!("{client:?}").contains("sesame"));
//!
//! let error = Client::builder("ftp://127.0.0.1/v1").build().unwrap_err();
//! assert!(error.to_string().contains("is `ftp`, expected `http` or `https`"));
//! # Ok::<(), toolwright_http::BuildError>(())
//! ```

#![warn(missing_debug_implementations)]

mod builder;
mod client;
mod credentials;
mod failure;
pub mod operation;
mod request;
mod response;
mod value;

pub use builder::{BuildError, ClientBuilder};
pub use client::Client;
pub use credentials::Credentials;
pub use operation::Operation;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
