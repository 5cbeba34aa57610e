/* ttc_rt.h: what the launchers that `ttc compile --emit c` prints need at run time.
 *
 * 1. It is one header of C99 and C++11 without other files. It needs the C library and, when a kernel is loaded,
 *    NVIDIA's driver (libcuda), which it opens by name. Neither the CUDA toolkit nor a link option is needed.
 * 2. Nothing here is global, prints, ends the process, or takes memory from the heap. Everything that a launch needs
 *    lies in the kernel object of the caller, so any number of threads may launch one object at once.
 * 3. Functions return a ttc_code. If it is not TTC_OK and the caller handed in a ttc_error, that says what was tried
 *    and what failed. A call that succeeds leaves it alone.
 * 4. Names that begin with `ttc_` are for users, names that begin with `ttcrt_` are for generated code.
 *
 * You may copy this file into your project and change it. It comes with ttc under the same licence. */
#ifndef TTC_RT_H
#define TTC_RT_H

/* The version of this header. Generated code checks it. */
#define TTC_RT_VERSION 1

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#define TTCRT_CALL __stdcall
#else
#include <dlfcn.h>
#define TTCRT_CALL
#endif

#if defined(__cplusplus)
#define TTCRT_ALIGN(bytes) alignas(bytes)
#elif defined(_MSC_VER)
#define TTCRT_ALIGN(bytes) __declspec(align(bytes))
#else
#define TTCRT_ALIGN(bytes) __attribute__((aligned(bytes)))
#endif
#if defined(__GNUC__)
#define TTCRT_FORMAT(text, rest) __attribute__((format(printf, text, rest)))
#else
#define TTCRT_FORMAT(text, rest)
#endif

/* ---- Types for users --------------------------------------------------------------------------------------------- */

/* The address of memory on the device that a kernel may write: a CUdeviceptr as a number. */
typedef uint64_t ttc_ptr;
/* The address of memory on the device that a kernel does not write. */
typedef uint64_t ttc_const_ptr;
/* A CUstream or cudaStream_t. NULL is the default stream. */
typedef void *ttc_stream;

/* The number for a pointer, such as one that cudaMalloc gave. */
static inline ttc_ptr ttc_address(const volatile void *pointer)
{
    return (ttc_ptr)(uintptr_t)pointer;
}

typedef enum ttc_code {
    TTC_OK = 0,
    /* libcuda cannot be opened, or lacks a function. */
    TTC_NO_DRIVER = 1,
    /* The thread has no current CUDA context. */
    TTC_NO_CONTEXT = 2,
    /* A function of the driver failed: `result` and `result_name` say how. */
    TTC_DRIVER_FAILED = 3,
    /* The kernel was not compiled for this GPU. */
    TTC_WRONG_GPU = 4,
    /* An argument breaks a promise that the kernel was compiled with, and there is no variant without it. */
    TTC_BROKEN_PROMISE = 5,
    /* The grid is too large, negative, or does not fit into 64 bits. */
    TTC_BAD_GRID = 6,
    /* A tensor argument breaks a rule of tensor descriptors. */
    TTC_BAD_TENSOR = 7,
    /* The kernel object was not loaded. */
    TTC_NOT_LOADED = 8
} ttc_code;

typedef struct ttc_error {
    ttc_code code;
    /* The CUresult of the function that failed, and 0 if none did. */
    int result;
    /* The driver's name for it, such as CUDA_ERROR_INVALID_VALUE, or an empty text. */
    const char *result_name;
    /* A sentence: the kernel, the step that failed, and what to do where that is known. */
    char text[512];
} ttc_error;

/* A tensor in the memory of the device, for an argument that is a tensor descriptor. Axis 0 is the outermost one.
 * Unused axes stay 0. The address and all strides but the last must be multiples of 16 bytes, the last stride is 1. */
typedef struct ttc_tensor {
    ttc_ptr address;
    /* Elements along each axis. */
    int64_t extents[5];
    /* Elements from one index of an axis to the next. */
    int64_t strides[5];
    /* What lies outside of the tensor reads as NaN, not as 0. */
    bool pads_with_nan;
    /* Elements of 32-bit floats are rounded to tf32 as they are loaded. */
    bool rounds_to_tf32;
} ttc_tensor;

/* A tensor whose elements lie one after the other, the last axis innermost; `rank` is 1 to 5. */
static inline ttc_tensor ttc_dense_tensor(ttc_ptr address, int rank, const int64_t *extents)
{
    ttc_tensor tensor;
    int64_t stride = 1;
    int axis;
    memset(&tensor, 0, sizeof tensor);
    tensor.address = address;
    for (axis = rank < 5 ? rank - 1 : 4; axis >= 0; axis--) {
        tensor.extents[axis] = extents[axis];
        tensor.strides[axis] = stride;
        stride *= extents[axis];
    }
    return tensor;
}

/* A matrix whose rows lie one after the other. */
static inline ttc_tensor ttc_matrix(ttc_ptr address, int64_t rows, int64_t columns)
{
    int64_t extents[2];
    extents[0] = rows;
    extents[1] = columns;
    return ttc_dense_tensor(address, 2, extents);
}

/* The bits of the nearest bf16; ties go to the even one. */
static inline uint16_t ttc_bf16_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (uint16_t)((bits >> 16) | 0x40u);
    }
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

static inline float ttc_float_from_bf16(uint16_t bf16)
{
    uint32_t bits = (uint32_t)bf16 << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The bits of the nearest fp16; ties go to the even one. */
static inline uint16_t ttc_fp16_from_float(float value)
{
    uint32_t bits, sign, magnitude;
    memcpy(&bits, &value, sizeof bits);
    sign = (bits >> 16) & 0x8000u;
    magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u);
    }
    if (magnitude >= 0x477ff000u) { /* From 65520 on, the nearest is infinity. */
        return (uint16_t)(sign | 0x7c00u);
    }
    if (magnitude >= 0x38800000u) { /* At least 2^-14: a normal number, whose exponent is 112 less. */
        return (uint16_t)(sign | ((magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13));
    }
    if (magnitude < 0x33000000u) { /* Below 2^-25, half of the smallest number. */
        return (uint16_t)sign;
    }
    {
        uint32_t shift = 126u - (magnitude >> 23);
        uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
        uint32_t half = 1u << (shift - 1u);
        return (uint16_t)(sign | ((mantissa + half - 1u + ((mantissa >> shift) & 1u)) >> shift));
    }
}

static inline float ttc_float_from_fp16(uint16_t fp16)
{
    uint32_t sign = (uint32_t)(fp16 & 0x8000u) << 16, exponent = (fp16 >> 10) & 31u, mantissa = fp16 & 0x3ffu, bits;
    float value;
    if (exponent == 31u) {
        bits = sign | 0x7f800000u | (mantissa << 13);
    } else if (exponent != 0u) {
        bits = sign | ((exponent + 112u) << 23) | (mantissa << 13);
    } else {
        value = (float)mantissa / 16777216.0f; /* 2^24 */
        memcpy(&bits, &value, sizeof bits);
        bits |= sign;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- Types for generated code ------------------------------------------------------------------------------------ */

/* The functions of libcuda that are called, by the names of the driver API. */
typedef struct ttcrt_driver {
    int(TTCRT_CALL *error_name)(int result, const char **name);                 /* cuGetErrorName */
    int(TTCRT_CALL *error_string)(int result, const char **text);               /* cuGetErrorString */
    int(TTCRT_CALL *current_context)(void **context);                           /* cuCtxGetCurrent */
    int(TTCRT_CALL *push_context)(void *context);                               /* cuCtxPushCurrent */
    int(TTCRT_CALL *pop_context)(void **context);                               /* cuCtxPopCurrent */
    int(TTCRT_CALL *current_device)(int *device);                               /* cuCtxGetDevice */
    int(TTCRT_CALL *device_attribute)(int *value, int attribute, int device);   /* cuDeviceGetAttribute */
    int(TTCRT_CALL *load_data)(void **module, const void *image);               /* cuModuleLoadData */
    int(TTCRT_CALL *load_file)(void **module, const char *path);                /* cuModuleLoad */
    int(TTCRT_CALL *unload)(void *module);                                      /* cuModuleUnload */
    int(TTCRT_CALL *get_function)(void **function, void *module, const char *); /* cuModuleGetFunction */
    int(TTCRT_CALL *set_attribute)(void *function, int attribute, int value);   /* cuFuncSetAttribute */
    int(TTCRT_CALL *launch)(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared,
                            void *stream, void **parameters, void **extra); /* cuLaunchKernel */
    /* The others are newer, and NULL in a driver that lacks them. */
    int(TTCRT_CALL *launch_ex)(const void *, void *function, void **parameters, void **extra); /* cuLaunchKernelEx */
    int(TTCRT_CALL *encode_tiled)(void *map, int type, uint32_t rank, void *address, const uint64_t *extents,
                                  const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
                                  int interleave, int swizzle, int promotion, int fill); /* cuTensorMapEncodeTiled */
    int(TTCRT_CALL *alloc_async)(uint64_t *address, size_t bytes, void *stream);         /* cuMemAllocAsync */
    int(TTCRT_CALL *free_async)(uint64_t address, void *stream);                         /* cuMemFreeAsync */
} ttcrt_driver;

/* One compilation of a kernel. */
typedef struct ttcrt_variant {
    /* The kernel's name in its source. */
    const char *kernel;
    /* What it was compiled for: `sm_90a`. */
    const char *arch;
    /* It runs on this compute capability and on later ones of the same major number, or if `exact` on no other. */
    int major, minor;
    bool exact;
    /* Variants of one number promise the same. Of those that a GPU runs, only the first is loaded. */
    int promises;
    /* The cubin, or NULL if it is a file. */
    const void *image;
    /* The name of the cubin's file, or NULL. */
    const char *file;
    /* The name of the function in the cubin. */
    const char *symbol;
    /* The threads of a block, the bytes of dynamic shared memory, the blocks of a cluster. */
    unsigned threads, shared, cluster[3];
} ttcrt_variant;

/* A variant on the device. Both are NULL if the device does not run it. */
typedef struct ttcrt_loaded {
    void *module, *function;
} ttcrt_loaded;

/* What a kernel object begins with. */
typedef struct ttcrt_kernel {
    ttcrt_driver driver;
    void *context;
} ttcrt_kernel;

/* How to encode a tensor map; the innermost axis comes first. The numbers are those of cuda.h. */
typedef struct ttcrt_recipe {
    int type;
    uint32_t rank, element_bytes, box[5], element_strides[5];
    int interleave, swizzle, promotion, fill;
    /* How many elements of the map an element of the innermost extent is. */
    uint32_t packed;
} ttcrt_recipe;

/* A CUtensorMap. */
typedef struct ttcrt_tensor_map {
    TTCRT_ALIGN(64) unsigned char bytes[128];
} ttcrt_tensor_map;

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

TTCRT_FORMAT(4, 5)
static inline ttc_code ttcrt_fail(ttc_error *error, ttc_code code, const char *kernel, const char *format, ...)
{
    if (error != NULL) {
        va_list rest;
        int length;
        error->code = code;
        error->result = 0;
        error->result_name = "";
        length = snprintf(error->text, sizeof error->text, "%s: ", kernel);
        if (length < 0 || length >= (int)sizeof error->text) {
            length = 0;
        }
        va_start(rest, format);
        vsnprintf(error->text + length, sizeof error->text - (size_t)length, format, rest);
        va_end(rest);
    }
    return code;
}

/* The error for a function of the driver that gave `result`. */
static inline ttc_code ttcrt_failed(const ttcrt_driver *driver, ttc_error *error, int result,
                                    const ttcrt_variant *variant, const char *step)
{
    const char *name = NULL, *text = NULL;
    if (driver->error_name(result, &name) != 0 || name == NULL) {
        name = "unknown";
    }
    if (driver->error_string(result, &text) != 0 || text == NULL) {
        text = "the driver has no text for it";
    }
    ttcrt_fail(error, TTC_DRIVER_FAILED, variant->kernel, "%s failed for the code for %s with %s (%d): %s", step,
               variant->arch, name, result, text);
    if (error != NULL) {
        error->result = result;
        error->result_name = name;
    }
    return TTC_DRIVER_FAILED;
}

/* The error for a promise that an argument breaks; `what` is `a multiple of ` or nothing. */
static inline ttc_code ttcrt_broken(ttc_error *error, const ttcrt_variant *variant, const char *argument,
                                    const char *what, long long number, long long value)
{
    return ttcrt_fail(error, TTC_BROKEN_PROMISE, variant->kernel,
                      "`%s` must be %s%lld in the code for %s, and it is %lld; compile a variant without this promise",
                      argument, what, number, variant->arch, value);
}

/* The same for an address that must be a multiple of some bytes. */
static inline ttc_code ttcrt_unaligned(ttc_error *error, const ttcrt_variant *variant, const char *argument,
                                       long long number, uint64_t address)
{
    return ttcrt_fail(error, TTC_BROKEN_PROMISE, variant->kernel,
                      "the address `%s` must be a multiple of %lld in the code for %s, and it is 0x%llx; compile a "
                      "variant without this promise",
                      argument, number, variant->arch, (unsigned long long)address);
}

/* ---- The driver -------------------------------------------------------------------------------------------------- */

/* Opens libcuda: the library that the environment variable TTC_LIBCUDA names, or the macro TTC_LIBCUDA, or the usual
 * one. It stays open until the process ends. */
static inline void *ttcrt_open_library(void)
{
    const char *name = getenv("TTC_LIBCUDA");
#if defined(TTC_LIBCUDA)
    if (name == NULL || *name == '\0') {
        name = TTC_LIBCUDA;
    }
#endif
#if defined(_WIN32)
    return (void *)LoadLibraryA(name != NULL && *name != '\0' ? name : "nvcuda.dll");
#else
    if (name != NULL && *name != '\0') {
        return dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    {
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        return library != NULL ? library : dlopen("libcuda.so", RTLD_NOW | RTLD_LOCAL);
    }
#endif
}

/* Copies the address of a function into `place`, and NULL if there is none. The copy avoids a cast from an object's
 * address to a function's, which C does not have. */
static inline bool ttcrt_symbol(void *library, const char *name, void *place)
{
#if defined(_WIN32)
    FARPROC address = GetProcAddress((HMODULE)library, name);
#else
    void *address = dlsym(library, name);
#endif
    memcpy(place, &address, sizeof address);
    return address != NULL;
}

/* Functions that use the default stream have a second form for programs with a default stream for each thread. */
#if defined(TTC_PER_THREAD_DEFAULT_STREAM) || defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define TTCRT_STREAM(name) name "_ptsz"
#else
#define TTCRT_STREAM(name) name
#endif

static inline ttc_code ttcrt_open(ttcrt_driver *driver, const char *kernel, ttc_error *error)
{
    const struct {
        const char *name;
        void *place;
        bool needed;
    } symbols[] = {
        {"cuGetErrorName", &driver->error_name, true},
        {"cuGetErrorString", &driver->error_string, true},
        {"cuCtxGetCurrent", &driver->current_context, true},
        {"cuCtxPushCurrent_v2", &driver->push_context, true},
        {"cuCtxPopCurrent_v2", &driver->pop_context, true},
        {"cuCtxGetDevice", &driver->current_device, true},
        {"cuDeviceGetAttribute", &driver->device_attribute, true},
        {"cuModuleLoadData", &driver->load_data, true},
        {"cuModuleLoad", &driver->load_file, true},
        {"cuModuleUnload", &driver->unload, true},
        {"cuModuleGetFunction", &driver->get_function, true},
        {"cuFuncSetAttribute", &driver->set_attribute, true},
        {TTCRT_STREAM("cuLaunchKernel"), &driver->launch, true},
        {TTCRT_STREAM("cuLaunchKernelEx"), &driver->launch_ex, false},
        {"cuTensorMapEncodeTiled", &driver->encode_tiled, false},
        {TTCRT_STREAM("cuMemAllocAsync"), &driver->alloc_async, false},
        {TTCRT_STREAM("cuMemFreeAsync"), &driver->free_async, false},
    };
    void *library = ttcrt_open_library();
    size_t i;
    if (library == NULL) {
        return ttcrt_fail(error, TTC_NO_DRIVER, kernel,
                          "libcuda cannot be opened; install NVIDIA's driver, or name its file in TTC_LIBCUDA");
    }
    for (i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        if (!ttcrt_symbol(library, symbols[i].name, symbols[i].place) && symbols[i].needed) {
            return ttcrt_fail(error, TTC_NO_DRIVER, kernel, "libcuda has no function `%s`; install a newer driver",
                              symbols[i].name);
        }
    }
    return TTC_OK;
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

/* The largest dynamic shared memory that a launch has without asking for it, and the largest cluster. */
#define TTCRT_USUAL_SHARED 49152u
#define TTCRT_USUAL_CLUSTER 8u

static inline bool ttcrt_runs(const ttcrt_variant *variant, int major, int minor)
{
    return variant->major == major && (variant->exact ? variant->minor == minor : variant->minor <= minor);
}

/* Loads one variant. On an error nothing stays loaded. */
static inline ttc_code ttcrt_load_variant(const ttcrt_driver *driver, const ttcrt_variant *variant,
                                          const char *directory, ttcrt_loaded *loaded, ttc_error *error)
{
    const char *step = "cuModuleLoadData";
    int result;
    if (variant->file == NULL) {
        result = driver->load_data(&loaded->module, variant->image);
    } else {
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/%s", directory, variant->file);
        if (length < 0 || length >= (int)sizeof path) {
            return ttcrt_fail(error, TTC_NOT_LOADED, variant->kernel, "the path of `%s` is too long", variant->file);
        }
        step = "cuModuleLoad";
        result = driver->load_file(&loaded->module, path);
    }
    if (result != 0) {
        loaded->module = NULL;
        return ttcrt_failed(driver, error, result, variant, step);
    }
    step = "cuModuleGetFunction";
    result = driver->get_function(&loaded->function, loaded->module, variant->symbol);
    if (result == 0 && variant->shared > TTCRT_USUAL_SHARED) {
        step = "cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)";
        result = driver->set_attribute(loaded->function, 8, (int)variant->shared);
    }
    if (result == 0 && variant->cluster[0] * variant->cluster[1] * variant->cluster[2] > TTCRT_USUAL_CLUSTER) {
        step = "cuFuncSetAttribute(NON_PORTABLE_CLUSTER_SIZE_ALLOWED)";
        result = driver->set_attribute(loaded->function, 14, 1);
    }
    if (result != 0) {
        ttc_code code = ttcrt_failed(driver, error, result, variant, step);
        driver->unload(loaded->module);
        loaded->module = loaded->function = NULL;
        return code;
    }
    return TTC_OK;
}

/* Unloads all variants. The first error is returned, and the rest is unloaded all the same. */
static inline ttc_code ttcrt_unload(ttcrt_kernel *kernel, ttcrt_loaded *loaded, const ttcrt_variant *variants,
                                    int count, ttc_error *error)
{
    ttc_code code = TTC_OK;
    void *before;
    int result, i;
    if (kernel->context == NULL) {
        return TTC_OK;
    }
    result = kernel->driver.push_context(kernel->context);
    if (result != 0) {
        return ttcrt_failed(&kernel->driver, error, result, variants, "cuCtxPushCurrent");
    }
    for (i = 0; i < count; i++) {
        if (loaded[i].module != NULL) {
            result = kernel->driver.unload(loaded[i].module);
            if (result != 0 && code == TTC_OK) {
                code = ttcrt_failed(&kernel->driver, error, result, &variants[i], "cuModuleUnload");
            }
        }
        loaded[i].module = loaded[i].function = NULL;
    }
    result = kernel->driver.pop_context(&before);
    if (result != 0 && code == TTC_OK) {
        code = ttcrt_failed(&kernel->driver, error, result, variants, "cuCtxPopCurrent");
    }
    kernel->context = NULL;
    return code;
}

/* The current context and the compute capability of its device. */
static inline ttc_code ttcrt_find_device(ttcrt_kernel *kernel, const ttcrt_variant *any, int *major, int *minor,
                                         ttc_error *error)
{
    const ttcrt_driver *driver = &kernel->driver;
    const char *step = "cuCtxGetDevice";
    int device = 0, result = driver->current_context(&kernel->context);
    if (result != 0 || kernel->context == NULL) {
        kernel->context = NULL;
        ttcrt_fail(error, TTC_NO_CONTEXT, any->kernel,
                   "this thread has no current CUDA context; make one current with cuCtxSetCurrent or cudaSetDevice");
        if (error != NULL) {
            error->result = result;
        }
        return TTC_NO_CONTEXT;
    }
    result = driver->current_device(&device);
    if (result == 0) {
        step = "cuDeviceGetAttribute";
        result = driver->device_attribute(major, 75, device);
    }
    if (result == 0) {
        result = driver->device_attribute(minor, 76, device);
    }
    if (result != 0) {
        kernel->context = NULL;
        return ttcrt_failed(driver, error, result, any, step);
    }
    return TTC_OK;
}

/* Loads the variants that the device of the current context runs. `directory` is where files of cubins are. */
static inline ttc_code ttcrt_load(ttcrt_kernel *kernel, ttcrt_loaded *loaded, const ttcrt_variant *variants, int count,
                                  const char *directory, ttc_error *error)
{
    ttc_code code;
    int i, before, major = 0, minor = 0, found = 0;
    kernel->context = NULL;
    memset(loaded, 0, sizeof *loaded * (size_t)count);
    code = ttcrt_open(&kernel->driver, variants->kernel, error);
    if (code == TTC_OK) {
        code = ttcrt_find_device(kernel, variants, &major, &minor, error);
    }
    for (i = 0; i < count && code == TTC_OK; i++) {
        bool wanted = ttcrt_runs(&variants[i], major, minor);
        for (before = 0; before < i; before++) {
            if (loaded[before].function != NULL && variants[before].promises == variants[i].promises) {
                wanted = false;
            }
        }
        if (wanted) {
            code = ttcrt_load_variant(&kernel->driver, &variants[i], directory, &loaded[i], error);
            found++;
        }
    }
    if (code == TTC_OK && found == 0) {
        char known[256] = "";
        for (i = 0; i < count; i++) {
            size_t used = strlen(known);
            if (strstr(known, variants[i].arch) == NULL) {
                snprintf(known + used, sizeof known - used, "%s%s", used == 0 ? "" : ", ", variants[i].arch);
            }
        }
        code = ttcrt_fail(error, TTC_WRONG_GPU, variants->kernel,
                          "it was compiled for %s, and this GPU has compute capability %d.%d; compile it for that too",
                          known, major, minor);
    }
    if (code != TTC_OK) {
        /* What was loaded goes; its errors are of no interest beside the first. */
        ttcrt_unload(kernel, loaded, variants, count, NULL);
    }
    return code;
}

/* ---- Grids ------------------------------------------------------------------------------------------------------- */

/* Integers of 64 bits for grids. `*fits` becomes false when a result does not fit, or when a divisor is not positive.
 * Quotients and remainders are rounded as in Python. */
static inline int64_t ttcrt_add(int64_t a, int64_t b, bool *fits)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) {
        *fits = false;
        return 0;
    }
    return a + b;
}

static inline int64_t ttcrt_sub(int64_t a, int64_t b, bool *fits)
{
    if (b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b) {
        *fits = false;
        return 0;
    }
    return a - b;
}

static inline int64_t ttcrt_mul(int64_t a, int64_t b, bool *fits)
{
    bool over;
    if (a == 0 || b == 0) {
        return 0;
    }
    if (a > 0) {
        over = b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a;
    } else {
        over = b > 0 ? a < INT64_MIN / b : b < INT64_MAX / a;
    }
    if (over) {
        *fits = false;
        return 0;
    }
    return a * b;
}

static inline int64_t ttcrt_div(int64_t a, int64_t b, bool *fits)
{
    if (b <= 0) {
        *fits = false;
        return 0;
    }
    return a / b - (a % b < 0 ? 1 : 0);
}

static inline int64_t ttcrt_mod(int64_t a, int64_t b, bool *fits)
{
    if (b <= 0) {
        *fits = false;
        return 0;
    }
    return a % b < 0 ? a % b + b : a % b;
}

static inline int64_t ttcrt_cdiv(int64_t a, int64_t b, bool *fits)
{
    if (b <= 0) {
        *fits = false;
        return 0;
    }
    return a / b + (a % b > 0 ? 1 : 0);
}

static inline int64_t ttcrt_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t ttcrt_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t ttcrt_from_u64(uint64_t a, bool *fits)
{
    if (a > (uint64_t)INT64_MAX) {
        *fits = false;
        return 0;
    }
    return (int64_t)a;
}

/* Checks a grid of programs against what a launch allows: 2^31 - 1 blocks in x, 65535 in y and z. */
static inline ttc_code ttcrt_check_grid(const ttcrt_variant *variant, const int64_t grid[3], ttc_error *error)
{
    int axis;
    for (axis = 0; axis < 3; axis++) {
        int64_t blocks = axis == 0 ? INT64_C(0x7fffffff) : INT64_C(65535);
        /* A product, since a quotient would take as long as the rest of the launcher. */
        if (grid[axis] < 0 || grid[axis] > blocks || grid[axis] * (int64_t)variant->cluster[axis] > blocks) {
            int64_t most = blocks / (int64_t)variant->cluster[axis];
            return ttcrt_fail(error, TTC_BAD_GRID, variant->kernel,
                              "%lld programs along %c were asked for, and a launch has 0 to %lld",
                              (long long)grid[axis], "xyz"[axis], (long long)most);
        }
    }
    return TTC_OK;
}

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

/* Checks the rules of tensor descriptors, which are the same on every GPU. */
static inline ttc_code ttcrt_check_tensor(const ttcrt_variant *variant, const char *argument, const ttc_tensor *tensor,
                                          int rank, int element_bytes, ttc_error *error)
{
    int axis;
    if (tensor->address % 16 != 0) {
        return ttcrt_fail(error, TTC_BAD_TENSOR, variant->kernel,
                          "the address of `%s` must be a multiple of 16, and it is 0x%llx", argument,
                          (unsigned long long)tensor->address);
    }
    for (axis = 0; axis < rank; axis++) {
        int64_t stride = tensor->strides[axis];
        if (tensor->extents[axis] < 1 || tensor->extents[axis] > INT32_MAX) {
            return ttcrt_fail(error, TTC_BAD_TENSOR, variant->kernel,
                              "extent %d of `%s` must be from 1 to 2147483647, and it is %lld", axis, argument,
                              (long long)tensor->extents[axis]);
        }
        if (axis == rank - 1 && stride != 1) {
            return ttcrt_fail(error, TTC_BAD_TENSOR, variant->kernel,
                              "the last stride of `%s` must be 1, and it is %lld", argument, (long long)stride);
        }
        if (axis < rank - 1 && (stride < 0 || stride >= (INT64_C(1) << 40) / element_bytes)) {
            return ttcrt_fail(error, TTC_BAD_TENSOR, variant->kernel,
                              "stride %d of `%s` must be from 0 to 2^40 bytes, and it is %lld elements of %d bytes",
                              axis, argument, (long long)stride, element_bytes);
        }
        if (axis < rank - 1 && stride * element_bytes % 16 != 0) {
            return ttcrt_fail(error, TTC_BAD_TENSOR, variant->kernel,
                              "stride %d of `%s` must be a multiple of 16 bytes, and it is %lld elements of %d bytes",
                              axis, argument, (long long)stride, element_bytes);
        }
    }
    return TTC_OK;
}

/* Encodes the tensor map of a tensor that ttcrt_check_tensor accepted. */
static inline ttc_code ttcrt_encode(const ttcrt_driver *driver, const ttcrt_variant *variant, const char *argument,
                                    const ttc_tensor *tensor, const ttcrt_recipe *recipe, ttcrt_tensor_map *map,
                                    ttc_error *error)
{
    uint64_t extents[5], strides[5];
    uint32_t axis, rank = recipe->rank;
    int result, type = recipe->type;
    char step[128];
    if (driver->encode_tiled == NULL) {
        return ttcrt_fail(error, TTC_NO_DRIVER, variant->kernel,
                          "libcuda has no function `cuTensorMapEncodeTiled`; install a driver of CUDA 12 or newer");
    }
    for (axis = 0; axis < rank; axis++) {
        extents[axis] = (uint64_t)tensor->extents[rank - 1 - axis];
        strides[axis] = axis + 1 < rank ? (uint64_t)tensor->strides[rank - 2 - axis] * recipe->element_bytes : 0;
    }
    extents[0] *= recipe->packed;
    if (tensor->rounds_to_tf32) {
        if (type != 7) { /* CU_TENSOR_MAP_DATA_TYPE_FLOAT32 */
            return ttcrt_fail(error, TTC_BAD_TENSOR, variant->kernel,
                              "`%s` rounds to tf32, which only tensors of 32-bit floats can", argument);
        }
        type = 11; /* CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 */
    }
    result = driver->encode_tiled(map, type, rank, (void *)(uintptr_t)tensor->address, extents, strides, recipe->box,
                                  recipe->element_strides, recipe->interleave, recipe->swizzle, recipe->promotion,
                                  tensor->pads_with_nan ? 1 : recipe->fill);
    if (result != 0) {
        snprintf(step, sizeof step, "cuTensorMapEncodeTiled of `%.60s`", argument);
        return ttcrt_failed(driver, error, result, variant, step);
    }
    return TTC_OK;
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

/* An argument where it lies. The driver only reads it, but takes addresses without `const`. */
static inline void *ttcrt_pass(const void *argument)
{
    return (void *)(uintptr_t)argument;
}

/* CUlaunchAttribute and CUlaunchConfig of cuda.h. */
typedef struct ttcrt_attribute {
    TTCRT_ALIGN(8) int id;
    char unused[4];
    union {
        char all[64];
        unsigned cluster[3];
        int number;
    } value;
} ttcrt_attribute;

typedef struct ttcrt_config {
    unsigned grid[3], block[3], shared;
    void *stream;
    ttcrt_attribute *attributes;
    unsigned count;
} ttcrt_config;

/* A launch with attributes: clusters, and a start before the kernel before it has ended. */
static inline ttc_code ttcrt_launch_ex(const ttcrt_driver *driver, const ttcrt_variant *variant, void *function,
                                       ttc_stream stream, const int64_t grid[3], bool early, void **parameters,
                                       ttc_error *error)
{
    ttcrt_attribute attributes[3];
    ttcrt_config config;
    int result, axis;
    if (driver->launch_ex == NULL) {
        return ttcrt_fail(error, TTC_NO_DRIVER, variant->kernel,
                          "libcuda has no function `cuLaunchKernelEx`; install a driver of CUDA 12 or newer");
    }
    memset(attributes, 0, sizeof attributes);
    memset(&config, 0, sizeof config);
    for (axis = 0; axis < 3; axis++) {
        config.grid[axis] = (unsigned)grid[axis] * variant->cluster[axis];
        config.block[axis] = axis == 0 ? variant->threads : 1;
        attributes[0].value.cluster[axis] = variant->cluster[axis];
    }
    config.shared = variant->shared;
    config.stream = stream;
    config.attributes = attributes;
    if (variant->cluster[0] * variant->cluster[1] * variant->cluster[2] > 1) {
        attributes[0].id = 4; /* CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION */
        attributes[1].id = 5; /* CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE */
        attributes[1].value.number = 1; /* CU_CLUSTER_SCHEDULING_POLICY_SPREAD */
        config.count = 2;
    }
    if (early) {
        memset(&attributes[config.count], 0, sizeof *attributes);
        attributes[config.count].id = 6; /* CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION */
        attributes[config.count].value.number = 1;
        config.count++;
    }
    result = driver->launch_ex(&config, function, parameters, NULL);
    return result == 0 ? TTC_OK : ttcrt_failed(driver, error, result, variant, "cuLaunchKernelEx");
}

/* Launches a grid that ttcrt_check_grid accepted. */
static inline ttc_code ttcrt_launch(const ttcrt_driver *driver, const ttcrt_variant *variant, void *function,
                                    ttc_stream stream, const int64_t grid[3], bool early, void **parameters,
                                    ttc_error *error)
{
    int result;
    if (early || variant->cluster[0] * variant->cluster[1] * variant->cluster[2] > 1) {
        return ttcrt_launch_ex(driver, variant, function, stream, grid, early, parameters, error);
    }
    result = driver->launch(function, (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2], variant->threads, 1, 1,
                            variant->shared, stream, parameters, NULL);
    return result == 0 ? TTC_OK : ttcrt_failed(driver, error, result, variant, "cuLaunchKernel");
}

/* Memory for the time of one launch, in the order of the stream: `bytes` for each block. `*address` is where a kernel
 * may use it, and `*block` what ttcrt_free_scratch takes. */
static inline ttc_code ttcrt_scratch(const ttcrt_driver *driver, const ttcrt_variant *variant, ttc_stream stream,
                                     const int64_t grid[3], uint32_t bytes, uint32_t align, ttc_ptr *address,
                                     ttc_ptr *block, ttc_error *error)
{
    /* The driver's own alignment; what needs more takes a larger block. */
    uint64_t more = align > 256 ? align : 0, size = bytes;
    bool fits = true;
    int64_t total = (int64_t)size;
    int result, axis;
    if (driver->alloc_async == NULL || driver->free_async == NULL) {
        return ttcrt_fail(error, TTC_NO_DRIVER, variant->kernel,
                          "libcuda has no function `cuMemAllocAsync`; hand in memory as `global_scratch`");
    }
    for (axis = 0; axis < 3; axis++) {
        total = ttcrt_mul(total, grid[axis] * (int64_t)variant->cluster[axis], &fits);
    }
    total = ttcrt_add(total, (int64_t)more, &fits);
    if (!fits || (uint64_t)total > SIZE_MAX) {
        return ttcrt_fail(error, TTC_BAD_GRID, variant->kernel,
                          "the size of the scratch memory of this grid does not fit into 64 bits");
    }
    result = driver->alloc_async(block, (size_t)total, stream);
    if (result != 0) {
        return ttcrt_failed(driver, error, result, variant, "cuMemAllocAsync of scratch memory");
    }
    *address = more == 0 ? *block : (*block + more - 1) / more * more;
    return TTC_OK;
}

/* Gives the memory of a launch back. The launch's own error is kept. */
static inline ttc_code ttcrt_free_scratch(const ttcrt_driver *driver, const ttcrt_variant *variant, ttc_stream stream,
                                          ttc_ptr block, ttc_code launched, ttc_error *error)
{
    int result = driver->free_async(block, stream);
    if (result != 0 && launched == TTC_OK) {
        return ttcrt_failed(driver, error, result, variant, "cuMemFreeAsync of scratch memory");
    }
    return launched;
}

#endif
