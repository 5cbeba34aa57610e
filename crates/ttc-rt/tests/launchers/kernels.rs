// Launchers of GPU kernels, printed by ttc. Do not edit: change the kernels, and print them again.

/// The kernel `add`, compiled for sm_80, sm_90a.
#[rustfmt::skip]
#[allow(clippy::all, clippy::nursery, clippy::pedantic)]
#[allow(dead_code, non_camel_case_types, non_snake_case, unreachable_pub, unused_imports)]
pub mod add {
    use ttc_rt::Argument::*;
    use ttc_rt::{Expr, Promise, spec};

    /// The arguments of `add`.
    #[derive(Debug)]
    pub struct Args<'a> {
        /// `*fp32`; read; there is a variant for a multiple of 16
        pub x_ptr: ttc_rt::DevicePtr<'a, f32>,
        /// `*fp32`; written; there is a variant for a multiple of 16
        pub out_ptr: ttc_rt::DevicePtrMut<'a, f32>,
        /// `i32`; there is a variant for 1 or a multiple of 16
        pub n: i32,
    }

    /// `add`, loaded into a context. Any number of threads may launch it.
    #[derive(Debug)]
    pub struct Kernel(ttc_rt::Kernel);

    impl Kernel {
        /// Loads the variants that the context's GPU runs.
        ///
        /// # Errors
        /// There is none, or the driver refuses one.
        pub fn load(context: &ttc_rt::Context) -> Result<Kernel, ttc_rt::Error> {
            // SAFETY: the tables were printed with their images.
            unsafe { ttc_rt::Kernel::load(context, &SPEC) }.map(Kernel)
        }

        /// What the tables and the context are, for launches by hand.
        pub fn inner(&self) -> &ttc_rt::Kernel {
            &self.0
        }

        /// Launches `(cdiv(n, 1024), 1, 1)` programs. A grid without programs is no launch and no error.
        ///
        /// # Errors
        /// An argument breaks a promise, the grid cannot be, or the driver refuses the launch.
        ///
        /// # Safety
        /// What the kernel reads and writes with these arguments is memory that stays until it has run, and nobody
        /// else writes or reads it meanwhile.
        pub unsafe fn launch(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            args: &Args<'_>,
        ) -> Result<(), ttc_rt::Error> {
            // SAFETY: the caller keeps the same promises.
            unsafe { self.start(stream, None, args) }
        }

        /// Launches `x * y * z` programs, for a grid `[x, y, z]`.
        ///
        /// # Errors
        /// An argument breaks a promise, the grid cannot be, or the driver refuses the launch.
        ///
        /// # Safety
        /// What the kernel reads and writes with these arguments is memory that stays until it has run, and nobody
        /// else writes or reads it meanwhile.
        pub unsafe fn launch_grid(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            grid: [u32; 3],
            args: &Args<'_>,
        ) -> Result<(), ttc_rt::Error> {
            // SAFETY: the caller keeps the same promises.
            unsafe { self.start(stream, Some(grid), args) }
        }

        unsafe fn start(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            grid: Option<[u32; 3]>,
            args: &Args<'_>,
        ) -> Result<(), ttc_rt::Error> {
            let arguments: [ttc_rt::Argument; 3] = [
                Pointer(args.x_ptr.address()),
                Pointer(args.out_ptr.address()),
                Int(i64::from(args.n)),
            ];
            let mut parameters = ttc_rt::Parameters::<20>::new();
            // SAFETY: the arguments are those of the tables, and the caller keeps the promises.
            unsafe { self.0.launch(stream, grid, &arguments, parameters.as_mut()) }
        }
    }

    static SPEC: spec::Kernel = spec::Kernel {
        name: "add",
        arguments: &["x_ptr", "out_ptr", "n"],
        variants: &[
            // BLOCK = 1024
            spec::Variant {
                arch: "sm_90a",
                runs_on: spec::RunsOn::Capability { major: 9, minor: 0, exact: true },
                symbol: "add",
                threads: 128,
                shared: 0,
                cluster: [1, 1, 1],
                grid: Some([Expr::Cdiv(&Expr::Argument(2), &Expr::Int(1024)), Expr::Int(1), Expr::Int(1)]),
                promises: &[(2, Promise::Equals(1))],
                parameters: &[
                    spec::Parameter { value: spec::Value::Argument(0), offset: 0, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(1), offset: 8, size: 8 },
                ],
                image: &IMAGE_0.0,
            },
            // BLOCK = 1024
            spec::Variant {
                arch: "sm_80",
                runs_on: spec::RunsOn::Capability { major: 8, minor: 0, exact: false },
                symbol: "add",
                threads: 128,
                shared: 0,
                cluster: [1, 1, 1],
                grid: Some([Expr::Cdiv(&Expr::Argument(2), &Expr::Int(1024)), Expr::Int(1), Expr::Int(1)]),
                promises: &[(2, Promise::Equals(1))],
                parameters: &[
                    spec::Parameter { value: spec::Value::Argument(0), offset: 0, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(1), offset: 8, size: 8 },
                ],
                image: &IMAGE_1.0,
            },
            // BLOCK = 1024
            spec::Variant {
                arch: "sm_90a",
                runs_on: spec::RunsOn::Capability { major: 9, minor: 0, exact: true },
                symbol: "add",
                threads: 128,
                shared: 0,
                cluster: [1, 1, 1],
                grid: Some([Expr::Cdiv(&Expr::Argument(2), &Expr::Int(1024)), Expr::Int(1), Expr::Int(1)]),
                promises: &[(0, Promise::DivisibleBy(16)), (1, Promise::DivisibleBy(16)), (2, Promise::DivisibleBy(16))],
                parameters: &[
                    spec::Parameter { value: spec::Value::Argument(0), offset: 0, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(1), offset: 8, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(2), offset: 16, size: 4 },
                ],
                image: &IMAGE_2.0,
            },
            // BLOCK = 1024
            spec::Variant {
                arch: "sm_80",
                runs_on: spec::RunsOn::Capability { major: 8, minor: 0, exact: false },
                symbol: "add",
                threads: 128,
                shared: 0,
                cluster: [1, 1, 1],
                grid: Some([Expr::Cdiv(&Expr::Argument(2), &Expr::Int(1024)), Expr::Int(1), Expr::Int(1)]),
                promises: &[(0, Promise::DivisibleBy(16)), (1, Promise::DivisibleBy(16)), (2, Promise::DivisibleBy(16))],
                parameters: &[
                    spec::Parameter { value: spec::Value::Argument(0), offset: 0, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(1), offset: 8, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(2), offset: 16, size: 4 },
                ],
                image: &IMAGE_3.0,
            },
            // BLOCK = 1024
            spec::Variant {
                arch: "sm_90a",
                runs_on: spec::RunsOn::Capability { major: 9, minor: 0, exact: true },
                symbol: "add",
                threads: 128,
                shared: 0,
                cluster: [1, 1, 1],
                grid: Some([Expr::Cdiv(&Expr::Argument(2), &Expr::Int(1024)), Expr::Int(1), Expr::Int(1)]),
                promises: &[],
                parameters: &[
                    spec::Parameter { value: spec::Value::Argument(0), offset: 0, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(1), offset: 8, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(2), offset: 16, size: 4 },
                ],
                image: &IMAGE_4.0,
            },
            // BLOCK = 1024
            spec::Variant {
                arch: "sm_80",
                runs_on: spec::RunsOn::Capability { major: 8, minor: 0, exact: false },
                symbol: "add",
                threads: 128,
                shared: 0,
                cluster: [1, 1, 1],
                grid: Some([Expr::Cdiv(&Expr::Argument(2), &Expr::Int(1024)), Expr::Int(1), Expr::Int(1)]),
                promises: &[],
                parameters: &[
                    spec::Parameter { value: spec::Value::Argument(0), offset: 0, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(1), offset: 8, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(2), offset: 16, size: 4 },
                ],
                image: &IMAGE_5.0,
            },
        ],
    };

    static IMAGE_0: spec::Aligned<[u8; 23]> = spec::Aligned(*b"\
add sm_90a one|0+8|8+8;");

    static IMAGE_1: spec::Aligned<[u8; 22]> = spec::Aligned(*b"\
add sm_80 one|0+8|8+8;");

    static IMAGE_2: spec::Aligned<[u8; 27]> = spec::Aligned(*b"\
add sm_90a 16|0+8|8+8|16+4;");

    static IMAGE_3: spec::Aligned<[u8; 26]> = spec::Aligned(*b"\
add sm_80 16|0+8|8+8|16+4;");

    static IMAGE_4: spec::Aligned<[u8; 28]> = spec::Aligned(*b"\
add sm_90a any|0+8|8+8|16+4;");

    static IMAGE_5: spec::Aligned<[u8; 27]> = spec::Aligned(*b"\
add sm_80 any|0+8|8+8|16+4;");
}

/// The kernel `copy`, compiled for sm_80, sm_90a.
#[rustfmt::skip]
#[allow(clippy::all, clippy::nursery, clippy::pedantic)]
#[allow(dead_code, non_camel_case_types, non_snake_case, unreachable_pub, unused_imports)]
pub mod copy {
    use ttc_rt::Argument::*;
    use ttc_rt::{Expr, Promise, spec};

    /// The arguments of `copy`.
    #[derive(Debug)]
    pub struct Args<'a> {
        /// `tensordesc<fp32[64, 32]>`; read
        pub from: ttc_rt::Tensor<'a, f32, 2>,
        /// `tensordesc<fp32[64, 32]>`; written
        pub to: ttc_rt::TensorMut<'a, f32, 2>,
    }

    /// `copy`, loaded into a context. Any number of threads may launch it.
    #[derive(Debug)]
    pub struct Kernel(ttc_rt::Kernel);

    impl Kernel {
        /// Loads the variants that the context's GPU runs.
        ///
        /// # Errors
        /// There is none, or the driver refuses one.
        pub fn load(context: &ttc_rt::Context) -> Result<Kernel, ttc_rt::Error> {
            // SAFETY: the tables were printed with their images.
            unsafe { ttc_rt::Kernel::load(context, &SPEC) }.map(Kernel)
        }

        /// What the tables and the context are, for launches by hand.
        pub fn inner(&self) -> &ttc_rt::Kernel {
            &self.0
        }

        /// Launches `x * y * z` programs, for a grid `[x, y, z]`.
        ///
        /// # Errors
        /// An argument breaks a promise, the grid cannot be, or the driver refuses the launch.
        ///
        /// # Safety
        /// What the kernel reads and writes with these arguments is memory that stays until it has run, and nobody
        /// else writes or reads it meanwhile.
        pub unsafe fn launch_grid(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            grid: [u32; 3],
            args: &Args<'_>,
        ) -> Result<(), ttc_rt::Error> {
            // SAFETY: the caller keeps the same promises.
            unsafe { self.start(stream, Some(grid), args) }
        }

        unsafe fn start(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            grid: Option<[u32; 3]>,
            args: &Args<'_>,
        ) -> Result<(), ttc_rt::Error> {
            let arguments: [ttc_rt::Argument; 2] = [
                Tensor(args.from.raw()),
                Tensor(args.to.raw()),
            ];
            let mut parameters = ttc_rt::Parameters::<344>::new();
            // SAFETY: the arguments are those of the tables, and the caller keeps the promises.
            unsafe { self.0.launch(stream, grid, &arguments, parameters.as_mut()) }
        }
    }

    static SPEC: spec::Kernel = spec::Kernel {
        name: "copy",
        arguments: &["from", "to"],
        variants: &[
            // BLOCK = 1024
            spec::Variant {
                arch: "sm_90a",
                runs_on: spec::RunsOn::Capability { major: 9, minor: 0, exact: true },
                symbol: "copy",
                threads: 128,
                shared: 65536,
                cluster: [1, 1, 1],
                grid: None,
                promises: &[],
                parameters: &[
                    spec::Parameter { value: spec::Value::TensorMap(0, &spec::Recipe {
                        data_type: 7,
                        element_bytes: 4,
                        box_dim: &[32, 64],
                        element_strides: &[1, 1],
                        interleave: 0,
                        swizzle: 3,
                        l2_promotion: 2,
                        fill: 0,
                        packed: 1,
                    }), offset: 0, size: 128 },
                    spec::Parameter { value: spec::Value::Extent(0, 0), offset: 128, size: 4 },
                    spec::Parameter { value: spec::Value::Extent(0, 1), offset: 132, size: 4 },
                    spec::Parameter { value: spec::Value::Stride(0, 0), offset: 136, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 1), offset: 144, size: 8 },
                    spec::Parameter { value: spec::Value::TensorMap(1, &spec::Recipe {
                        data_type: 7,
                        element_bytes: 4,
                        box_dim: &[32, 64],
                        element_strides: &[1, 1],
                        interleave: 0,
                        swizzle: 3,
                        l2_promotion: 2,
                        fill: 0,
                        packed: 1,
                    }), offset: 192, size: 128 },
                    spec::Parameter { value: spec::Value::Extent(1, 0), offset: 320, size: 4 },
                    spec::Parameter { value: spec::Value::Extent(1, 1), offset: 324, size: 4 },
                    spec::Parameter { value: spec::Value::Stride(1, 0), offset: 328, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(1, 1), offset: 336, size: 8 },
                ],
                image: &IMAGE_0.0,
            },
            // BLOCK = 1024
            spec::Variant {
                arch: "sm_80",
                runs_on: spec::RunsOn::Capability { major: 8, minor: 0, exact: false },
                symbol: "copy",
                threads: 128,
                shared: 65536,
                cluster: [1, 1, 1],
                grid: None,
                promises: &[],
                parameters: &[
                    spec::Parameter { value: spec::Value::Base(0), offset: 0, size: 8 },
                    spec::Parameter { value: spec::Value::Extent(0, 0), offset: 8, size: 8 },
                    spec::Parameter { value: spec::Value::Extent(0, 1), offset: 16, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 0), offset: 24, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 1), offset: 32, size: 8 },
                    spec::Parameter { value: spec::Value::PadsWithNan(0), offset: 40, size: 1 },
                    spec::Parameter { value: spec::Value::RoundsToTf32(0), offset: 41, size: 1 },
                    spec::Parameter { value: spec::Value::Extent(0, 0), offset: 44, size: 4 },
                    spec::Parameter { value: spec::Value::Extent(0, 1), offset: 48, size: 4 },
                    spec::Parameter { value: spec::Value::Stride(0, 0), offset: 56, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 1), offset: 64, size: 8 },
                    spec::Parameter { value: spec::Value::Base(1), offset: 72, size: 8 },
                    spec::Parameter { value: spec::Value::Extent(1, 0), offset: 80, size: 8 },
                    spec::Parameter { value: spec::Value::Extent(1, 1), offset: 88, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(1, 0), offset: 96, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(1, 1), offset: 104, size: 8 },
                    spec::Parameter { value: spec::Value::PadsWithNan(1), offset: 112, size: 1 },
                    spec::Parameter { value: spec::Value::RoundsToTf32(1), offset: 113, size: 1 },
                    spec::Parameter { value: spec::Value::Extent(1, 0), offset: 116, size: 4 },
                    spec::Parameter { value: spec::Value::Extent(1, 1), offset: 120, size: 4 },
                    spec::Parameter { value: spec::Value::Stride(1, 0), offset: 128, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(1, 1), offset: 136, size: 8 },
                ],
                image: &IMAGE_1.0,
            },
        ],
    };

    static IMAGE_0: spec::Aligned<[u8; 80]> = spec::Aligned(*b"\
copy sm_90a|0+128|128+4|132+4|136+8|144+8|192+128|320+4|324+4|328+8|336+8;\0\x7f\"\\ \x0a");

    static IMAGE_1: spec::Aligned<[u8; 132]> = spec::Aligned(*b"\
copy sm_80|0+8|8+8|16+8|24+8|32+8|40+1|41+1|44+4|48+4|56+8|64+8|72+8|80+8|88+8|96+8|104+8|112+1|113+1|116+4|120+4|1\
28+8|136+8;\0\x7f\"\\ \x0a");
}

/// The kernel `rows`, compiled for sm_90.
#[rustfmt::skip]
#[allow(clippy::all, clippy::nursery, clippy::pedantic)]
#[allow(dead_code, non_camel_case_types, non_snake_case, unreachable_pub, unused_imports)]
pub mod rows {
    use ttc_rt::Argument::*;
    use ttc_rt::{Expr, Promise, spec};

    /// The arguments of `rows`.
    #[derive(Debug)]
    pub struct Args<'a> {
        /// `*fp16`; read
        pub x: ttc_rt::DevicePtr<'a, ttc_rt::F16>,
        /// `i32`
        pub m: i32,
        /// `u64`
        pub n: u64,
        /// `i32`
        pub stride: i32,
        /// `i64`
        pub batch: i64,
    }

    /// `rows`, loaded into a context. Any number of threads may launch it.
    #[derive(Debug)]
    pub struct Kernel(ttc_rt::Kernel);

    impl Kernel {
        /// Loads the variants that the context's GPU runs.
        ///
        /// # Errors
        /// There is none, or the driver refuses one.
        pub fn load(context: &ttc_rt::Context) -> Result<Kernel, ttc_rt::Error> {
            // SAFETY: the tables were printed with their images.
            unsafe { ttc_rt::Kernel::load(context, &SPEC) }.map(Kernel)
        }

        /// What the tables and the context are, for launches by hand.
        pub fn inner(&self) -> &ttc_rt::Kernel {
            &self.0
        }

        /// Launches `x * y * z` programs, for a grid `[x, y, z]`.
        ///
        /// # Errors
        /// An argument breaks a promise, the grid cannot be, or the driver refuses the launch.
        ///
        /// # Safety
        /// What the kernel reads and writes with these arguments is memory that stays until it has run, and nobody
        /// else writes or reads it meanwhile.
        pub unsafe fn launch_grid(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            grid: [u32; 3],
            args: &Args<'_>,
        ) -> Result<(), ttc_rt::Error> {
            // SAFETY: the caller keeps the same promises.
            unsafe { self.start(stream, Some(grid), args) }
        }

        unsafe fn start(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            grid: Option<[u32; 3]>,
            args: &Args<'_>,
        ) -> Result<(), ttc_rt::Error> {
            let arguments: [ttc_rt::Argument; 5] = [
                Pointer(args.x.address()),
                Int(i64::from(args.m)),
                Unsigned(args.n),
                Int(i64::from(args.stride)),
                Int(args.batch),
            ];
            let mut parameters = ttc_rt::Parameters::<200>::new();
            // SAFETY: the arguments are those of the tables, and the caller keeps the promises.
            unsafe { self.0.launch(stream, grid, &arguments, parameters.as_mut()) }
        }
    }

    static SPEC: spec::Kernel = spec::Kernel {
        name: "rows",
        arguments: &["x", "m", "n", "stride", "batch"],
        variants: &[
            // BLOCK = 1024
            spec::Variant {
                arch: "sm_90",
                runs_on: spec::RunsOn::Capability { major: 9, minor: 0, exact: false },
                symbol: "rows",
                threads: 128,
                shared: 0,
                cluster: [1, 1, 1],
                grid: None,
                promises: &[],
                parameters: &[
                    spec::Parameter { value: spec::Value::Argument(0), offset: 0, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(1), offset: 8, size: 4 },
                    spec::Parameter { value: spec::Value::Argument(2), offset: 16, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(3), offset: 24, size: 4 },
                    spec::Parameter { value: spec::Value::Argument(4), offset: 32, size: 8 },
                    spec::Parameter { value: spec::Value::ArrayMap(&spec::ArrayMap {
                        base: 0,
                        extents: &[Expr::Int(2147483647), Expr::Max(&Expr::Min(&Expr::Argument(1), &Expr::Mul(&Expr::Argument(2), &Expr::Int(2))), &Expr::Int(1)), Expr::Int(64)],
                        strides: &[Expr::Argument(4), Expr::Mul(&Expr::Argument(3), &Expr::Int(2))],
                        recipe: &spec::Recipe {
                        data_type: 6,
                        element_bytes: 2,
                        box_dim: &[64, 128, 1],
                        element_strides: &[1, 1, 1],
                        interleave: 0,
                        swizzle: 3,
                        l2_promotion: 2,
                        fill: 0,
                        packed: 1,
                    },
                        words: "[2147483647, max(min(m, n * 2), 1), 64] with the strides [batch, stride * 2, 1]",
                    }), offset: 64, size: 128 },
                    spec::Parameter { value: spec::Value::GlobalScratch { bytes_per_block: 0, memory_align: 1 }, offset: 192, size: 8 },
                ],
                image: &IMAGE_0.0,
            },
        ],
    };

    static IMAGE_0: spec::Aligned<[u8; 53]> = spec::Aligned(*b"\
rows sm_90|0+8|8+4|16+8|24+4|32+8|64+128|192+8;\0\x7f\"\\ \x0a");
}

/// The kernel `clusters`, compiled for sm_90.
#[rustfmt::skip]
#[allow(clippy::all, clippy::nursery, clippy::pedantic)]
#[allow(dead_code, non_camel_case_types, non_snake_case, unreachable_pub, unused_imports)]
pub mod clusters {
    use ttc_rt::Argument::*;
    use ttc_rt::{Expr, Promise, spec};

    /// The arguments of `clusters`.
    #[derive(Debug)]
    pub struct Args<'a> {
        /// `*i64`; read and written
        pub table: ttc_rt::DevicePtrMut<'a, i64>,
        /// `u64`
        pub rows: u64,
    }

    /// `clusters`, loaded into a context. Any number of threads may launch it.
    #[derive(Debug)]
    pub struct Kernel(ttc_rt::Kernel);

    impl Kernel {
        /// Loads the variants that the context's GPU runs.
        ///
        /// # Errors
        /// There is none, or the driver refuses one.
        pub fn load(context: &ttc_rt::Context) -> Result<Kernel, ttc_rt::Error> {
            // SAFETY: the tables were printed with their images.
            unsafe { ttc_rt::Kernel::load(context, &SPEC) }.map(Kernel)
        }

        /// What the tables and the context are, for launches by hand.
        pub fn inner(&self) -> &ttc_rt::Kernel {
            &self.0
        }

        /// Whether a launch may start before the kernel before it on its stream has ended. The kernel then
        /// waits where its source says so.
        pub fn set_start_early(&mut self, start_early: bool) {
            self.0.set_start_early(start_early);
        }

        /// Launches `(min(rows, 132), max(rows // 4, 1) * 2, (rows % 3) + (5 - rows))` programs. A grid without programs is no launch and no error.
        ///
        /// # Errors
        /// An argument breaks a promise, the grid cannot be, or the driver refuses the launch.
        ///
        /// # Safety
        /// What the kernel reads and writes with these arguments is memory that stays until it has run, and nobody
        /// else writes or reads it meanwhile.
        /// This kernel also writes to memory whose address it reads from memory or computes from a number.
        pub unsafe fn launch(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            args: &Args<'_>,
        ) -> Result<(), ttc_rt::Error> {
            // SAFETY: the caller keeps the same promises.
            unsafe { self.start(stream, None, args) }
        }

        /// Launches `x * y * z` programs, for a grid `[x, y, z]`.
        ///
        /// # Errors
        /// An argument breaks a promise, the grid cannot be, or the driver refuses the launch.
        ///
        /// # Safety
        /// What the kernel reads and writes with these arguments is memory that stays until it has run, and nobody
        /// else writes or reads it meanwhile.
        /// This kernel also writes to memory whose address it reads from memory or computes from a number.
        pub unsafe fn launch_grid(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            grid: [u32; 3],
            args: &Args<'_>,
        ) -> Result<(), ttc_rt::Error> {
            // SAFETY: the caller keeps the same promises.
            unsafe { self.start(stream, Some(grid), args) }
        }

        unsafe fn start(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            grid: Option<[u32; 3]>,
            args: &Args<'_>,
        ) -> Result<(), ttc_rt::Error> {
            let arguments: [ttc_rt::Argument; 2] = [
                Pointer(args.table.address()),
                Unsigned(args.rows),
            ];
            let mut parameters = ttc_rt::Parameters::<32>::new();
            // SAFETY: the arguments are those of the tables, and the caller keeps the promises.
            unsafe { self.0.launch(stream, grid, &arguments, parameters.as_mut()) }
        }
    }

    static SPEC: spec::Kernel = spec::Kernel {
        name: "clusters",
        arguments: &["table", "rows"],
        variants: &[
            // BLOCK = 1024
            spec::Variant {
                arch: "sm_90",
                runs_on: spec::RunsOn::Capability { major: 9, minor: 0, exact: false },
                symbol: "clusters",
                threads: 256,
                shared: 0,
                cluster: [16, 1, 1],
                grid: Some([Expr::Min(&Expr::Argument(1), &Expr::Int(132)), Expr::Mul(&Expr::Max(&Expr::Div(&Expr::Argument(1), &Expr::Int(4)), &Expr::Int(1)), &Expr::Int(2)), Expr::Add(&Expr::Mod(&Expr::Argument(1), &Expr::Int(3)), &Expr::Sub(&Expr::Int(5), &Expr::Argument(1)))]),
                promises: &[],
                parameters: &[
                    spec::Parameter { value: spec::Value::Argument(0), offset: 0, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(1), offset: 8, size: 8 },
                    spec::Parameter { value: spec::Value::GlobalScratch { bytes_per_block: 256, memory_align: 1024 }, offset: 16, size: 8 },
                    spec::Parameter { value: spec::Value::ProfileScratch, offset: 24, size: 8 },
                ],
                image: &IMAGE_0.0,
            },
        ],
    };

    static IMAGE_0: spec::Aligned<[u8; 39]> = spec::Aligned(*b"\
clusters sm_90|0+8|8+8|16+8|24+8;\0\x7f\"\\ \x0a");
}

/// The kernel `loop`, compiled for sm_80.
#[rustfmt::skip]
#[allow(clippy::all, clippy::nursery, clippy::pedantic)]
#[allow(dead_code, non_camel_case_types, non_snake_case, unreachable_pub, unused_imports)]
pub mod r#loop {
    use ttc_rt::Argument::*;
    use ttc_rt::{Expr, Promise, spec};

    /// The arguments of `loop`.
    #[derive(Debug)]
    pub struct Args<'a> {
        /// `i1`
        pub r#type: bool,
        /// `i8`
        pub self_: i8,
        /// `u16`
        pub a: u16,
        /// `i64`
        pub b: i64,
        /// `u32`
        pub c: u32,
        /// `fp16`
        pub d: ttc_rt::F16,
        /// `bf16`
        pub e: ttc_rt::Bf16,
        /// `fp32`
        pub f: f32,
        /// `fp64`
        pub g: f64,
        /// `*fp8e4nv`; read
        pub ___: ttc_rt::DevicePtr<'a, ttc_rt::F8E4M3>,
        /// `*kfp8e5`; read
        pub h: ttc_rt::DevicePtr<'a, ttc_rt::F8E5M2>,
        /// `*bf16`; read
        pub i: ttc_rt::DevicePtr<'a, ttc_rt::Bf16>,
        /// `**fp32`; read
        pub j: ttc_rt::DevicePtr<'a, u64>,
        /// `*i1`; read
        pub k: ttc_rt::DevicePtr<'a, u8>,
    }

    /// `loop`, loaded into a context. Any number of threads may launch it.
    #[derive(Debug)]
    pub struct Kernel(ttc_rt::Kernel);

    impl Kernel {
        /// Loads the variants that the context's GPU runs.
        ///
        /// # Errors
        /// There is none, or the driver refuses one.
        pub fn load(context: &ttc_rt::Context) -> Result<Kernel, ttc_rt::Error> {
            // SAFETY: the tables were printed with their images.
            unsafe { ttc_rt::Kernel::load(context, &SPEC) }.map(Kernel)
        }

        /// What the tables and the context are, for launches by hand.
        pub fn inner(&self) -> &ttc_rt::Kernel {
            &self.0
        }

        /// Launches `x * y * z` programs, for a grid `[x, y, z]`.
        ///
        /// # Errors
        /// An argument breaks a promise, the grid cannot be, or the driver refuses the launch.
        ///
        /// # Safety
        /// What the kernel reads and writes with these arguments is memory that stays until it has run, and nobody
        /// else writes or reads it meanwhile.
        pub unsafe fn launch_grid(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            grid: [u32; 3],
            args: &Args<'_>,
        ) -> Result<(), ttc_rt::Error> {
            // SAFETY: the caller keeps the same promises.
            unsafe { self.start(stream, Some(grid), args) }
        }

        unsafe fn start(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            grid: Option<[u32; 3]>,
            args: &Args<'_>,
        ) -> Result<(), ttc_rt::Error> {
            let arguments: [ttc_rt::Argument; 14] = [
                Unsigned(u64::from(args.r#type)),
                Int(i64::from(args.self_)),
                Unsigned(u64::from(args.a)),
                Int(args.b),
                Unsigned(u64::from(args.c)),
                Float(u64::from(args.d.0)),
                Float(u64::from(args.e.0)),
                Float(u64::from(args.f.to_bits())),
                Float(args.g.to_bits()),
                Pointer(args.___.address()),
                Pointer(args.h.address()),
                Pointer(args.i.address()),
                Pointer(args.j.address()),
                Pointer(args.k.address()),
            ];
            let mut parameters = ttc_rt::Parameters::<80>::new();
            // SAFETY: the arguments are those of the tables, and the caller keeps the promises.
            unsafe { self.0.launch(stream, grid, &arguments, parameters.as_mut()) }
        }
    }

    static SPEC: spec::Kernel = spec::Kernel {
        name: "loop",
        arguments: &["type", "self", "a", "b", "c", "d", "e", "f", "g", "\u{e9}", "h", "i", "j", "k"],
        variants: &[
            // BLOCK = 1024
            spec::Variant {
                arch: "sm_80",
                runs_on: spec::RunsOn::Capability { major: 8, minor: 0, exact: false },
                symbol: "loop",
                threads: 128,
                shared: 0,
                cluster: [1, 1, 1],
                grid: None,
                promises: &[],
                parameters: &[
                    spec::Parameter { value: spec::Value::Argument(0), offset: 0, size: 1 },
                    spec::Parameter { value: spec::Value::Argument(1), offset: 1, size: 1 },
                    spec::Parameter { value: spec::Value::Argument(2), offset: 2, size: 2 },
                    spec::Parameter { value: spec::Value::Argument(3), offset: 8, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(4), offset: 16, size: 4 },
                    spec::Parameter { value: spec::Value::Argument(5), offset: 20, size: 2 },
                    spec::Parameter { value: spec::Value::Argument(6), offset: 22, size: 2 },
                    spec::Parameter { value: spec::Value::Argument(7), offset: 24, size: 4 },
                    spec::Parameter { value: spec::Value::Argument(8), offset: 32, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(9), offset: 40, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(10), offset: 48, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(11), offset: 56, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(12), offset: 64, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(13), offset: 72, size: 8 },
                ],
                image: &IMAGE_0.0,
            },
        ],
    };

    static IMAGE_0: spec::Aligned<[u8; 83]> = spec::Aligned(*b"\
loop sm_80|0+1|1+1|2+2|8+8|16+4|20+2|22+2|24+4|32+8|40+8|48+8|56+8|64+8|72+8;\0\x7f\"\\ \x0a");
}

/// The kernel `nothing`, compiled for sm_80.
#[rustfmt::skip]
#[allow(clippy::all, clippy::nursery, clippy::pedantic)]
#[allow(dead_code, non_camel_case_types, non_snake_case, unreachable_pub, unused_imports)]
pub mod nothing {
    use ttc_rt::Argument::*;
    use ttc_rt::{Expr, Promise, spec};

    /// The arguments of `nothing`.
    #[derive(Debug)]
    pub struct Args {
    }

    /// `nothing`, loaded into a context. Any number of threads may launch it.
    #[derive(Debug)]
    pub struct Kernel(ttc_rt::Kernel);

    impl Kernel {
        /// Loads the variants that the context's GPU runs.
        ///
        /// # Errors
        /// There is none, or the driver refuses one.
        pub fn load(context: &ttc_rt::Context) -> Result<Kernel, ttc_rt::Error> {
            // SAFETY: the tables were printed with their images.
            unsafe { ttc_rt::Kernel::load(context, &SPEC) }.map(Kernel)
        }

        /// What the tables and the context are, for launches by hand.
        pub fn inner(&self) -> &ttc_rt::Kernel {
            &self.0
        }

        /// Launches `(4, 1, 1)` programs. A grid without programs is no launch and no error.
        ///
        /// # Errors
        /// An argument breaks a promise, the grid cannot be, or the driver refuses the launch.
        ///
        /// # Safety
        /// What the kernel reads and writes with these arguments is memory that stays until it has run, and nobody
        /// else writes or reads it meanwhile.
        pub unsafe fn launch(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            args: &Args,
        ) -> Result<(), ttc_rt::Error> {
            // SAFETY: the caller keeps the same promises.
            unsafe { self.start(stream, None, args) }
        }

        /// Launches `x * y * z` programs, for a grid `[x, y, z]`.
        ///
        /// # Errors
        /// An argument breaks a promise, the grid cannot be, or the driver refuses the launch.
        ///
        /// # Safety
        /// What the kernel reads and writes with these arguments is memory that stays until it has run, and nobody
        /// else writes or reads it meanwhile.
        pub unsafe fn launch_grid(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            grid: [u32; 3],
            args: &Args,
        ) -> Result<(), ttc_rt::Error> {
            // SAFETY: the caller keeps the same promises.
            unsafe { self.start(stream, Some(grid), args) }
        }

        unsafe fn start(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            grid: Option<[u32; 3]>,
            _args: &Args,
        ) -> Result<(), ttc_rt::Error> {
            let arguments: [ttc_rt::Argument; 0] = [];
            let mut parameters = ttc_rt::Parameters::<0>::new();
            // SAFETY: the arguments are those of the tables, and the caller keeps the promises.
            unsafe { self.0.launch(stream, grid, &arguments, parameters.as_mut()) }
        }
    }

    static SPEC: spec::Kernel = spec::Kernel {
        name: "nothing",
        arguments: &[],
        variants: &[
            // BLOCK = 1024
            spec::Variant {
                arch: "sm_80",
                runs_on: spec::RunsOn::Capability { major: 8, minor: 0, exact: false },
                symbol: "nothing",
                threads: 128,
                shared: 0,
                cluster: [1, 1, 1],
                grid: Some([Expr::Int(4), Expr::Int(1), Expr::Int(1)]),
                promises: &[],
                parameters: &[
                ],
                image: &IMAGE_0.0,
            },
        ],
    };

    static IMAGE_0: spec::Aligned<[u8; 20]> = spec::Aligned(*b"\
nothing sm_80;\0\x7f\"\\ \x0a");
}

/// The kernel `both`, compiled for gfx1100, gfx942, sm_90a.
#[rustfmt::skip]
#[allow(clippy::all, clippy::nursery, clippy::pedantic)]
#[allow(dead_code, non_camel_case_types, non_snake_case, unreachable_pub, unused_imports)]
pub mod both {
    use ttc_rt::Argument::*;
    use ttc_rt::{Expr, Promise, spec};

    /// The arguments of `both`.
    #[derive(Debug)]
    pub struct Args<'a> {
        /// `tensordesc<fp32[64, 32]>`; read
        pub from: ttc_rt::Tensor<'a, f32, 2>,
        /// `*fp32`; written; there is a variant for a multiple of 16
        pub out: ttc_rt::DevicePtrMut<'a, f32>,
    }

    /// `both`, loaded into a context. Any number of threads may launch it.
    #[derive(Debug)]
    pub struct Kernel(ttc_rt::Kernel);

    impl Kernel {
        /// Loads the variants that the context's GPU runs.
        ///
        /// # Errors
        /// There is none, or the driver refuses one.
        pub fn load(context: &ttc_rt::Context) -> Result<Kernel, ttc_rt::Error> {
            // SAFETY: the tables were printed with their images.
            unsafe { ttc_rt::Kernel::load(context, &SPEC) }.map(Kernel)
        }

        /// What the tables and the context are, for launches by hand.
        pub fn inner(&self) -> &ttc_rt::Kernel {
            &self.0
        }

        /// Launches `(3, 2, 1)` programs. A grid without programs is no launch and no error.
        ///
        /// # Errors
        /// An argument breaks a promise, the grid cannot be, or the driver refuses the launch.
        ///
        /// # Safety
        /// What the kernel reads and writes with these arguments is memory that stays until it has run, and nobody
        /// else writes or reads it meanwhile.
        pub unsafe fn launch(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            args: &Args<'_>,
        ) -> Result<(), ttc_rt::Error> {
            // SAFETY: the caller keeps the same promises.
            unsafe { self.start(stream, None, args) }
        }

        /// Launches `x * y * z` programs, for a grid `[x, y, z]`.
        ///
        /// # Errors
        /// An argument breaks a promise, the grid cannot be, or the driver refuses the launch.
        ///
        /// # Safety
        /// What the kernel reads and writes with these arguments is memory that stays until it has run, and nobody
        /// else writes or reads it meanwhile.
        pub unsafe fn launch_grid(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            grid: [u32; 3],
            args: &Args<'_>,
        ) -> Result<(), ttc_rt::Error> {
            // SAFETY: the caller keeps the same promises.
            unsafe { self.start(stream, Some(grid), args) }
        }

        unsafe fn start(
            &self,
            stream: &(impl ttc_rt::AsStream + ?Sized),
            grid: Option<[u32; 3]>,
            args: &Args<'_>,
        ) -> Result<(), ttc_rt::Error> {
            let arguments: [ttc_rt::Argument; 2] = [
                Tensor(args.from.raw()),
                Pointer(args.out.address()),
            ];
            let mut parameters = ttc_rt::Parameters::<88>::new();
            // SAFETY: the arguments are those of the tables, and the caller keeps the promises.
            unsafe { self.0.launch(stream, grid, &arguments, parameters.as_mut()) }
        }
    }

    static SPEC: spec::Kernel = spec::Kernel {
        name: "both",
        arguments: &["from", "out"],
        variants: &[
            // BLOCK = 1024
            spec::Variant {
                arch: "gfx942",
                runs_on: spec::RunsOn::Processor("gfx942"),
                symbol: "both",
                threads: 256,
                shared: 65536,
                cluster: [1, 1, 1],
                grid: Some([Expr::Int(3), Expr::Int(2), Expr::Int(1)]),
                promises: &[(1, Promise::DivisibleBy(16))],
                parameters: &[
                    spec::Parameter { value: spec::Value::Base(0), offset: 0, size: 8 },
                    spec::Parameter { value: spec::Value::Extent(0, 0), offset: 8, size: 8 },
                    spec::Parameter { value: spec::Value::Extent(0, 1), offset: 16, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 0), offset: 24, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 1), offset: 32, size: 8 },
                    spec::Parameter { value: spec::Value::PadsWithNan(0), offset: 40, size: 1 },
                    spec::Parameter { value: spec::Value::RoundsToTf32(0), offset: 41, size: 1 },
                    spec::Parameter { value: spec::Value::Extent(0, 0), offset: 44, size: 4 },
                    spec::Parameter { value: spec::Value::Extent(0, 1), offset: 48, size: 4 },
                    spec::Parameter { value: spec::Value::Stride(0, 0), offset: 56, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 1), offset: 64, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(1), offset: 72, size: 8 },
                    spec::Parameter { value: spec::Value::GlobalScratch { bytes_per_block: 64, memory_align: 512 }, offset: 80, size: 8 },
                ],
                image: &IMAGE_0.0,
            },
            // BLOCK = 1024
            spec::Variant {
                arch: "gfx942",
                runs_on: spec::RunsOn::Processor("gfx942"),
                symbol: "both",
                threads: 256,
                shared: 65536,
                cluster: [1, 1, 1],
                grid: Some([Expr::Int(3), Expr::Int(2), Expr::Int(1)]),
                promises: &[],
                parameters: &[
                    spec::Parameter { value: spec::Value::Base(0), offset: 0, size: 8 },
                    spec::Parameter { value: spec::Value::Extent(0, 0), offset: 8, size: 8 },
                    spec::Parameter { value: spec::Value::Extent(0, 1), offset: 16, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 0), offset: 24, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 1), offset: 32, size: 8 },
                    spec::Parameter { value: spec::Value::PadsWithNan(0), offset: 40, size: 1 },
                    spec::Parameter { value: spec::Value::RoundsToTf32(0), offset: 41, size: 1 },
                    spec::Parameter { value: spec::Value::Extent(0, 0), offset: 44, size: 4 },
                    spec::Parameter { value: spec::Value::Extent(0, 1), offset: 48, size: 4 },
                    spec::Parameter { value: spec::Value::Stride(0, 0), offset: 56, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 1), offset: 64, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(1), offset: 72, size: 8 },
                    spec::Parameter { value: spec::Value::GlobalScratch { bytes_per_block: 64, memory_align: 512 }, offset: 80, size: 8 },
                ],
                image: &IMAGE_0.0,
            },
            // BLOCK = 1024
            spec::Variant {
                arch: "gfx1100",
                runs_on: spec::RunsOn::Processor("gfx1100"),
                symbol: "both",
                threads: 256,
                shared: 65536,
                cluster: [1, 1, 1],
                grid: Some([Expr::Int(3), Expr::Int(2), Expr::Int(1)]),
                promises: &[],
                parameters: &[
                    spec::Parameter { value: spec::Value::Base(0), offset: 0, size: 8 },
                    spec::Parameter { value: spec::Value::Extent(0, 0), offset: 8, size: 8 },
                    spec::Parameter { value: spec::Value::Extent(0, 1), offset: 16, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 0), offset: 24, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 1), offset: 32, size: 8 },
                    spec::Parameter { value: spec::Value::PadsWithNan(0), offset: 40, size: 1 },
                    spec::Parameter { value: spec::Value::RoundsToTf32(0), offset: 41, size: 1 },
                    spec::Parameter { value: spec::Value::Extent(0, 0), offset: 44, size: 4 },
                    spec::Parameter { value: spec::Value::Extent(0, 1), offset: 48, size: 4 },
                    spec::Parameter { value: spec::Value::Stride(0, 0), offset: 56, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 1), offset: 64, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(1), offset: 72, size: 8 },
                    spec::Parameter { value: spec::Value::GlobalScratch { bytes_per_block: 64, memory_align: 512 }, offset: 80, size: 8 },
                ],
                image: &IMAGE_2.0,
            },
            // BLOCK = 1024
            spec::Variant {
                arch: "sm_90a",
                runs_on: spec::RunsOn::Capability { major: 9, minor: 0, exact: true },
                symbol: "both",
                threads: 256,
                shared: 65536,
                cluster: [1, 1, 1],
                grid: Some([Expr::Int(3), Expr::Int(2), Expr::Int(1)]),
                promises: &[],
                parameters: &[
                    spec::Parameter { value: spec::Value::Base(0), offset: 0, size: 8 },
                    spec::Parameter { value: spec::Value::Extent(0, 0), offset: 8, size: 8 },
                    spec::Parameter { value: spec::Value::Extent(0, 1), offset: 16, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 0), offset: 24, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 1), offset: 32, size: 8 },
                    spec::Parameter { value: spec::Value::PadsWithNan(0), offset: 40, size: 1 },
                    spec::Parameter { value: spec::Value::RoundsToTf32(0), offset: 41, size: 1 },
                    spec::Parameter { value: spec::Value::Extent(0, 0), offset: 44, size: 4 },
                    spec::Parameter { value: spec::Value::Extent(0, 1), offset: 48, size: 4 },
                    spec::Parameter { value: spec::Value::Stride(0, 0), offset: 56, size: 8 },
                    spec::Parameter { value: spec::Value::Stride(0, 1), offset: 64, size: 8 },
                    spec::Parameter { value: spec::Value::Argument(1), offset: 72, size: 8 },
                    spec::Parameter { value: spec::Value::GlobalScratch { bytes_per_block: 64, memory_align: 512 }, offset: 80, size: 8 },
                ],
                image: &IMAGE_3.0,
            },
        ],
    };

    static IMAGE_0: spec::Aligned<[u8; 81]> = spec::Aligned(*b"\
both gfx942|0+8|8+8|16+8|24+8|32+8|40+1|41+1|44+4|48+4|56+8|64+8|72+8|80+8;\0\x7f\"\\ \x0a");

    static IMAGE_2: spec::Aligned<[u8; 82]> = spec::Aligned(*b"\
both gfx1100|0+8|8+8|16+8|24+8|32+8|40+1|41+1|44+4|48+4|56+8|64+8|72+8|80+8;\0\x7f\"\\ \x0a");

    static IMAGE_3: spec::Aligned<[u8; 81]> = spec::Aligned(*b"\
both sm_90a|0+8|8+8|16+8|24+8|32+8|40+1|41+1|44+4|48+4|56+8|64+8|72+8|80+8;\0\x7f\"\\ \x0a");
}
