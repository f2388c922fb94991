//! The files of `tests/mistakes`, each with the errors that the compiler reports for it. `TRYBUILD=overwrite` updates
//! them.

/// R3: a mistake is a compiler error at the token that is wrong.
#[test]
fn r3_a_mistake_is_a_compile_error_at_its_token() {
    trybuild::TestCases::new().compile_fail("tests/mistakes/*.rs");
}
