/* The time of a launch by the launcher, beside that of a bare cuLaunchKernel: 100,000 of each in one run, in turns. */
#define _POSIX_C_SOURCE 199309L
#include "add.h"
#include "device.h"

#include <time.h>

enum { TURNS = 200, LAUNCHES = 500, N = 1000 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(void)
{
    static double by_launcher[TURNS], bare[TURNS];
    static const float zeros[N];
    double sum[2] = {0.0, 0.0};
    void *stream, *function = NULL;
    add_kernel kernel;
    add_args args;
    int turn, i;
    device_open();
    CUDA(cuStreamCreate(&stream, 1)); /* CU_STREAM_NON_BLOCKING */
    args.x = device_copy(zeros, sizeof zeros);
    args.y = device_copy(zeros, sizeof zeros);
    args.out = device_copy(zeros, sizeof zeros);
    args.n = N;
    TTC(add_load(&kernel, error));
    /* The bare launch needs what a launcher keeps to itself: the function of the loaded variant. */
    for (i = 0; function == NULL; i++) {
        function = kernel.variants[i].function;
    }
    for (turn = 0; turn < TURNS; turn++) {
        double start = now(), end;
        for (i = 0; i < LAUNCHES; i++) {
            ttc_error error;
            if (add_launch(&kernel, stream, &args, &error) != TTC_OK) {
                fprintf(stderr, "%s\n", error.text);
                return 1;
            }
        }
        end = now();
        CUDA(cuStreamSynchronize(stream));
        by_launcher[turn] = (end - start) / LAUNCHES;
        start = now();
        for (i = 0; i < LAUNCHES; i++) {
            void *parameters[4];
            parameters[0] = &args.x;
            parameters[1] = &args.y;
            parameters[2] = &args.out;
            parameters[3] = &args.n;
            CUDA(kernel.common.driver.launch(function, 1, 1, 1, 128, 1, 1, 0, stream, parameters, NULL));
        }
        end = now();
        CUDA(cuStreamSynchronize(stream));
        bare[turn] = (end - start) / LAUNCHES;
        sum[0] += by_launcher[turn];
        sum[1] += bare[turn];
    }
    qsort(by_launcher, TURNS, sizeof *by_launcher, compare);
    qsort(bare, TURNS, sizeof *bare, compare);
    printf("%d launches of each, microseconds a launch: launcher median %.3f mean %.3f, bare median %.3f mean %.3f\n",
           TURNS * LAUNCHES, by_launcher[TURNS / 2], sum[0] / TURNS, bare[TURNS / 2], sum[1] / TURNS);
    printf("ratio of medians %.3f, of means %.3f\n", by_launcher[TURNS / 2] / bare[TURNS / 2], sum[0] / sum[1]);
    TTC(add_unload(&kernel, error));
    CUDA(cuMemFree_v2(args.x));
    CUDA(cuMemFree_v2(args.y));
    CUDA(cuMemFree_v2(args.out));
    CUDA(cuStreamDestroy_v2(stream));
    return 0;
}
