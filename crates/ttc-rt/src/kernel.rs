//! A kernel in a context: which variant is launched, and with what.
//!
//! 1. [`Kernel::load`] loads every variant that the GPU runs, and prepares it: large blocks of shared memory and large
//!    clusters have to be allowed. A variant that needs more shared memory than the GPU has is left out where another
//!    one takes the same arguments.
//! 2. A launch takes the first variant whose promises hold, and fills in the parameters as its table says.
//! 3. A launch takes no lock and allocates nothing on the host.

use std::ffi::{c_int, c_void};

use crate::context::Context;
use crate::driver::{
    Address, Driver, Handle, LARGE_CLUSTERS, LaunchAttribute, LaunchConfig, MAX_DYNAMIC_SHARED, NO_BINARY_FOR_GPU,
};
use crate::error::{BrokenPromise, BrokenTensor, Error, Gpu, Promise};
use crate::grid::Expr;
use crate::module::{Function, Module};
use crate::spec::{self, RunsOn, Value};
use crate::stream::AsStream;
use crate::tensor::RawTensor;

/// An argument of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Argument {
    /// An address.
    Pointer(u64),
    /// An integer with a sign.
    Int(i64),
    /// An integer without a sign, or a truth value.
    Unsigned(u64),
    /// The bits of a float.
    Float(u64),
    /// A tensor.
    Tensor(RawTensor),
}

impl Argument {
    /// The bits that a parameter takes; it takes as many of them as it has room for.
    fn bits(&self) -> u64 {
        match *self {
            Argument::Pointer(bits) | Argument::Unsigned(bits) | Argument::Float(bits) => bits,
            Argument::Int(value) => value as u64,
            Argument::Tensor(ref tensor) => tensor.base,
        }
    }

    /// The number that promises are about.
    fn number(&self) -> i128 {
        match *self {
            Argument::Int(value) => i128::from(value),
            ref other => i128::from(other.bits()),
        }
    }

    /// The value of an integer, if it fits.
    fn integer(&self) -> Option<i64> {
        match *self {
            Argument::Int(value) => Some(value),
            Argument::Unsigned(value) => i64::try_from(value).ok(),
            _ => None,
        }
    }
}

/// The bytes of a launch's parameters.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Parameters<const BYTES: usize>([u8; BYTES]);

impl<const BYTES: usize> Parameters<BYTES> {
    /// Zeros.
    #[must_use]
    pub const fn new() -> Parameters<BYTES> {
        Parameters([0; BYTES])
    }
}

impl<const BYTES: usize> Default for Parameters<BYTES> {
    fn default() -> Self {
        Parameters::new()
    }
}

impl<const BYTES: usize> AsMut<[u8]> for Parameters<BYTES> {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// So many parameters a launch lists without memory from the heap.
const USUAL_PARAMETERS: usize = 64;

/// A kernel that was loaded into a context. Any number of threads may launch it.
#[derive(Debug)]
pub struct Kernel {
    context: Context,
    spec: &'static spec::Kernel,
    /// The variants that the GPU runs. There is at least one.
    variants: Vec<Loaded>,
    starts_early: bool,
}

#[derive(Debug)]
struct Loaded {
    spec: &'static spec::Variant,
    function: Function,
    /// The function's module stays as long as the function is used.
    _module: Module,
}

/// Where and how to launch.
#[derive(Clone, Copy)]
struct Shape {
    blocks: [u32; 3],
    stream: Handle,
}

impl Kernel {
    /// Loads the variants that the context's GPU runs.
    ///
    /// # Errors
    /// [`Error::NoVariant`] if it runs none, [`Error::SharedMemory`] if a variant needs more shared memory than
    /// it has and no other one takes the same arguments, and what the driver says.
    ///
    /// # Safety
    /// The tables must describe their images truly. Those that ttc printed do.
    pub unsafe fn load(context: &Context, spec: &'static spec::Kernel) -> Result<Kernel, Error> {
        let gpu = context.gpu();
        let (mut variants, mut too_large): (Vec<Loaded>, _) = (vec![], vec![]);
        for variant in spec.variants.iter().filter(|v| v.runs_on.includes(gpu)) {
            // SAFETY: the caller vouches for the tables.
            match unsafe { Loaded::new(context, spec.name, variant) } {
                Ok(loaded) => variants.push(loaded),
                // The driver knows better what it runs.
                Err(Error::Driver(failure)) if failure.status == NO_BINARY_FOR_GPU => {}
                Err(error @ Error::SharedMemory { .. }) => too_large.push((variant, error)),
                Err(error) => return Err(error.at(spec.name, variant.arch)),
            }
        }
        let replaced = |variant: &spec::Variant| variants.iter().any(|v| v.spec.takes_all_of(variant));
        if let Some((_, error)) = too_large.into_iter().find(|(variant, _)| !replaced(variant)) {
            return Err(error);
        }
        if variants.is_empty() {
            let mut archs: Vec<_> = spec.variants.iter().map(|v| v.arch).collect();
            archs.sort_unstable();
            archs.dedup();
            return Err(Error::NoVariant { kernel: spec.name, gpu: gpu.clone(), archs });
        }
        Ok(Kernel { context: context.clone(), spec, variants, starts_early: false })
    }

    /// The context that it was loaded into.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Whether a launch may start before the kernel before it on its stream has ended. The kernel must then wait by
    /// itself (`griddepcontrol.wait`) before it touches memory of the other one.
    pub fn set_start_early(&mut self, start_early: bool) {
        self.starts_early = start_early;
    }

    /// The variants that were loaded, in the order in which a launch tries them.
    pub fn variants(&self) -> impl ExactSizeIterator<Item = &'static spec::Variant> {
        self.variants.iter().map(|v| v.spec)
    }

    /// Launches the first variant whose promises hold. Without a grid, the variant's own expressions say it. No program
    /// is no launch, and no error.
    ///
    /// # Errors
    /// A promise is broken, the grid or a tensor cannot be, or the driver says no.
    ///
    /// # Safety
    /// The arguments fit the tables, `parameters` has room for those of every variant, and the kernel may do what it
    /// does with these arguments: what it reads and writes is memory that stays until it has run, and that nobody else
    /// writes or reads meanwhile.
    pub unsafe fn launch(
        &self,
        stream: &(impl AsStream + ?Sized),
        grid: Option<[u32; 3]>,
        arguments: &[Argument],
        parameters: &mut [u8],
    ) -> Result<(), Error> {
        let loaded = self.choose(arguments)?;
        let programs = match grid {
            Some(grid) => grid.map(u64::from),
            None => self.programs(loaded.spec, arguments)?,
        };
        if programs.contains(&0) {
            return Ok(());
        }
        let blocks = self.blocks(programs, loaded.spec)?;
        let at = |error: Error| error.at(self.spec.name, loaded.spec.arch);
        let _entered = self.context.enter().map_err(at)?;
        let shape = Shape { blocks, stream: stream.as_raw_stream() };
        let scratch = Scratch::new(self.context.driver(), loaded.spec, shape).map_err(at)?;
        self.fill(loaded.spec, arguments, scratch.address, parameters).map_err(at)?;
        // The driver is told where each parameter is. A buffer of all of them would have to start as the cubin's own
        // does, and that may be behind a gap which the PTX does not show.
        let places = loaded.spec.parameters.iter().map(|p| &raw mut parameters[p.offset]);
        let mut few: [*mut c_void; USUAL_PARAMETERS] = [std::ptr::null_mut(); USUAL_PARAMETERS];
        let mut many = vec![];
        let list = if loaded.spec.parameters.len() <= USUAL_PARAMETERS {
            few.iter_mut().zip(places).for_each(|(to, place)| *to = place.cast());
            few.as_mut_ptr()
        } else {
            many.extend(places.map(<*mut u8>::cast));
            many.as_mut_ptr()
        };
        // SAFETY: the list has a place for each parameter, and the caller vouches for the arguments.
        unsafe { self.start(loaded, shape, list) }.map_err(at)
    }

    /// Launches a variant, by its number among [`Kernel::variants`], on parameters that somebody else made. Promises
    /// are not checked, and the grid is in blocks.
    ///
    /// # Errors
    /// What the driver says.
    ///
    /// # Panics
    /// There is no variant of this number, or it takes another number of parameters.
    ///
    /// # Safety
    /// Each pointer leads to a value of its parameter's type, the promises hold, and the kernel may do what it does
    /// with them, as for [`Kernel::launch`].
    pub unsafe fn launch_raw(
        &self,
        variant: usize,
        stream: &(impl AsStream + ?Sized),
        blocks: [u32; 3],
        parameters: &mut [*mut c_void],
    ) -> Result<(), Error> {
        let loaded = &self.variants[variant];
        assert_eq!(parameters.len(), loaded.spec.parameters.len(), "the parameters of `{}`", self.spec.name);
        let at = |error: Error| error.at(self.spec.name, loaded.spec.arch);
        let _entered = self.context.enter().map_err(at)?;
        let shape = Shape { blocks, stream: stream.as_raw_stream() };
        // SAFETY: the caller vouches for the parameters.
        unsafe { self.start(loaded, shape, parameters.as_mut_ptr()) }.map_err(at)
    }

    /// The first variant whose promises hold. The error is about the last one, which promises least.
    fn choose(&self, arguments: &[Argument]) -> Result<&Loaded, Error> {
        let mut broken = None;
        for loaded in &self.variants {
            let fails = |&&(argument, promise): &&(usize, Promise)| !promise.holds(arguments[argument].number());
            match loaded.spec.promises.iter().find(fails) {
                None => return Ok(loaded),
                Some(promise) => broken = Some(*promise),
            }
        }
        let (number, promise) = broken.expect("a kernel has a variant");
        let (kernel, argument) = (self.spec.name, self.spec.arguments[number]);
        Err(Error::Promise(Box::new(BrokenPromise { kernel, argument, promise, value: arguments[number].number() })))
    }

    /// The number of programs that the variant's expressions give.
    fn programs(&self, variant: &spec::Variant, arguments: &[Argument]) -> Result<[u64; 3], Error> {
        let refused = |reason: String| Error::Grid { kernel: self.spec.name, reason };
        let Some(grid) = &variant.grid else {
            return Err(refused("nobody said how it follows from the arguments; pass one".to_owned()));
        };
        let mut programs = [0; 3];
        for ((programs, expr), axis) in programs.iter_mut().zip(grid).zip(["x", "y", "z"]) {
            let value = expr.value(&|number| arguments.get(number).and_then(Argument::integer));
            *programs = match value {
                Some(value) if value >= 0 => value as u64,
                Some(value) => return Err(refused(format!("it has {value} programs in {axis}"))),
                None => return Err(refused(format!("its number of programs in {axis} cannot be computed"))),
            };
        }
        Ok(programs)
    }

    /// The blocks of so many programs.
    fn blocks(&self, programs: [u64; 3], variant: &spec::Variant) -> Result<[u32; 3], Error> {
        // The limits of a grid, which are those of every GPU (CUDA C++ Programming Guide, "Compute Capabilities").
        let mut most: [u64; 3] = [0x7fff_ffff, 0xffff, 0xffff];
        if matches!(variant.runs_on, RunsOn::Processor(_)) {
            // A packet that starts a kernel counts threads in 32 bits (HSA Runtime, "Kernel dispatch packet").
            most[0] = most[0].min(0xffff_ffff / u64::from(variant.threads.max(1)));
        }
        let mut blocks = [0; 3];
        for axis in 0..3 {
            let count = programs[axis].saturating_mul(u64::from(variant.cluster[axis]));
            if count > most[axis] {
                let axis_name = ["x", "y", "z"][axis];
                let reason = format!("it has {count} blocks in {axis_name}, and at most {} can be", most[axis]);
                return Err(Error::Grid { kernel: self.spec.name, reason });
            }
            blocks[axis] = count as u32;
        }
        Ok(blocks)
    }

    /// Writes the parameters.
    fn fill(
        &self,
        variant: &spec::Variant,
        arguments: &[Argument],
        scratch: Address,
        bytes: &mut [u8],
    ) -> Result<(), Error> {
        for parameter in variant.parameters {
            let place = &mut bytes[parameter.offset..parameter.offset + parameter.size];
            let bits = match parameter.value {
                Value::Argument(number) => arguments[number].bits(),
                Value::TensorMap(number, recipe) => {
                    let (tensor, name) = (self.tensor(arguments, number)?, self.spec.arguments[number]);
                    tensor.encode(recipe, self.context.driver(), self.spec.name, name)?.copy_to(place);
                    continue;
                }
                Value::ArrayMap(array) => {
                    let refused =
                        |why| self.broken(array.base, format!("{why}; the kernel reads it as {}", array.words));
                    let tensor = array_of(array, arguments).map_err(refused)?;
                    tensor.rows_of(array.recipe).map_err(refused)?;
                    let name = self.spec.arguments[array.base];
                    tensor.encode(array.recipe, self.context.driver(), self.spec.name, name)?.copy_to(place);
                    continue;
                }
                Value::Base(number) => {
                    let tensor = self.tensor(arguments, number)?;
                    tensor.check().map_err(|reason| self.broken(number, reason))?;
                    tensor.base
                }
                Value::Extent(number, axis) => {
                    let extent = self.tensor(arguments, number)?.extents[axis];
                    if parameter.size == 4 && i32::try_from(extent).is_err() {
                        return Err(self.broken(number, format!("the extent {extent} does not fit into 32 bits")));
                    }
                    extent as u64
                }
                Value::Stride(number, axis) => self.tensor(arguments, number)?.strides[axis] as u64,
                Value::PadsWithNan(number) => u64::from(self.tensor(arguments, number)?.nan),
                Value::RoundsToTf32(number) => u64::from(self.tensor(arguments, number)?.tf32),
                Value::GlobalScratch { .. } => scratch,
                Value::ProfileScratch => 0,
            };
            place.copy_from_slice(&bits.to_le_bytes()[..parameter.size]);
        }
        Ok(())
    }

    fn tensor<'a>(&self, arguments: &'a [Argument], number: usize) -> Result<&'a RawTensor, Error> {
        match &arguments[number] {
            Argument::Tensor(tensor) => Ok(tensor),
            _ => Err(self.broken(number, "it is no tensor".to_owned())),
        }
    }

    fn broken(&self, argument: usize, reason: String) -> Error {
        let argument = self.spec.arguments[argument];
        Error::Tensor(Box::new(BrokenTensor { kernel: self.spec.name, argument, reason }))
    }

    /// Queues the kernel.
    unsafe fn start(
        &self,
        loaded: &Loaded,
        Shape { blocks: [x, y, z], stream }: Shape,
        parameters: *mut *mut c_void,
    ) -> Result<(), Error> {
        let extra = std::ptr::null_mut();
        let (driver, variant, function) = (self.context.driver(), loaded.spec, loaded.function.0);
        let clustered = variant.cluster != [1, 1, 1];
        // AMD's runtime has neither clusters nor early starts.
        let Some(cuda) = driver.cuda().filter(|_| clustered || self.starts_early) else {
            // SAFETY: the function's module is loaded, and the callers vouch for the rest.
            let status = unsafe {
                let (threads, shared) = (variant.threads, variant.shared);
                (driver.functions.launch)(function, x, y, z, threads, 1, 1, shared, stream, parameters, extra)
            };
            return driver.check(status, "cuLaunchKernel");
        };
        let mut attributes = [LaunchAttribute::cluster(variant.cluster), LaunchAttribute::programmatic()];
        let used = usize::from(!clustered)..1 + usize::from(self.starts_early);
        let config = LaunchConfig {
            grid: [x, y, z],
            block: [variant.threads, 1, 1],
            shared: variant.shared,
            stream,
            attributes: attributes[used.clone()].as_mut_ptr(),
            attribute_count: used.len() as u32,
        };
        let launch = cuda.launch_extended()?;
        // SAFETY: as above; the attributes stay during the call.
        driver.check(unsafe { launch(&raw const config, function, parameters, extra) }, "cuLaunchKernelEx")
    }
}

/// The array that a launch encodes a map of.
fn array_of(array: &spec::ArrayMap, arguments: &[Argument]) -> Result<RawTensor, String> {
    let value = |e: &Expr| e.value(&|number| arguments.get(number).and_then(Argument::integer));
    let values = |all: &[Expr]| all.iter().map(value).collect::<Option<Vec<i64>>>();
    let numbers = values(array.extents).zip(values(array.strides));
    let (extents, strides) = numbers.ok_or("a number of it does not fit into 64 bits")?;
    RawTensor::strided(arguments[array.base].bits(), array.recipe.element_bytes, &extents, &strides)
        .ok_or_else(|| "it has more than five axes".to_owned())
}

impl RunsOn {
    /// Whether a GPU runs the image: NVIDIA's of the same major number and no smaller minor number, or exactly one; of
    /// AMD's the processor itself.
    fn includes(self, gpu: &Gpu) -> bool {
        match (self, gpu) {
            (RunsOn::Capability { major, minor, exact }, &Gpu::Nvidia { major: gpu_major, minor: gpu_minor }) => {
                gpu_major == major && if exact { gpu_minor == minor } else { gpu_minor >= minor }
            }
            (RunsOn::Processor(name), Gpu::Amd { processor }) => name == processor,
            _ => false,
        }
    }
}

impl spec::Variant {
    /// Whether this variant takes all arguments that another one takes: what it relies on follows from what that one
    /// does. A multiple of 16, and 4096, are multiples of 4.
    fn takes_all_of(&self, other: &spec::Variant) -> bool {
        let follows = |&(argument, wanted): &(usize, Promise)| {
            other.promises.iter().filter(|(known, _)| *known == argument).any(|(_, known)| match (*known, wanted) {
                (Promise::Equals(number), wanted) => wanted.holds(i128::from(number)),
                (Promise::DivisibleBy(known), Promise::DivisibleBy(wanted)) => {
                    wanted == 0 || (known != 0 && known % wanted == 0)
                }
                (Promise::DivisibleBy(_), Promise::Equals(_)) => false,
            })
        };
        self.promises.iter().all(follows)
    }
}

impl Loaded {
    unsafe fn new(context: &Context, kernel: &'static str, spec: &'static spec::Variant) -> Result<Loaded, Error> {
        /// What a block may have without asking.
        const USUAL_SHARED: u32 = 48 * 1024;
        /// The blocks of a cluster that every GPU with clusters runs.
        const USUAL_CLUSTER: u32 = 8;
        let offers = context.driver().shared_memory(context.device())?;
        if spec.shared > offers {
            return Err(Error::SharedMemory { kernel, needs: spec.shared, offers });
        }
        // SAFETY: the caller vouches for the image.
        let module = unsafe { Module::load(context, spec.image) }?;
        let function = Function(module.function(spec.symbol)?);
        let set = |attribute: c_int, value: u32| module.set(function, attribute, value);
        if spec.shared > USUAL_SHARED {
            set(MAX_DYNAMIC_SHARED, spec.shared)?;
        }
        if spec.cluster.iter().product::<u32>() > USUAL_CLUSTER {
            set(LARGE_CLUSTERS, 1)?;
        }
        Ok(Loaded { spec, function, _module: module })
    }
}

/// What every block of the driver's memory starts at a multiple of (CUDA C++ Programming Guide, "Device Memory").
const ALIGNMENT: u64 = 256;

/// Memory on the GPU for the time of one launch. It is taken and given back in the order of the stream.
struct Scratch {
    driver: &'static Driver,
    /// What the driver gave. 0 if nothing was needed.
    block: Address,
    /// The address in the block that the kernel gets.
    address: Address,
    stream: Handle,
}

impl Scratch {
    fn new(driver: &'static Driver, variant: &spec::Variant, shape: Shape) -> Result<Scratch, Error> {
        let mut scratch = Scratch { driver, block: 0, address: 0, stream: shape.stream };
        let needed = variant.parameters.iter().find_map(|p| match p.value {
            Value::GlobalScratch { bytes_per_block, memory_align } => Some((bytes_per_block, memory_align)),
            _ => None,
        });
        let (each, align) = needed.unwrap_or((0, 1));
        // What needs more than the driver's own alignment takes a larger block.
        let more = if align > ALIGNMENT { align } else { 0 };
        let blocks = shape.blocks.iter().fold(1, |all: u64, &b| all.saturating_mul(u64::from(b)));
        let bytes = each.saturating_mul(blocks);
        if bytes > 0 {
            let bytes = usize::try_from(bytes.saturating_add(more)).unwrap_or(usize::MAX);
            // SAFETY: the address may be written to, and the stream's context is current.
            let status = unsafe { (driver.functions.allocate_on)(&raw mut scratch.block, bytes, shape.stream) };
            driver.check(status, "cuMemAllocAsync")?;
            scratch.address = if more == 0 { scratch.block } else { scratch.block.next_multiple_of(align) };
        }
        Ok(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.block != 0 {
            // SAFETY: the memory was allocated on this stream, and is freed there after the kernel.
            unsafe { (self.driver.functions.free_on)(self.block, self.stream) };
        }
    }
}
