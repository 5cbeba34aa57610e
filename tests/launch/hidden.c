/* Launches kernels whose cubins have hidden parameters, or may start early, on the driver of libcuda.c. */
#include "abi.h"
#include "early.h"
#include "scratch.h"

static ttc_error error;

static void show(const char *what, ttc_code code)
{
    printf("%s: %d %s\n", what, (int)code, code == TTC_OK ? "ok" : error.text);
}

int main(void)
{
    fill_kernel fill;
    fill_args one;
    scaled_kernel scaled;
    scaled_args matrix;
    after_kernel after;
    after_args two;
    setvbuf(stdout, NULL, _IONBF, 0);
    one.y = 0x10000;
    one.v = 5;
    show("load fill", fill_load(&fill, &error));
    show("Triton's parameters, which are not used", fill_launch(&fill, NULL, &one, &error));
    show("unload", fill_unload(&fill, &error));
    matrix.x = 0x10000;
    matrix.y = 0x20000;
    matrix.rows = 640;
    matrix.columns = 64;
    matrix.global_scratch = 0;
    show("load scaled", scaled_load(&scaled, &error));
    show("scratch memory of the launch", scaled_launch(&scaled, NULL, &matrix, &error));
    matrix.global_scratch = 0x40000;
    show("of the caller", scaled_launch(&scaled, NULL, &matrix, &error));
    show("unload", scaled_unload(&scaled, &error));
    two.y = 0x10000;
    two.v = 5;
    show("load after", after_load(&after, &error));
    show("in order", after_launch(&after, NULL, &two, &error));
    after.start_early = true;
    show("early", after_launch(&after, NULL, &two, &error));
    show("unload", after_unload(&after, &error));
    return 0;
}
