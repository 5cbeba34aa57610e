/* Launches kernels with code for GPUs of both vendors on the drivers of libcuda.c and libamdhip64.c. */
#include "kernels.h"

static ttc_error error;

static void show(const char *what, ttc_code code)
{
    printf("%s: %d %s\n", what, (int)code, code == TTC_OK ? "ok" : error.text);
    if (code == TTC_DRIVER_FAILED) {
        printf("  result %d %s\n", error.result, error.result_name);
    }
}

static void both(void)
{
    both_kernel kernel;
    both_args args;
    memset(&args, 0, sizeof args);
    args.x = 0x1000;
    args.y = 0x2000;
    args.n = 4096;
    printf("-- code for both vendors\n");
    memset(&kernel, 0, sizeof kernel);
    show("load", both_load(&kernel, &error));
    show("launch", both_launch(&kernel, (ttc_stream)7, &args, &error));
    args.n = 4095;
    show("no multiple of 16", both_launch(&kernel, NULL, &args, &error));
    args.x = 0x1002;
    show("not even of 4", both_launch(&kernel, NULL, &args, &error));
    show("unload", both_unload(&kernel, &error));
    show("unload again", both_unload(&kernel, &error));
    show("after unload", both_launch(&kernel, NULL, &args, &error));
}

/* The device that was current when it was loaded is made current for unloading, and then the one before. */
static void wave(void)
{
    wave_kernel kernel;
    wave_args args;
    void *library = dlopen(getenv("TTC_LIBAMDHIP64"), RTLD_NOW);
    int (*set_device)(int) = NULL;
    memset(&args, 0, sizeof args);
    args.y = 0x2000;
    args.d = ttc_matrix(0x3000, 64, 32);
    printf("-- code for AMD alone\n");
    memset(&kernel, 0, sizeof kernel);
    show("load", wave_load(&kernel, &error));
    show("launch", wave_launch_grid(&kernel, NULL, 3, 2, 1, &args, &error));
    args.global_scratch = 0x40000;
    show("own scratch memory", wave_launch_grid(&kernel, NULL, 3, 2, 1, &args, &error));
    show("too many threads in x", wave_launch_grid(&kernel, NULL, 16777216, 1, 1, &args, &error));
    show("as many as there can be", wave_launch_grid(&kernel, NULL, 16777215, 1, 1, &args, &error));
    args.d.strides[0] = 33;
    show("a stride", wave_launch_grid(&kernel, NULL, 1, 1, 1, &args, &error));
    if (library != NULL && ttcrt_symbol(library, "hipSetDevice", &set_device)) {
        set_device(1);
    }
    show("unload", wave_unload(&kernel, &error));
    show("unload again", wave_unload(&kernel, &error));
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    both();
    wave();
    return 0;
}
