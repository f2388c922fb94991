//! Selects the operations to import by tags and by names, and assigns the names of their tools.

use std::collections::BTreeSet;

use super::super::tool_names::{self, Unnamed};
use super::super::update_report::UpdateReport;
use super::super::warnings::Warnings;
use super::api::Operation;
use super::{ApiImport, OpenApiError};
use toolwright_codegen::internal::advice;

/// Returns the selected operations with the names of their tools.
pub(super) fn choose<'a>(
    operations: Vec<Operation<'a>>,
    import: &ApiImport<'_>,
    warnings: &mut Warnings,
) -> Result<Vec<(String, Operation<'a>)>, OpenApiError> {
    check_tags(&operations, &import.tags)?;
    let is_tagged = |operation: &Operation<'_>| {
        import.tags.is_empty()
            || operation.tags().iter().any(|tag| import.tags.iter().any(|one| one == tag))
    };
    let tagged: Vec<Operation<'a>> = operations.into_iter().filter(is_tagged).collect();
    let remote: Vec<String> = tagged.iter().map(Operation::wanted_name).collect();
    let listed: Vec<&str> = remote.iter().map(String::as_str).collect();
    let picked =
        import.selection.pick(&listed, None, &mut UpdateReport::default()).map_err(refused)?;
    let taken = tagged.into_iter().zip(&listed).zip(picked.names).zip(picked.taken);
    let taken = taken.filter_map(|(one, is_taken)| is_taken.then_some(one));
    let (chosen, unnamed): (Vec<_>, Vec<_>) =
        taken.map(|((operation, remote), name)| (operation, (*remote, name))).unzip();
    let unnamed = unnamed.iter().map(|(remote, name)| Unnamed { remote, given: name.as_deref() });
    let unnamed: Vec<Unnamed<'_>> = unnamed.collect();
    let names = tool_names::assign(&unnamed, &import.selection.prefix, warnings);
    Ok(names.into_iter().zip(chosen).collect())
}

/// Rewords the messages about a server's tools for the operations of a document.
fn refused(mistakes: Vec<String>) -> OpenApiError {
    let words = mistakes.join("; ");
    let words = words.replace("no tool of the server", "no operation of the document");
    let words = words.replace("the server has", "the document has");
    OpenApiError::new(words.replace("no tool is selected", "no operation is selected"))
}

fn check_tags(operations: &[Operation<'_>], tags: &[String]) -> Result<(), OpenApiError> {
    let known: BTreeSet<&str> = operations.iter().flat_map(Operation::tags).collect();
    match tags.iter().find(|tag| !known.contains(tag.as_str())) {
        Some(tag) => {
            let advice = advice(tag, known, "the document has");
            Err(OpenApiError::new(format!("no operation has the tag `{tag}`; {advice}")))
        }
        None => Ok(()),
    }
}
