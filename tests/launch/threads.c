/* Eight threads load a kernel each and launch it and a shared one. */
#include "kernels.h"

#include <pthread.h>

static scale_kernel shared_kernel;

static void *work(void *failed)
{
    scale_kernel own;
    scale_args args;
    ttc_error error;
    int i, bad = 0;
    memset(&args, 0, sizeof args);
    args.x = 0x1000;
    args.n = 4096;
    args.int_ = 1;
    bad += scale_load(&own, &error) != TTC_OK;
    for (i = 0; i < 500; i++) {
        args.n = 16 * i + 16;
        bad += scale_launch(&own, NULL, &args, &error) != TTC_OK;
        bad += scale_launch(&shared_kernel, NULL, &args, &error) != TTC_OK;
    }
    bad += scale_unload(&own, &error) != TTC_OK;
    *(int *)failed = bad;
    return NULL;
}

int main(void)
{
    pthread_t threads[8];
    int failed[8], i, sum = 0;
    ttc_error error;
    sum += scale_load(&shared_kernel, &error) != TTC_OK;
    for (i = 0; i < 8; i++) {
        sum += pthread_create(&threads[i], NULL, work, &failed[i]) != 0;
    }
    for (i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        sum += failed[i];
    }
    sum += scale_unload(&shared_kernel, &error) != TTC_OK;
    printf("%d failed\n", sum);
    return 0;
}
