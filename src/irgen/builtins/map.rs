//! `map_elementwise`: a function of scalars, with control flow of its own, applied to every element.
//!
//! 1. The arguments take one shape.
//! 2. The region calls the function once on `pack` elements of each argument: `f(a0, a1, b0, b1)` for two arguments and
//!    packs of two. It returns `pack` elements of each result, likewise.
//! 3. A function that returns one value makes one tensor, another a tuple.

use super::entry::calling;
use crate::diag::codes::{names, types};
use crate::ir::dialects::tt::tt::{MapElementwise, MapElementwiseReturn};
use crate::irgen::emit::Tensor;
use crate::irgen::emit::{R, in_block};
use crate::irgen::semantic::{convert, shape};
use crate::irgen::types::Ty;
use crate::irgen::value::{Args, Builtin, Calls, Object};

pub(super) static TABLE: &[Builtin] = &[calling(
    "map_elementwise",
    "scalar_fn, *args, pack=1",
    "A jit function of scalars applied to every element; with `pack`, to as many neighbours at once.",
    map_elementwise,
)];

/// The largest pack: more than any thread holds registers.
const MOST: i128 = 1024;

fn map_elementwise(cx: &mut dyn Calls, a: &Args) -> R<Object> {
    let f = a.function(cx.out(), 0)?.clone();
    let pack = a.int(cx.out(), 2)?;
    if !(1..=MOST).contains(&pack) {
        return Err(cx.out().error_help(
            &names::BAD_ARGUMENTS,
            format!("`pack` is {pack}, expected 1 to {MOST}"),
            "in this call",
            "`pack` is the number of elements that the function takes at once",
        ));
    }
    let mut tensors = match a.get(1) {
        Object::Tuple(items) => items.iter().map(|v| convert::to_tensor(cx.out(), v)).collect::<R<Vec<_>>>()?,
        v => vec![convert::to_tensor(cx.out(), v)?],
    };
    shape::broadcast_all(cx.out(), &mut tensors)?;
    let Some(first) = tensors.first().filter(|t| t.ty.is_block()).copied() else {
        let message = "`map_elementwise` needs a block of elements among its arguments";
        return Err(cx.out().error_help(
            &types::ARGUMENT_TYPE,
            message,
            "in this call",
            "call the function itself on scalars",
        ));
    };
    let operands: Vec<_> = tensors.iter().map(|t| t.value).collect();
    let state =
        MapElementwise::state(cx.out().loc(), &operands).with(MapElementwise::ATTR.pack, pack as i64).regions(1);
    let op = cx.out().emit(state)?;
    let (returned, single) = body(cx, op, &tensors, &f, pack as usize)?;
    let mut out: Vec<Object> = vec![];
    for pack in returned.chunks(pack as usize) {
        let ty = Ty::block(pack[0].ty.dtype, first.ty.shape());
        let value = cx.out().ir.add_result(op, ty.to_ir());
        out.push(Tensor { value, ty }.into());
    }
    Ok(if single { out.swap_remove(0) } else { Object::tuple(out) })
}

/// Step 2; gives what the function returned, and whether that was a single value.
fn body(cx: &mut dyn Calls, op: crate::ir::Op, tensors: &[Tensor], f: &Object, pack: usize) -> R<(Vec<Tensor>, bool)> {
    let scalars: Vec<Ty> = tensors.iter().flat_map(|t| std::iter::repeat_n(Ty::scalar(t.ty.dtype), pack)).collect();
    let (block, values) = super::reduce::block_of(cx.out(), op, &scalars);
    let (result, _) = in_block(cx, block, |cx| {
        let result = cx.call(f, values)?;
        let (items, single) = match &result {
            Object::Tuple(items) => (items.to_vec(), false),
            v => (vec![v.clone()], true),
        };
        let returned = items.iter().map(|v| convert::to_tensor(cx.out(), v)).collect::<R<Vec<_>>>()?;
        let uniform =
            returned.chunks(pack).all(|p| p.len() == pack && p.iter().all(|t| t.ty == p[0].ty && !t.ty.is_block()));
        if returned.is_empty() || !uniform {
            let found: Vec<String> = returned.iter().map(|t| t.ty.to_string()).collect();
            let wanted =
                if pack == 1 { "scalars".to_owned() } else { format!("{pack} scalars of one type for each result") };
            let message = format!("the function returns ({}), expected {wanted}", found.join(", "));
            return Err(cx.out().error_help(
                &types::RETURN_TYPE,
                message,
                "in this call of `map_elementwise`",
                "return plain scalars, as many and of the same types on all paths",
            ));
        }
        let operands: Vec<_> = returned.iter().map(|t| t.value).collect();
        let state = MapElementwiseReturn::state(cx.out().loc(), &operands);
        cx.out().emit(state)?;
        Ok((returned, single))
    });
    result
}
