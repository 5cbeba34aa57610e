//! A conversion plan in words: its steps, what they cost a warp, and the bytes of shared memory.
//!
//! ```text
//! through shared memory: 8192 bytes
//!   4 × st.shared.v4.b32                     16 wavefronts, no conflicts
//!   barrier of the block
//!   4 × ldmatrix.m8n8.x4.trans.b16           16 wavefronts, no conflicts
//! ```

use std::fmt::Write;

use super::{Among, ConversionPlan, Form, SharedAccess, SharedPlan};

/// The steps of a plan, each on a line.
#[must_use]
pub fn describe(plan: &ConversionPlan) -> String {
    let costs = plan.costs();
    let mut text = String::new();
    match plan {
        ConversionPlan::Registers(table) => {
            let moved = table.iter().enumerate().filter(|(i, r)| i != *r).count();
            let _ =
                writeln!(text, "within threads: {moved} of {} registers get another name, no instruction", table.len());
        }
        ConversionPlan::Shuffles(plan) => {
            let mode = if plan.keeps_lanes() { "bfly" } else { "idx" };
            let _ = writeln!(text, "by shuffles: no shared memory");
            let (words, bits) = (plan.words().count() as u32 * plan.parts(), plan.exchanged_bits());
            let _ = writeln!(text, "  {words} words of 32 bits a thread, {bits} register bits become lane bits");
            let _ = writeln!(text, "  {} × shfl.sync.{mode}.b32", costs.shuffles);
            let choice = if plan.elements_per_word() == 2 && plan.parts() == 1 { "prmt" } else { "selp" };
            let _ = writeln!(text, "  {} × {choice}.b32", costs.selects);
        }
        ConversionPlan::Shared(plan) => shared(&mut text, plan),
    }
    text
}

fn shared(text: &mut String, plan: &SharedPlan) {
    let whose =
        if plan.among() == Among::Cluster { "the shared memory of the cluster's blocks" } else { "shared memory" };
    let _ = writeln!(text, "through {whose}: {} bytes", plan.bytes());
    let repetitions = plan.repetitions();
    if repetitions > 1 {
        let _ = writeln!(text, "  {repetitions} times, with another barrier between:");
    }
    let barrier = match plan.among() {
        Among::Warp => "barrier of the warp",
        Among::Block => "barrier of the block",
        Among::Cluster => "barrier of the cluster",
    };
    let _ = writeln!(text, "{}", step(plan.store(), repetitions, true));
    let _ = writeln!(text, "  {barrier}");
    let _ = writeln!(text, "{}", step(plan.load(), repetitions, false));
}

/// The line for an access: `  4 × st.shared.v4.b32   16 wavefronts, no conflicts`.
fn step(access: &SharedAccess, repetitions: u32, is_store: bool) -> String {
    let count = access.accesses().len() as u32 / repetitions;
    let instruction = format!("{count} × {}", instruction(access, is_store));
    let wavefronts = access.wavefronts() * count;
    let extra = wavefronts - access.ideal_wavefronts() * count;
    let conflicts = if extra == 0 { "no conflicts".to_owned() } else { format!("{extra} of them for bank conflicts") };
    format!("  {instruction:<40} {wavefronts} wavefronts, {conflicts}")
}

/// The PTX instruction of an access.
#[must_use]
pub fn instruction(access: &SharedAccess, is_store: bool) -> String {
    let bytes = access.access_bytes();
    match access.form() {
        Form::Vector => {
            let name = if is_store { "st" } else { "ld" };
            let space = if access.block_map().is_some() { "shared::cluster" } else { "shared" };
            match (bytes, bytes / access.vec() as u32) {
                (16, 8) => format!("{name}.{space}.v2.b64"),
                (8 | 16, _) if access.vec() > 1 => format!("{name}.{space}.v{}.b32", bytes / 4),
                _ => format!("{name}.{space}.b{}", 8 * bytes),
            }
        }
        Form::Matrix { transposed } => {
            let (name, trans) =
                (if is_store { "stmatrix" } else { "ldmatrix" }, if transposed { ".trans" } else { "" });
            format!("{name}.m8n8.x{}{trans}.b16", bytes / 4)
        }
    }
}
