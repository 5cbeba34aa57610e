//! A launch as a file, for `ttc emulate`: what to run a PTX text with, and what should come out.
//!
//! ```json
//! {
//!   "kernel": "add", "grid": [4, 1, 1], "block": [128, 1, 1], "shared": 0,
//!   "buffers": [{"name": "x", "file": "x.bin"}, {"name": "y", "bytes": 4096}],
//!   "arguments": [{"buffer": "x"}, {"buffer": "y"}, {"i32": 1000}],
//!   "expect": [{"buffer": "y", "file": "y.bin"}]
//! }
//! ```
//!
//! A buffer has the contents of a file, a list of numbers (`"u32": [1, 2]`), or so many bytes that nobody has written.
//! Files are named from the folder of the launch file.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::emu::tensor::map::Element;
use crate::emu::tensor::{Swizzle, TensorMap};
use crate::emu::{Argument, BufferId, Launch, Memory};

/// The byte of memory that nobody has written.
const UNWRITTEN: u8 = 0xff;

/// The file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchFile {
    /// The name of the entry; needed where the text has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    #[serde(default = "one")]
    pub cluster: [u32; 3],
    /// The bytes of dynamic shared memory.
    #[serde(default)]
    pub shared: u32,
    #[serde(default)]
    pub buffers: Vec<BufferSpec>,
    #[serde(default)]
    pub arguments: Vec<ArgumentSpec>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expected>,
}

fn one() -> [u32; 3] {
    [1; 3]
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BufferSpec {
    pub name: String,
    /// Whether the launch before this one may use it until `griddepcontrol.wait`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub earlier: bool,
    #[serde(flatten)]
    pub contents: Source,
}

/// What a buffer should hold after the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Expected {
    pub buffer: String,
    #[serde(flatten)]
    pub contents: Source,
}

/// The bytes of a buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Those of a file.
    File(String),
    /// Those of a file, again and again.
    Repeated {
        file: String,
        bytes: usize,
    },
    /// So many that nobody has written.
    Bytes(usize),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    F32(Vec<f32>),
}

impl Source {
    /// The bytes, and whether anybody has written them.
    fn read(&self, folder: &Path) -> Result<(Vec<u8>, bool), String> {
        let written = match self {
            Source::File(file) => read(folder, file)?,
            Source::Repeated { file, bytes } => {
                let part = read(folder, file)?;
                if part.is_empty() {
                    return Err(format!("`{file}` is empty, and cannot be repeated"));
                }
                let mut all = part.repeat(bytes.div_ceil(part.len()));
                all.truncate(*bytes);
                all
            }
            Source::Bytes(count) => return Ok((vec![UNWRITTEN; *count], false)),
            Source::U8(v) => v.clone(),
            Source::U16(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Source::U32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Source::U64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Source::F32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        };
        Ok((written, true))
    }
}

/// One argument: a buffer, or a number by its type.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentSpec {
    Buffer(String),
    I32(i32),
    I64(i64),
    F32(f32),
    F64(f64),
    /// The bytes of a structure or of a number of another type.
    Bytes(Vec<u8>),
    TensorMap(MapSpec),
}

/// A tensor map, the innermost axis first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapSpec {
    pub buffer: String,
    /// The number of the element type, as in `tensormap.replace`.
    pub element: u32,
    pub dims: Vec<u32>,
    /// Bytes, of every axis but the innermost.
    pub strides: Vec<u64>,
    #[serde(rename = "box")]
    pub box_dims: Vec<u32>,
    #[serde(default)]
    pub swizzle: u32,
    #[serde(default)]
    pub interleave: u32,
    #[serde(default)]
    pub fill_nan: bool,
}

impl LaunchFile {
    /// The launch and its memory. Files are read from `folder`.
    ///
    /// # Errors
    /// Says what is wrong with the file.
    pub fn load(&self, folder: &Path) -> Result<(Launch, Memory), String> {
        let mut memory = Memory::new();
        for b in &self.buffers {
            let id = match b.contents.read(folder)? {
                (bytes, true) => memory.add(&b.name, &bytes),
                (bytes, false) => memory.add_uninit(&b.name, &bytes),
            };
            if b.earlier {
                memory.share_with_earlier(id);
            }
        }
        let arguments = self.arguments.iter().map(|a| self.argument(a, &memory)).collect::<Result<_, _>>()?;
        let launch = Launch {
            grid: self.grid,
            block: self.block,
            cluster: self.cluster,
            dynamic_shared: self.shared,
            arguments,
        };
        Ok((launch, memory))
    }

    /// The number of a buffer.
    ///
    /// # Errors
    /// Says that there is none of this name.
    pub fn buffer(&self, name: &str) -> Result<BufferId, String> {
        let index = self.buffers.iter().position(|b| b.name == name);
        index.map(|i| BufferId(i as u32)).ok_or_else(|| format!("there is no buffer `{name}`"))
    }

    fn argument(&self, spec: &ArgumentSpec, memory: &Memory) -> Result<Argument, String> {
        Ok(match spec {
            ArgumentSpec::Buffer(name) => Argument::Pointer { buffer: self.buffer(name)?, offset: 0 },
            ArgumentSpec::I32(v) => Argument::Scalar(v.to_le_bytes().to_vec()),
            ArgumentSpec::I64(v) => Argument::Scalar(v.to_le_bytes().to_vec()),
            ArgumentSpec::F32(v) => Argument::Scalar(v.to_le_bytes().to_vec()),
            ArgumentSpec::F64(v) => Argument::Scalar(v.to_le_bytes().to_vec()),
            ArgumentSpec::Bytes(v) => Argument::Scalar(v.clone()),
            ArgumentSpec::TensorMap(map) => Argument::TensorMap(map.map(memory.address(self.buffer(&map.buffer)?))?),
        })
    }

    /// What each buffer should hold.
    ///
    /// # Errors
    /// A file that cannot be read, or a buffer that is not there.
    pub fn expected(&self, folder: &Path) -> Result<Vec<(String, BufferId, Vec<u8>)>, String> {
        let one = |e: &Expected| Ok((e.buffer.clone(), self.buffer(&e.buffer)?, e.contents.read(folder)?.0));
        self.expect.iter().map(one).collect()
    }
}

/// Files by name, with their bytes.
pub type Files = Vec<(String, Vec<u8>)>;

impl LaunchFile {
    /// The file of a launch that can run, with the files that it names. `after` gives what a buffer of `results` holds
    /// after the run.
    #[must_use]
    pub fn of(
        prepared: &super::Prepared,
        results: &[String],
        after: impl Fn(&str) -> Option<Vec<u8>>,
    ) -> (LaunchFile, Files) {
        let (mut files, mut buffers, mut expect) = (vec![], vec![], vec![]);
        for (n, (name, contents)) in prepared.buffers.iter().enumerate() {
            let source = if contents.written {
                let file = format!("buffer{n}.bin");
                files.push((file.clone(), contents.bytes.clone()));
                Source::File(file)
            } else {
                Source::Bytes(contents.bytes.len())
            };
            buffers.push(BufferSpec { name: name.clone(), earlier: false, contents: source });
            if let (true, Some(bytes)) = (results.contains(name), after(name)) {
                let file = format!("expected{n}.bin");
                files.push((file.clone(), bytes));
                expect.push(Expected { buffer: name.clone(), contents: Source::File(file) });
            }
        }
        let name = |id: &BufferId| prepared.buffers[id.0 as usize].0.clone();
        let memory = Memory::new();
        let owner = |map: &TensorMap| {
            let ids = (0..prepared.buffers.len() as u32).map(BufferId);
            ids.filter(|id| memory.address(*id) == map.address).map(|id| name(&id)).next().unwrap_or_default()
        };
        let argument = |a: &Argument| match a {
            Argument::Scalar(bytes) => ArgumentSpec::Bytes(bytes.clone()),
            Argument::Pointer { buffer, .. } => ArgumentSpec::Buffer(name(buffer)),
            Argument::TensorMap(map) => ArgumentSpec::TensorMap(MapSpec::of(map, &owner(map))),
        };
        let Launch { grid, block, cluster, dynamic_shared, arguments } = &prepared.launch;
        let file = LaunchFile {
            kernel: Some(prepared.kernel.clone()),
            grid: *grid,
            block: *block,
            cluster: *cluster,
            shared: *dynamic_shared,
            buffers,
            arguments: arguments.iter().map(argument).collect(),
            expect,
        };
        (file, files)
    }
}

impl MapSpec {
    fn map(&self, address: u64) -> Result<TensorMap, String> {
        let rank = self.dims.len();
        if !(1..=5).contains(&rank) || self.box_dims.len() != rank || self.strides.len() + 1 != rank {
            return Err("a tensor map of 1 to 5 axes has as many sizes of its box, and a stride less".to_owned());
        }
        let element = Element::from_number(self.element);
        let swizzle = [Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128];
        let mut map = TensorMap {
            element: element.ok_or_else(|| format!("there is no element type {}", self.element))?,
            rank: rank as u32,
            address,
            interleave: self.interleave,
            swizzle: *swizzle
                .get(self.swizzle as usize)
                .ok_or_else(|| format!("there is no swizzle {}", self.swizzle))?,
            fill_nan: self.fill_nan,
            ..TensorMap::default()
        };
        map.dims[..rank].copy_from_slice(&self.dims);
        map.box_dims[..rank].copy_from_slice(&self.box_dims);
        map.element_strides[..rank].fill(1);
        map.strides[..rank - 1].copy_from_slice(&self.strides);
        Ok(map)
    }

    /// The specification of a map over a buffer.
    #[must_use]
    pub fn of(map: &TensorMap, buffer: &str) -> MapSpec {
        let rank = (map.rank as usize).clamp(1, 5);
        let swizzle = match map.swizzle {
            Swizzle::None => 0,
            Swizzle::Bytes32 => 1,
            Swizzle::Bytes64 => 2,
            Swizzle::Bytes128 => 3,
        };
        MapSpec {
            buffer: buffer.to_owned(),
            element: map.element.number(),
            dims: map.dims[..rank].to_vec(),
            strides: map.strides[..rank - 1].to_vec(),
            box_dims: map.box_dims[..rank].to_vec(),
            swizzle,
            interleave: map.interleave,
            fill_nan: map.fill_nan,
        }
    }
}

fn read(folder: &Path, file: &str) -> Result<Vec<u8>, String> {
    std::fs::read(folder.join(file)).map_err(|e| format!("`{file}` cannot be read: {e}"))
}
