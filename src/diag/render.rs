//! Rendering of diagnostics: `human` (ariadne), `short` (one line each) and `json` (one object a line).
