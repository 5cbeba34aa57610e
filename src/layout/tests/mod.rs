//! Tests of the layouts: laws of the algebra, tables, encodings against their definitions, queries.

mod axis_plans;
mod definitions;
mod laws;
mod plans;
mod queries;
mod render;
mod tables;
