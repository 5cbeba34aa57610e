/* What the examples need of the CUDA driver beside the launchers: memory, streams, a context. A program that uses the
 * CUDA toolkit calls cudaMalloc and the like instead. */
#ifndef DEVICE_H
#define DEVICE_H

#include "ttc_rt.h"

/* The functions of libcuda, with the types of their arguments. */
#define DRIVER(X)                                                                                                      \
    X(cuInit, (unsigned))                                                                                              \
    X(cuDeviceGet, (int *, int))                                                                                       \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                                        \
    X(cuCtxSetCurrent, (void *))                                                                                       \
    X(cuMemAlloc_v2, (uint64_t *, size_t))                                                                             \
    X(cuMemFree_v2, (uint64_t))                                                                                        \
    X(cuMemcpyHtoD_v2, (uint64_t, const void *, size_t))                                                               \
    X(cuMemcpyDtoH_v2, (void *, uint64_t, size_t))                                                                     \
    X(cuStreamCreate, (void **, unsigned))                                                                             \
    X(cuStreamSynchronize, (void *))                                                                                   \
    X(cuStreamDestroy_v2, (void *))

#define DECLARE(name, arguments) static int(*name) arguments;
DRIVER(DECLARE)

/* Ends the program unless a function of the driver succeeded. */
#define CUDA(call) device_check((call), #call)
/* Ends the program unless a launcher succeeded. */
#define TTC(call)                                                                                                      \
    do {                                                                                                               \
        ttc_error ttc_said;                                                                                            \
        ttc_error *error = &ttc_said;                                                                                  \
        if ((call) != TTC_OK) {                                                                                        \
            fprintf(stderr, "%s\n", ttc_said.text);                                                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static inline void device_check(int result, const char *call)
{
    if (result != 0) {
        fprintf(stderr, "%s gave %d\n", call, result);
        exit(1);
    }
}

/* Opens the driver and makes the first device's context current. Returns the context, for other threads. */
static inline void *device_open(void)
{
    void *library = ttcrt_open_library(), *context;
    int device;
    if (library == NULL) {
        fprintf(stderr, "libcuda cannot be opened\n");
        exit(1);
    }
#define OPEN(name, arguments)                                                                                          \
    if (!ttcrt_symbol(library, #name, &name)) {                                                                        \
        fprintf(stderr, "libcuda lacks " #name "\n");                                                                  \
        exit(1);                                                                                                       \
    }
    DRIVER(OPEN)
    CUDA(cuInit(0));
    CUDA(cuDeviceGet(&device, 0));
    CUDA(cuDevicePrimaryCtxRetain(&context, device));
    CUDA(cuCtxSetCurrent(context));
    return context;
}

/* Memory on the device with a copy of `bytes` bytes. */
static inline ttc_ptr device_copy(const void *host, size_t bytes)
{
    uint64_t address;
    CUDA(cuMemAlloc_v2(&address, bytes));
    CUDA(cuMemcpyHtoD_v2(address, host, bytes));
    return address;
}

#endif
