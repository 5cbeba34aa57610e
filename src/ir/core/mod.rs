//! The object model: entities, interned types, attributes and locations, and the [`Ir`] that owns operations.
//!
//! - [`entity`]: the u32 newtypes [`Op`], [`Value`], [`Block`], [`Region`] and the arena they index;
//! - [`intern`]: the process-wide interner behind [`Type`], [`Attr`], [`Loc`] and [`Name`], all `Copy`;
//! - [`types`], [`attrs`], [`encoding`], [`float`], [`loc`]: what is interned;
//! - [`graph`]: [`Ir`], its operations, blocks, regions and use lists, and every primitive that changes them;
//! - [`builder`]: creating operations at an insertion point;
//! - [`hash`]: hash tables for keys of the compiler's own;
//! - [`walk`], [`clone`], [`dominance`]: traversal, copying with a mapping, dominance.

pub mod attrs;
pub mod builder;
pub mod clone;
pub mod dominance;
pub mod encoding;
pub mod entity;
pub mod float;
pub mod graph;
pub mod hash;
pub mod intern;
pub mod loc;
pub mod types;
pub mod walk;

pub use attrs::{Attr, AttrData, DenseData};
pub use builder::{Builder, InsertPoint};
pub use clone::Mapping;
pub use dominance::Dominance;
pub use encoding::{Bases, Encoding};
pub use entity::{Block, Op, Region, Value};
pub use float::FloatKind;
pub use graph::{Ir, MAX_OPS, OpState, Use, ValueDef};
pub use intern::Name;
pub use loc::{Loc, LocData};
pub use types::{MemDesc, TensorType, Type, TypeData};
pub use walk::WalkControl;
