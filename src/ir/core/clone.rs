//! Copies operations with a mapping of values and blocks.

use std::collections::BTreeMap;

use super::entity::{Block, Op, Region, Value};
use super::graph::{Ir, OpState};

/// What old values and blocks become in a copy. Those that are not mapped stay.
#[derive(Default, Clone)]
pub struct Mapping {
    values: BTreeMap<Value, Value>,
    blocks: BTreeMap<Block, Block>,
}

impl Mapping {
    pub fn map(&mut self, old: Value, new: Value) {
        self.values.insert(old, new);
    }

    pub fn map_all(&mut self, old: &[Value], new: &[Value]) {
        self.values.extend(old.iter().copied().zip(new.iter().copied()));
    }

    pub fn map_block(&mut self, old: Block, new: Block) {
        self.blocks.insert(old, new);
    }

    #[must_use]
    pub fn get(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }

    #[must_use]
    pub fn get_block(&self, block: Block) -> Block {
        self.blocks.get(&block).copied().unwrap_or(block)
    }
}

impl Ir {
    /// Makes a detached copy of `op` with all its regions. Operands go through the mapping, and the mapping learns the
    /// copy's values.
    pub fn clone_op(&mut self, op: Op, map: &mut Mapping) -> Op {
        let state = OpState {
            kind: self.kind(op),
            loc: self.loc(op),
            operands: self.operands(op).iter().map(|&v| map.get(v)).collect(),
            result_types: self.results(op).iter().map(|&v| self.ty(v)).collect(),
            attrs: self.attrs(op).to_vec(),
            regions: self.regions_of(op).len(),
            successors: self.successors(op).iter().map(|&b| map.get_block(b)).collect(),
        };
        let copy = self.create_op(state);
        let (old, new) = (self.results(op).to_vec(), self.results(copy).to_vec());
        map.map_all(&old, &new);
        for (from, to) in self.regions_of(op).to_vec().into_iter().zip(self.regions_of(copy).to_vec()) {
            self.clone_region(from, to, map);
        }
        copy
    }

    /// Appends copies of all blocks of `from` to `to`.
    pub fn clone_region(&mut self, from: Region, to: Region, map: &mut Mapping) {
        let blocks = self.blocks_of(from).to_vec();
        for &block in &blocks {
            let args: Vec<_> = self.args(block).iter().map(|&a| (self.ty(a), self.value_loc(a))).collect();
            let copy = self.add_block(to, &args);
            let (old, new) = (self.args(block).to_vec(), self.args(copy).to_vec());
            map.map_all(&old, &new);
            map.map_block(block, copy);
        }
        let mut copies = vec![];
        for &block in &blocks {
            let target = map.get_block(block);
            for op in self.op_list(block) {
                let copy = self.clone_op(op, map);
                self.append(target, copy);
                copies.push(copy);
            }
        }
        // A use may stand before its definition in block order (a loop over blocks), so the operands are mapped once
        // all values are known.
        if blocks.len() > 1 {
            for copy in copies {
                for inner in self.all_ops(copy) {
                    for (i, v) in self.operands(inner).to_vec().into_iter().enumerate() {
                        let mapped = map.get(v);
                        if mapped != v {
                            self.set_operand(inner, i, mapped);
                        }
                    }
                }
            }
        }
    }
}
