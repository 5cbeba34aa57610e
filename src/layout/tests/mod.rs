//! Tests of the layouts: laws of the algebra, and encodings against their definitions.

mod laws;
