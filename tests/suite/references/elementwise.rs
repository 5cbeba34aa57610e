//! References of kernels that treat every element by itself.

use std::collections::BTreeMap;

use ttc::cases::Inputs;

use super::single;

/// `out = x + y`
pub(crate) fn add(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (x, y) = (inputs.array("x_ptr"), inputs.array("y_ptr"));
    single("out_ptr", x.iter().zip(y).map(|(x, y)| x + y).collect())
}

/// `out = gate * sigmoid(gate) * up`
pub(crate) fn swiglu(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (gate, up) = (inputs.array("gate_ptr"), inputs.array("up_ptr"));
    single("out_ptr", gate.iter().zip(up).map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect())
}
