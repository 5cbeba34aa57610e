//! Annotations that name nothing.

use super::walker::Walker;
use crate::diag::codes::names;
use crate::diag::suggest::nearest;
use crate::irgen::emit::{R, Reported};
use crate::irgen::value::Func;
use crate::parser::ast::ExprKind;

impl Walker<'_> {
    /// Reports annotations that name nothing, as Python does when it runs the file: `tl.constxpr`.
    ///
    /// # Errors
    /// One is reported.
    pub fn check_annotations(&mut self, func: &Func) -> R<()> {
        let mut failed = false;
        for annotation in func.def.params.iter().filter_map(|p| p.annotation.as_ref()) {
            let why = match &annotation.kind {
                ExprKind::Attribute { value, .. } if value.dotted().is_some() => {
                    self.attempt(func.module, |cx| cx.expr(annotation)).err()
                }
                // A name that is nearly a known one; others may be anything that Python has.
                ExprKind::Name(name) if nearest(name, ["constexpr"].into_iter()).is_some() => {
                    self.attempt(func.module, |cx| cx.expr(annotation)).err()
                }
                _ => None,
            };
            let Some(Some(why)) = why else { continue };
            if why.code == &names::UNKNOWN_ATTRIBUTE || (why.code == &names::UNKNOWN_NAME && why.help.is_some()) {
                failed = true;
                let _ = self.out.report(why);
            }
        }
        if failed { Err(Reported) } else { Ok(()) }
    }
}
