//! The parser: snapshots of trees and messages, limits, properties.
fn main() {}
