//! Makes the launch descriptor of a kernel while it goes through the stages.
//!
//! 1. The arguments are those of the metadata, also those of settled values, which are no parameters. What the kernel
//!    does to their memory is read from final TTGIR, where every access still names its operands.
//! 2. The parameters are those of the function that code generation has seen.
//! 3. Threads, shared memory and clusters are those of the metadata, which later stages may correct.

use super::hidden::{self, Map};
use super::metadata::Metadata;
use crate::analysis::touched::{self, Touch, Touched};
use crate::diag::Diagnostic;
use crate::diag::codes::cli;
use crate::ir::dialects::tt::tt::Func;
use crate::ir::{Ir, Op, Type, TypeData};
use crate::launch::{self, Access, Argument, Descriptor, TensorMap, Value, grid};
use crate::target::Target;

/// What is known of a kernel's call from its TTGIR.
#[derive(Debug, Default)]
pub(super) struct Call {
    touched: Touched,
    /// The tensor maps that the launch makes.
    maps: Vec<Map>,
}

impl Call {
    /// Looks at a kernel of final TTGIR.
    pub(super) fn of(ir: &Ir, kernel: Op) -> Call {
        Call { touched: touched::of_kernel(ir, kernel), maps: hidden::maps(ir, kernel) }
    }

    /// Whether the launch makes tensor maps.
    pub(super) fn has_maps(&self) -> bool {
        !self.maps.is_empty()
    }

    /// The descriptor, once code generation has settled the function. `None` if its parameters are not those that the
    /// metadata names.
    ///
    /// # Errors
    /// `E0934` if the grid cannot be computed from the arguments, and `E0941` if a tensor map cannot.
    pub(super) fn descriptor(
        &self,
        ir: &Ir,
        kernel: Op,
        metadata: &Metadata,
        given_grid: Option<&str>,
    ) -> Result<Option<Descriptor>, Diagnostic> {
        let mut types = types_of(ir, kernel);
        types.truncate(types.len().saturating_sub(self.maps.len()));
        let (arguments, names) = self.arguments(metadata, &types);
        let names: Vec<Option<&str>> = names.iter().map(Option::as_deref).collect();
        let maps = self.maps.iter().map(|m| m.value(&names)).collect::<Result<Vec<_>, _>>()?;
        let hidden = maps.into_iter().chain(pointers(metadata)).collect();
        let grid = given_grid.map(|text| grid_of(text, metadata)).transpose()?;
        let Some(parameters) = launch::flatten(&arguments, &types, hidden) else { return Ok(None) };
        let access = |t: Touch| Access { reads: t.reads, writes: t.writes };
        Ok(Some(Descriptor {
            version: launch::VERSION,
            symbol: metadata.name.clone(),
            threads: 0,
            shared: 0,
            cluster: [1, 1, 1],
            programmatic: false,
            grid,
            arguments,
            parameter_bytes: parameters.last().map_or(0, |p| p.offset + p.size),
            parameters,
            elsewhere: access(self.touched.elsewhere),
        }))
    }

    /// The arguments, and for each parameter of the function the name of the one that it is; `None` for a part of a
    /// descriptor.
    fn arguments(&self, metadata: &Metadata, types: &[Type]) -> (Vec<Argument>, Vec<Option<String>>) {
        let mut maps = metadata.tensordesc_meta.iter();
        let mut at = 0;
        let (mut arguments, mut names) = (vec![], vec![None; types.len()]);
        for param in &metadata.params {
            if param.equals.is_some() {
                let (name, ty, equals) = (param.name.clone(), param.ty.clone(), param.equals);
                arguments.push(Argument { name, ty, equals, ..Argument::default() });
                continue;
            }
            let first = types.get(at);
            let by_hardware = first.is_some_and(|t| matches!(t.data(), TypeData::TensorDesc { .. }));
            let touch = self.touch(at, types.len());
            let argument = Argument {
                name: param.name.clone(),
                ty: param.ty.clone(),
                divisible_by: param.divisibility.filter(|&d| d > 1),
                tensor_map: by_hardware.then(|| maps.next()).flatten().map(TensorMap::from),
                ..Argument::default()
            };
            let access = argument.is_memory().then_some(Access { reads: touch.reads, writes: touch.writes });
            arguments.push(Argument { access, ..argument });
            let count = first.map_or(1, |&first| launch::parameter_count(&param.ty, first));
            if let (1, Some(name)) = (count, names.get_mut(at)) {
                *name = Some(param.name.clone());
            }
            at += count;
        }
        (arguments, names)
    }

    /// What the kernel does to the memory of a parameter, also through the maps that the launch makes of it, which
    /// follow `passed` parameters.
    fn touch(&self, parameter: usize, passed: usize) -> Touch {
        let of = |index: usize| self.touched.parameters.get(index).copied().unwrap_or_default();
        let own_maps = self.maps.iter().enumerate().filter(|(_, m)| m.base() == parameter);
        own_maps
            .map(|(n, _)| of(passed + n))
            .fold(of(parameter), |a, b| Touch { reads: a.reads || b.reads, writes: a.writes || b.writes })
    }
}

fn types_of(ir: &Ir, kernel: Op) -> Vec<Type> {
    match Func::of(ir, kernel).and_then(|f| f.function_type(ir)).map(Type::data) {
        Some(TypeData::Function { inputs, .. }) => inputs.clone(),
        _ => vec![],
    }
}

/// The pointers that follow all other parameters.
fn pointers(metadata: &Metadata) -> Vec<Value> {
    let scratch = Value::GlobalScratch {
        bytes_per_block: metadata.global_scratch_size.unwrap_or(0),
        memory_align: metadata.global_scratch_align.unwrap_or(1),
    };
    let all = [scratch, Value::ProfileScratch];
    all.into_iter().take(metadata.hidden_params.unwrap_or(0) as usize).collect()
}

/// Puts the grid that the user gave into the descriptor of a kernel that is compiled on from behind code generation.
///
/// # Errors
/// `E0934` if it cannot be computed from the arguments, or if these are not known.
pub(super) fn set_grid(metadata: &mut Metadata, given: Option<&str>) -> Result<(), Diagnostic> {
    let Some(text) = given else { return Ok(()) };
    if metadata.launch.is_none() {
        let message = format!("`--grid {text}`: the file does not say what the arguments of its kernel are");
        return Err(Diagnostic::error(&cli::BAD_GRID, message)
            .help("leave `--grid` out, or start from the kernel, or from a file that ends in ttc's metadata line"));
    }
    let grid = grid_of(text, metadata)?;
    if let Some(launch) = &mut metadata.launch {
        launch.grid = Some(grid);
    }
    Ok(())
}

/// The grid over the arguments of a kernel, with its constants replaced.
///
/// # Errors
/// `E0934` if it cannot be computed from the arguments.
pub(super) fn grid_of(text: &str, metadata: &Metadata) -> Result<[String; 3], Diagnostic> {
    let integers: Vec<&str> = metadata
        .params
        .iter()
        .filter(|p| p.equals.is_none() && p.ty.starts_with(['i', 'u']))
        .map(|p| p.name.as_str())
        .collect();
    let constants = metadata.constants.clone().unwrap_or_default();
    grid::parse(text, &constants, &integers).map(|axes| axes.map(|e| e.to_string())).map_err(|why| {
        Diagnostic::error(&cli::BAD_GRID, format!("the grid of `{}`: {why}", metadata.name))
            .help("use names of integer parameters and of compile-time parameters, as in \"cdiv(n, BLOCK), 2\"")
    })
}

/// Takes what later stages have settled into the descriptor.
pub(super) fn settle(metadata: &mut Metadata, target: &Target, programmatic: Option<bool>) {
    let Some(launch) = &mut metadata.launch else { return };
    launch.symbol.clone_from(&metadata.name);
    launch.threads = metadata.num_warps.map_or(launch.threads, |warps| warps * target.warp_size());
    launch.shared = metadata.shared.unwrap_or(launch.shared);
    launch.cluster = metadata.cluster_dims.unwrap_or(launch.cluster);
    launch.programmatic = programmatic.unwrap_or(launch.programmatic);
    metadata.hidden = hidden::of_launch(launch, &metadata.params);
}
