//! Writes types as text.

use super::writer::{Aliases, Text};
use crate::ir::core::{Attr, MemDesc, Type, TypeData};

/// Writes the type without aliases.
impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = Text::new(Aliases::None);
        text.ty(*self);
        f.write_str(&text.out)
    }
}

impl Text {
    /// Writes the type itself. What it contains goes through aliases.
    pub(super) fn type_body(&mut self, ty: Type) {
        match ty.data() {
            TypeData::Int(w) => self.push(&format!("i{w}")),
            TypeData::SignedInt { width, signed } => self.push(&format!("{}i{width}", if *signed { 's' } else { 'u' })),
            TypeData::Index => self.push("index"),
            TypeData::Float(k) => self.push(k.name()),
            TypeData::None => self.push("none"),
            TypeData::Function { inputs, results } => self.function_type(inputs, results),
            TypeData::Tensor(t) => {
                self.push("tensor<");
                self.shaped(&t.shape, t.elem, t.encoding);
                self.push(">");
            }
            TypeData::Opaque(name) => self.push(name.as_str()),
            TypeData::AsyncToken => self.push("!ttg.async.token"),
            TypeData::Pointer { .. } => self.prefixed("!tt.ptr", ty),
            TypeData::TensorDesc { im2col: true, .. } => self.prefixed("!ttng.tensordesc_im2col", ty),
            TypeData::TensorDesc { .. } => self.prefixed("!tt.tensordesc", ty),
            TypeData::MemDesc(_) => self.prefixed("!ttg.memdesc", ty),
        }
    }

    fn prefixed(&mut self, prefix: &str, ty: Type) {
        self.push(prefix);
        self.stripped_type(ty);
    }

    /// Writes a dialect's type without its name, `<64x16xi8, #shared>`, and other types in full.
    pub fn stripped_type(&mut self, ty: Type) {
        match ty.data() {
            TypeData::Pointer { pointee, space } => {
                self.push("<");
                self.ty(*pointee);
                match *space {
                    1 => {}
                    // Triton 3.9 names its spaces, of which there are three.
                    0 => self.push(", \"descriptor\""),
                    4 => self.push(", \"constant\""),
                    other => self.push(&format!(", {other}")),
                }
                self.push(">");
            }
            TypeData::TensorDesc { shape, elem, layout, .. } => {
                self.push("<");
                self.shaped(shape, *elem, *layout);
                self.push(">");
            }
            TypeData::MemDesc(m) => self.memdesc(m),
            _ => self.ty(ty),
        }
    }

    fn memdesc(&mut self, m: &MemDesc) {
        self.push("<");
        self.shaped(&m.shape, m.elem, Some(m.encoding));
        self.push(", ");
        self.attr(m.memory_space);
        if m.mutable {
            self.push(", mutable");
        }
        if m.alloc_shape != m.shape {
            self.push(", ");
            let dims: Vec<String> = m.alloc_shape.iter().map(i64::to_string).collect();
            self.push(&dims.join("x"));
        }
        self.push(">");
    }

    /// Writes `128x64xf16, #shared`.
    fn shaped(&mut self, shape: &[i64], elem: Type, encoding: Option<Attr>) {
        for dim in shape {
            self.push(&format!("{dim}x"));
        }
        self.ty(elem);
        if let Some(encoding) = encoding {
            self.push(", ");
            self.attr(encoding);
        }
    }

    /// Writes `(i32, f32) -> f32`.
    pub fn function_type(&mut self, inputs: &[Type], results: &[Type]) {
        self.push("(");
        self.commas(inputs, |t, &ty| t.ty(ty));
        self.push(") -> ");
        self.result_types(results);
    }

    /// Writes one type bare, and several or none in parentheses.
    pub fn result_types(&mut self, results: &[Type]) {
        match results {
            [one] if !matches!(one.data(), TypeData::Function { .. }) => self.ty(*one),
            _ => {
                self.push("(");
                self.commas(results, |t, &ty| t.ty(ty));
                self.push(")");
            }
        }
    }
}
