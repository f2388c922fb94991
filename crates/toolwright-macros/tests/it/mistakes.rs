//! Mistakes, each in a file of `tests/mistakes`, with what the compiler says of it beside it.
//! `TRYBUILD=overwrite` writes these again.

/// R3: a mistake is an error of the compiler, at the token that is wrong.
#[test]
fn r3_a_mistake_is_a_compile_error_at_its_token() {
    trybuild::TestCases::new().compile_fail("tests/mistakes/*.rs");
}
