/* Launches four kernels and checks their results: an addition on two streams and from eight threads, the same in
 * clusters, a softmax, and a product of matrices through tensor descriptors. */
#include "add.h"
#include "add_in_clusters.h"
#include "device.h"
#include "matmul.h"
#include "softmax.h"

#include <math.h>
#include <pthread.h>

enum { N = 100003, ROWS = 37, COLUMNS = 781, M = 384, K = 192 };

static void *context;
static add_kernel shared_add;

/* Small integers, so that every sum is exact. */
static float value(int i)
{
    return (float)(i * 7 % 13 - 6);
}

static void report(const char *what, int wrong)
{
    printf("%-36s %s\n", what, wrong == 0 ? "right" : "WRONG");
    if (wrong != 0) {
        exit(1);
    }
}

/* Adds vectors with a launcher that both kernels of that kind fit, and counts wrong elements. */
static int sum_is_wrong(ttc_ptr out)
{
    float *got = (float *)malloc(N * sizeof *got);
    int i, wrong = 0;
    CUDA(cuMemcpyDtoH_v2(got, out, N * sizeof *got));
    for (i = 0; i < N; i++) {
        wrong += got[i] != value(i) + value(i + 5);
    }
    free(got);
    return wrong;
}

static add_args vectors(void)
{
    add_args args;
    float *x = (float *)calloc(N, sizeof *x), *y = (float *)calloc(N, sizeof *y);
    int i;
    args.out = device_copy(x, N * sizeof *x);
    for (i = 0; i < N; i++) {
        x[i] = value(i);
        y[i] = value(i + 5);
    }
    args.x = device_copy(x, N * sizeof *x);
    args.y = device_copy(y, N * sizeof *y);
    args.n = N;
    free(x);
    free(y);
    return args;
}

static void free_vectors(const add_args *args)
{
    CUDA(cuMemFree_v2(args->x));
    CUDA(cuMemFree_v2(args->y));
    CUDA(cuMemFree_v2(args->out));
}

static void two_streams(void)
{
    void *streams[2];
    add_args args[2];
    int i, wrong = 0;
    for (i = 0; i < 2; i++) {
        CUDA(cuStreamCreate(&streams[i], 1)); /* CU_STREAM_NON_BLOCKING */
        args[i] = vectors();
    }
    for (i = 0; i < 2; i++) {
        TTC(add_launch(&shared_add, streams[i], &args[i], error));
    }
    for (i = 0; i < 2; i++) {
        CUDA(cuStreamSynchronize(streams[i]));
        wrong += sum_is_wrong(args[i].out);
        CUDA(cuStreamDestroy_v2(streams[i]));
        free_vectors(&args[i]);
    }
    report("add on two streams", wrong);
}

/* A thread loads a kernel of its own and launches it and the shared one. */
static void *work(void *wrong)
{
    add_kernel own;
    add_args args;
    void *stream;
    int i;
    CUDA(cuCtxSetCurrent(context));
    CUDA(cuStreamCreate(&stream, 1));
    TTC(add_load(&own, error));
    args = vectors();
    for (i = 0; i < 100; i++) {
        TTC(add_launch(i % 2 == 0 ? &own : &shared_add, stream, &args, error));
    }
    CUDA(cuStreamSynchronize(stream));
    *(int *)wrong = sum_is_wrong(args.out);
    free_vectors(&args);
    TTC(add_unload(&own, error));
    CUDA(cuStreamDestroy_v2(stream));
    return NULL;
}

static void eight_threads(void)
{
    pthread_t threads[8];
    int wrong[8], i, sum = 0;
    for (i = 0; i < 8; i++) {
        wrong[i] = 1;
        device_check(pthread_create(&threads[i], NULL, work, &wrong[i]), "pthread_create");
    }
    for (i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        sum += wrong[i];
    }
    report("add from eight threads", sum);
}

static void clusters(void)
{
    add_in_clusters_kernel kernel;
    add_in_clusters_args args;
    add_args plain = vectors();
    ttc_error error;
    ttc_code code = add_in_clusters_load(&kernel, &error);
    if (code == TTC_WRONG_GPU) {
        printf("%-36s left out: %s\n", "add in clusters", error.text);
        free_vectors(&plain);
        return;
    }
    if (code != TTC_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    args.x = plain.x;
    args.y = plain.y;
    args.out = plain.out;
    args.n = N;
    TTC(add_in_clusters_launch(&kernel, NULL, &args, error));
    CUDA(cuStreamSynchronize(NULL));
    report("add in clusters", sum_is_wrong(args.out));
    TTC(add_in_clusters_unload(&kernel, error));
    free_vectors(&plain);
}

static void rows(void)
{
    softmax_kernel kernel;
    softmax_args args;
    size_t bytes = (size_t)ROWS * COLUMNS * sizeof(float);
    float *x = (float *)malloc(bytes), *y = (float *)malloc(bytes);
    int r, i, wrong = 0;
    for (i = 0; i < ROWS * COLUMNS; i++) {
        x[i] = value(i) / 4.0f;
    }
    args.x = device_copy(x, bytes);
    args.y = device_copy(x, bytes);
    args.rows = ROWS;
    args.n = COLUMNS;
    TTC(softmax_load(&kernel, error));
    TTC(softmax_launch(&kernel, NULL, &args, error));
    CUDA(cuStreamSynchronize(NULL));
    CUDA(cuMemcpyDtoH_v2(y, args.y, bytes));
    for (r = 0; r < ROWS; r++) {
        double sum = 0.0;
        for (i = 0; i < COLUMNS; i++) {
            sum += exp((double)x[r * COLUMNS + i]);
        }
        for (i = 0; i < COLUMNS; i++) {
            double want = exp((double)x[r * COLUMNS + i]) / sum;
            wrong += !(fabs((double)y[r * COLUMNS + i] - want) <= 1e-5 * want);
        }
    }
    report("softmax", wrong);
    TTC(softmax_unload(&kernel, error));
    CUDA(cuMemFree_v2(args.x));
    CUDA(cuMemFree_v2(args.y));
    free(x);
    free(y);
}

static void product(void)
{
    matmul_kernel kernel;
    matmul_args args;
    uint16_t *a = (uint16_t *)malloc(M * K * sizeof *a), *c = (uint16_t *)calloc(M * M, sizeof *c);
    int row, col, i, wrong = 0;
    for (i = 0; i < M * K; i++) {
        a[i] = ttc_fp16_from_float(value(i) / 4.0f);
    }
    args.a = ttc_matrix(device_copy(a, M * K * sizeof *a), M, K);
    args.b = ttc_matrix(device_copy(a, M * K * sizeof *a), M, K);
    args.c = ttc_matrix(device_copy(c, M * M * sizeof *c), M, M);
    args.m = args.n = M;
    args.k = K;
    TTC(matmul_load(&kernel, error));
    TTC(matmul_launch(&kernel, NULL, &args, error));
    CUDA(cuStreamSynchronize(NULL));
    CUDA(cuMemcpyDtoH_v2(c, args.c.address, M * M * sizeof *c));
    for (row = 0; row < M; row++) {
        for (col = 0; col < M; col++) {
            float want = 0.0f;
            for (i = 0; i < K; i++) {
                want += value(row * K + i) / 4.0f * (value(col * K + i) / 4.0f);
            }
            wrong += c[row * M + col] != ttc_fp16_from_float(want);
        }
    }
    report("matmul through tensor descriptors", wrong);
    TTC(matmul_unload(&kernel, error));
    CUDA(cuMemFree_v2(args.a.address));
    CUDA(cuMemFree_v2(args.b.address));
    CUDA(cuMemFree_v2(args.c.address));
    free(a);
    free(c);
}

int main(void)
{
    context = device_open();
    TTC(add_load(&shared_add, error));
    two_streams();
    eight_threads();
    clusters();
    rows();
    product();
    TTC(add_unload(&shared_add, error));
    return 0;
}
