/* Calls launchers as a program would, with the driver of libcuda.c, and shows what they say. */
#include "kernels.h"

static ttc_error error;
static ttc_stream stream = (ttc_stream)7;

static void show(const char *what, ttc_code code)
{
    printf("%s: %d %s\n", what, (int)code, code == TTC_OK ? "ok" : error.text);
    if (code == TTC_DRIVER_FAILED) {
        printf("  result %d %s\n", error.result, error.result_name);
    }
}

static void scalars(void)
{
    scale_kernel kernel;
    scale_args args;
    scale_args good;
    memset(&args, 0, sizeof args);
    args.x = 0x1000;
    args.y = 0x2004;
    args.n = 4096;
    args.flag = true;
    args.a = 1.5f;
    args.h = ttc_fp16_from_float(1.0f);
    args.b = ttc_bf16_from_float(-2.0f);
    args.d = 0.5;
    args.wide = INT64_C(-5);
    args.int_ = 1;
    args.big = UINT64_MAX;
    good = args;
    printf("-- scalars\n");
    memset(&kernel, 0, sizeof kernel);
    show("not loaded", scale_launch(&kernel, stream, &args, &error));
    show("load", scale_load(&kernel, &error));
    show("all promises hold", scale_launch(&kernel, stream, &args, &error));
    args.n = 4095;
    show("no multiple of 16", scale_launch(&kernel, stream, &args, &error));
    args.x = 0x1004;
    show("neither is x", scale_launch(&kernel, stream, &args, &error));
    args.x = 0x1002;
    show("not even of 4", scale_launch(&kernel, stream, &args, &error));
    args = good;
    args.int_ = 2;
    show("not 1", scale_launch(&kernel, stream, &args, &error));
    show("not 1, without an error", scale_launch(&kernel, stream, &args, NULL));
    args = good;
    args.n = 0;
    show("empty", scale_launch(&kernel, stream, &args, &error));
    args.n = -2048;
    show("negative", scale_launch(&kernel, stream, &args, &error));
    args = good;
    show("explicit grid", scale_launch_grid(&kernel, NULL, 0x7fffffffu, 65535u, 1u, &args, &error));
    show("empty explicit grid", scale_launch_grid(&kernel, NULL, 5u, 0u, 1u, &args, &error));
    show("too many in x", scale_launch_grid(&kernel, NULL, 0x80000000u, 1u, 1u, &args, &error));
    show("too many in z", scale_launch_grid(&kernel, NULL, 1u, 1u, 65536u, &args, &error));
    show("unload", scale_unload(&kernel, &error));
    show("unload again", scale_unload(&kernel, &error));
    show("after unload", scale_launch(&kernel, stream, &args, &error));
}

static void grids(void)
{
    grids_kernel kernel;
    grids_args args;
    memset(&args, 0, sizeof args);
    printf("-- grids\n");
    show("load", grids_load(&kernel, &error));
    args.n = 7;
    args.m = -3;
    args.u = 5;
    show("(n + 1) * 3, m %% 5 + n // 2, min(u, 9) - max(m, 2)", grids_launch(&kernel, stream, &args, &error));
    args.n = INT64_MAX;
    show("n + 1 is too large", grids_launch(&kernel, stream, &args, &error));
    args.n = INT64_MAX / 2;
    show("times 3 is too large", grids_launch(&kernel, stream, &args, &error));
    args.n = 7;
    args.u = UINT64_MAX;
    show("u is too large", grids_launch(&kernel, stream, &args, &error));
    args.u = 2;
    show("empty in z", grids_launch(&kernel, stream, &args, &error));
    args.u = 5;
    args.n = -7;
    show("negative in x", grids_launch(&kernel, stream, &args, &error));
    show("unload", grids_unload(&kernel, &error));
}

static void tensors(void)
{
    gemm_kernel kernel;
    gemm_args args;
    gemm_args good;
    memset(&args, 0, sizeof args);
    args.a = ttc_matrix(0x10000, 256, 64);
    args.b = ttc_matrix(0x20000, 64, 24);
    args.b.strides[0] = 32;
    args.b.pads_with_nan = true;
    args.k = 64;
    good = args;
    printf("-- tensors\n");
    show("load", gemm_load(&kernel, &error));
    show("launch", gemm_launch(&kernel, stream, &args, &error));
    args.global_scratch = 0x40000;
    show("own scratch memory", gemm_launch(&kernel, stream, &args, &error));
    args = good;
    args.a.address = 0x10008;
    show("address", gemm_launch(&kernel, stream, &args, &error));
    args = good;
    args.b.strides[0] = 25;
    show("stride", gemm_launch(&kernel, stream, &args, &error));
    args.b.strides[0] = INT64_C(1) << 40;
    show("large stride", gemm_launch(&kernel, stream, &args, &error));
    args = good;
    args.b.strides[1] = 2;
    show("last stride", gemm_launch(&kernel, stream, &args, &error));
    args = good;
    args.a.extents[0] = 0;
    show("extent", gemm_launch(&kernel, stream, &args, &error));
    args = good;
    args.a.rounds_to_tf32 = true;
    show("rounding fp16 to tf32", gemm_launch(&kernel, stream, &args, &error));
    args = good;
    show("scratch without a size", gemm_launch_grid(&kernel, stream, 0x3fffffffu, 65535u, 65535u, &args, &error));
    show("cluster: too many in x", gemm_launch_grid(&kernel, stream, 0x40000000u, 1u, 1u, &args, &error));
    show("unload", gemm_unload(&kernel, &error));
}

/* Tensor maps of arrays that no argument describes. */
static void maps(void)
{
    arrays_kernel kernel;
    arrays_args args;
    arrays_args good;
    memset(&args, 0, sizeof args);
    args.x = 0x10000;
    args.y = 0x20000;
    args.rows = 100;
    args.columns = 40;
    args.stride = 48;
    args.batch = INT64_C(4800);
    good = args;
    printf("-- tensor maps of arrays\n");
    show("load", arrays_load(&kernel, &error));
    show("launch", arrays_launch_grid(&kernel, stream, 2u, 1u, 1u, &args, &error));
    args.rows = -1;
    args.columns = 0;
    show("without elements", arrays_launch_grid(&kernel, stream, 2u, 1u, 1u, &args, &error));
    args = good;
    args.x = 0x10008;
    show("address", arrays_launch_grid(&kernel, stream, 2u, 1u, 1u, &args, &error));
    args = good;
    args.stride = 41;
    show("odd stride", arrays_launch_grid(&kernel, stream, 2u, 1u, 1u, &args, &error));
    args.stride = -48;
    show("negative stride", arrays_launch_grid(&kernel, stream, 2u, 1u, 1u, &args, &error));
    args = good;
    args.batch = INT64_MAX;
    show("large batch", arrays_launch_grid(&kernel, stream, 2u, 1u, 1u, &args, &error));
    args.batch = INT64_MAX / 8;
    show("large stride", arrays_launch_grid(&kernel, stream, 2u, 1u, 1u, &args, &error));
    show("unload", arrays_unload(&kernel, &error));
}

static void early(void)
{
    dependent_kernel kernel;
    dependent_args args;
    memset(&args, 0, sizeof args);
    printf("-- an early start\n");
    show("load", dependent_load(&kernel, &error));
    show("usual", dependent_launch_grid(&kernel, stream, 3u, 1u, 1u, &args, &error));
    kernel.start_early = true;
    show("early", dependent_launch_grid(&kernel, stream, 3u, 1u, 1u, &args, &error));
    show("unload", dependent_unload(&kernel, &error));
}

static float of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* All numbers of 16 bits come back, and what lies between two neighbours goes to the nearer one, or to the even one. */
static void halves(void)
{
    int wrong = 0, kind;
    uint32_t h;
    for (kind = 0; kind < 2; kind++) {
        uint16_t (*from)(float) = kind == 0 ? ttc_fp16_from_float : ttc_bf16_from_float;
        float (*to)(uint16_t) = kind == 0 ? ttc_float_from_fp16 : ttc_float_from_bf16;
        uint32_t infinity = kind == 0 ? 0x7c00u : 0x7f80u;
        for (h = 0; h < infinity; h++) {
            float low = to((uint16_t)h), high = to((uint16_t)(h + 1u));
            /* fp16 rounds to infinity as if 65536 were the next number. */
            double next = h + 1u < infinity ? high : kind == 0 ? 65536.0 : (double)low * 2.0;
            float middle = (float)(((double)low + next) / 2.0);
            uint32_t even = h % 2u == 0u ? h : h + 1u;
            wrong += from(low) != h || from(-low) != (h | 0x8000u);
            if (h + 1u < infinity || kind == 0) {
                wrong += from(middle) != even;
                wrong += from(of_bits(bits_of(middle) - 1u)) != h || from(of_bits(bits_of(middle) + 1u)) != h + 1u;
            }
        }
        wrong += from(to((uint16_t)infinity)) != infinity || to((uint16_t)infinity) != 2.0f * to((uint16_t)infinity);
        wrong += (from(of_bits(0x7fc00000u)) & 0x7fffu) <= infinity;
        wrong += (from(of_bits(0x7f800001u)) & 0x7fffu) <= infinity;
        wrong += to((uint16_t)(infinity + 1u)) == to((uint16_t)(infinity + 1u));
    }
    printf("-- numbers of 16 bits: %d wrong\n", wrong);
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    scalars();
    grids();
    tensors();
    maps();
    early();
    halves();
    return 0;
}
