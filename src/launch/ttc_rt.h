/* ttc_rt.h: what the launchers that `ttc compile --emit c` prints need at run time.
 *
 * 1. It is one header of C99 and C++11 without other files. It needs the C library and, when a kernel is loaded,
 *    NVIDIA's driver (libcuda) or AMD's runtime (libamdhip64), which it opens by name. Neither the CUDA toolkit nor
 *    ROCm's headers nor a link option is needed.
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
#define TTC_RT_VERSION 3

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

/* The address of memory on the device that a kernel may write: a CUdeviceptr or hipDeviceptr_t as a number. */
typedef uint64_t ttc_ptr;
/* The address of memory on the device that a kernel does not write. */
typedef uint64_t ttc_const_ptr;
/* A CUstream, cudaStream_t or hipStream_t. NULL is the default stream. */
typedef void *ttc_stream;

/* The number for a pointer, such as one that cudaMalloc or hipMalloc gave. */
static inline ttc_ptr ttc_address(const volatile void *pointer)
{
    return (ttc_ptr)(uintptr_t)pointer;
}

typedef enum ttc_code {
    TTC_OK = 0,
    /* libcuda or libamdhip64 cannot be opened, or lacks a function. */
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
    /* The CUresult or hipError_t of the function that failed, and 0 if none did. */
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

/* Whose GPUs code is for. */
typedef enum ttcrt_vendor { TTCRT_NVIDIA = 0, TTCRT_AMD = 1 } ttcrt_vendor;

/* The functions that are called of libcuda or libamdhip64, by the names there. */
typedef struct ttcrt_driver {
    ttcrt_vendor vendor;
    int(TTCRT_CALL *error_name)(int result, const char **name);   /* cuGetErrorName, hipDrvGetErrorName */
    int(TTCRT_CALL *error_string)(int result, const char **text); /* cuGetErrorString, hipDrvGetErrorString */
    int(TTCRT_CALL *current_device)(int *device);                 /* cuCtxGetDevice, hipGetDevice */
    int(TTCRT_CALL *load_data)(void **module, const void *image); /* cuModuleLoadData, hipModuleLoadData */
    int(TTCRT_CALL *load_file)(void **module, const char *path);  /* cuModuleLoad, hipModuleLoad */
    int(TTCRT_CALL *unload)(void *module);                        /* cuModuleUnload, hipModuleUnload */
    /* cuModuleGetFunction, hipModuleGetFunction */
    int(TTCRT_CALL *get_function)(void **function, void *module, const char *);
    int(TTCRT_CALL *launch)(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared,
                            void *stream, void **parameters, void **extra); /* cuLaunchKernel, hipModuleLaunchKernel */
    /* These are newer, and NULL in a driver that lacks them. */
    int(TTCRT_CALL *alloc_async)(uint64_t *address, size_t bytes, void *stream); /* cuMemAllocAsync, hipMallocAsync */
    int(TTCRT_CALL *free_async)(uint64_t address, void *stream);                 /* cuMemFreeAsync, hipFreeAsync */
    /* Of libcuda alone; the last two are newer. */
    int(TTCRT_CALL *current_context)(void **context);                         /* cuCtxGetCurrent */
    int(TTCRT_CALL *push_context)(void *context);                             /* cuCtxPushCurrent */
    int(TTCRT_CALL *pop_context)(void **context);                             /* cuCtxPopCurrent */
    int(TTCRT_CALL *device_attribute)(int *value, int attribute, int device); /* cuDeviceGetAttribute */
    int(TTCRT_CALL *set_attribute)(void *function, int attribute, int value); /* cuFuncSetAttribute */
    int(TTCRT_CALL *launch_ex)(const void *, void *function, void **parameters, void **extra); /* cuLaunchKernelEx */
    int(TTCRT_CALL *encode_tiled)(void *map, int type, uint32_t rank, void *address, const uint64_t *extents,
                                  const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
                                  int interleave, int swizzle, int promotion, int fill); /* cuTensorMapEncodeTiled */
    /* Of libamdhip64 alone. */
    int(TTCRT_CALL *set_device)(int device);                     /* hipSetDevice */
    int(TTCRT_CALL *properties)(void *hipDeviceProp, int device); /* hipGetDevicePropertiesR0600 */
} ttcrt_driver;

/* One compilation of a kernel. */
typedef struct ttcrt_variant {
    /* The kernel's name in its source. */
    const char *kernel;
    /* What it was compiled for: `sm_90a`, `gfx942`. AMD's processor of this name runs it. */
    const char *arch;
    ttcrt_vendor vendor;
    /* An NVIDIA GPU of this compute capability runs it, and later ones of the same major number, or if `exact` no
     * other. */
    int major, minor;
    bool exact;
    /* Variants of one number promise the same. Of those that a GPU runs and has the shared memory for, only the first
     * is loaded. */
    int promises;
    /* The cubin or code object, or NULL if it is a file. */
    const void *image;
    /* The name of the file, or NULL. */
    const char *file;
    /* The name of the function in it. */
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
    /* The CUcontext that it was loaded into, and NULL if it was not. AMD's runtime loads for a device: there this is
     * the object itself. */
    void *context;
    int device;
} ttcrt_kernel;

/* The GPU that a kernel is loaded for. */
typedef struct ttcrt_gpu {
    /* Of NVIDIA: the compute capability. */
    int major, minor;
    /* Of AMD: the processor. */
    char name[64];
    /* The bytes of dynamic shared memory that a block may have. */
    uint64_t shared;
} ttcrt_gpu;

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

/* The one of two names that the driver knows. */
static inline const char *ttcrt_named(const ttcrt_driver *driver, const char *cuda, const char *hip)
{
    return driver->vendor == TTCRT_AMD ? hip : cuda;
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

/* Opens the library that the environment variable names, or `chosen`, or the first of the usual ones; one that the
 * process has loaded already comes first. It stays open until the process ends. */
static inline void *ttcrt_open_named(const char *variable, const char *chosen, const char *const *usual, int count)
{
    const char *name = getenv(variable);
    void *library = NULL;
    int i;
    if (name == NULL || *name == '\0') {
        name = chosen;
    }
    if (name != NULL) {
        usual = &name;
        count = 1;
    }
#if defined(_WIN32)
    for (i = 0; i < count && library == NULL; i++) {
        library = (void *)LoadLibraryA(usual[i]);
    }
#else
#if defined(RTLD_NOLOAD)
    for (i = 0; i < count && library == NULL; i++) {
        library = dlopen(usual[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    }
#endif
    for (i = 0; i < count && library == NULL; i++) {
        library = dlopen(usual[i], RTLD_NOW | RTLD_LOCAL);
    }
#endif
    return library;
}

/* Opens libcuda: the library that the environment variable TTC_LIBCUDA names, or the macro TTC_LIBCUDA, or the usual
 * one. */
static inline void *ttcrt_open_library(void)
{
#if defined(_WIN32)
    const char *usual[] = {"nvcuda.dll"};
#else
    const char *usual[] = {"libcuda.so.1", "libcuda.so"};
#endif
#if defined(TTC_LIBCUDA)
    const char *chosen = TTC_LIBCUDA;
#else
    const char *chosen = NULL;
#endif
    return ttcrt_open_named("TTC_LIBCUDA", chosen, usual, (int)(sizeof usual / sizeof *usual));
}

/* Opens libamdhip64 in the same way. */
static inline void *ttcrt_open_hip_library(void)
{
#if defined(_WIN32)
    const char *usual[] = {"amdhip64_7.dll", "amdhip64_6.dll", "amdhip64.dll"};
#else
    const char *usual[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so"};
#endif
#if defined(TTC_LIBAMDHIP64)
    const char *chosen = TTC_LIBAMDHIP64;
#else
    const char *chosen = NULL;
#endif
    return ttcrt_open_named("TTC_LIBAMDHIP64", chosen, usual, (int)(sizeof usual / sizeof *usual));
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

/* A function of a library. */
typedef struct ttcrt_function {
    const char *name;
    void *place;
    bool needed;
} ttcrt_function;

/* Looks the functions up. `library` is NULL if it could not be opened. */
static inline ttc_code ttcrt_find_functions(void *library, const char *name, const char *advice,
                                            const ttcrt_function *functions, size_t count, const char *kernel,
                                            ttc_error *error)
{
    size_t i;
    if (library == NULL) {
        return ttcrt_fail(error, TTC_NO_DRIVER, kernel, "%s cannot be opened; %s", name, advice);
    }
    for (i = 0; i < count; i++) {
        if (!ttcrt_symbol(library, functions[i].name, functions[i].place) && functions[i].needed) {
            return ttcrt_fail(error, TTC_NO_DRIVER, kernel, "%s has no function `%s`; install a newer driver", name,
                              functions[i].name);
        }
    }
    return TTC_OK;
}

static inline ttc_code ttcrt_open_cuda(ttcrt_driver *driver, const char *kernel, ttc_error *error)
{
    const ttcrt_function functions[] = {
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
    memset(driver, 0, sizeof *driver);
    driver->vendor = TTCRT_NVIDIA;
    return ttcrt_find_functions(ttcrt_open_library(), "libcuda",
                                "install NVIDIA's driver, or name its file in TTC_LIBCUDA", functions,
                                sizeof functions / sizeof *functions, kernel, error);
}

static inline ttc_code ttcrt_open_hip(ttcrt_driver *driver, const char *kernel, ttc_error *error)
{
    const ttcrt_function functions[] = {
        {"hipDrvGetErrorName", &driver->error_name, true},
        {"hipDrvGetErrorString", &driver->error_string, true},
        {"hipGetDevice", &driver->current_device, true},
        {"hipSetDevice", &driver->set_device, true},
        {"hipGetDevicePropertiesR0600", &driver->properties, true},
        {"hipModuleLoadData", &driver->load_data, true},
        {"hipModuleLoad", &driver->load_file, true},
        {"hipModuleUnload", &driver->unload, true},
        {"hipModuleGetFunction", &driver->get_function, true},
        {"hipModuleLaunchKernel", &driver->launch, true},
        {"hipMallocAsync", &driver->alloc_async, false},
        {"hipFreeAsync", &driver->free_async, false},
    };
    memset(driver, 0, sizeof *driver);
    driver->vendor = TTCRT_AMD;
    return ttcrt_find_functions(ttcrt_open_hip_library(), "libamdhip64",
                                "install ROCm 6 or newer, or name its file in TTC_LIBAMDHIP64", functions,
                                sizeof functions / sizeof *functions, kernel, error);
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

/* The largest dynamic shared memory that a launch has without asking for it, and the largest cluster. */
#define TTCRT_USUAL_SHARED 49152u
#define TTCRT_USUAL_CLUSTER 8u

static inline bool ttcrt_runs(const ttcrt_variant *variant, ttcrt_vendor vendor, const ttcrt_gpu *gpu)
{
    if (variant->vendor != vendor) {
        return false;
    }
    if (vendor == TTCRT_AMD) {
        return strcmp(variant->arch, gpu->name) == 0;
    }
    if (variant->major != gpu->major) {
        return false;
    }
    return variant->exact ? variant->minor == gpu->minor : variant->minor <= gpu->minor;
}

/* The variant to load among those that promise the same as this one: the first that the GPU runs and has the shared
 * memory for. -1 if there is none. */
static inline int ttcrt_first_of(const ttcrt_variant *variants, int count, const ttcrt_variant *one,
                                 ttcrt_vendor vendor, const ttcrt_gpu *gpu)
{
    int i;
    for (i = 0; i < count; i++) {
        const ttcrt_variant *v = &variants[i];
        if (v->promises == one->promises && v->shared <= gpu->shared && ttcrt_runs(v, vendor, gpu)) {
            return i;
        }
    }
    return -1;
}

/* Loads one variant. On an error nothing stays loaded. */
static inline ttc_code ttcrt_load_variant(const ttcrt_driver *driver, const ttcrt_variant *variant,
                                          const char *directory, ttcrt_loaded *loaded, ttc_error *error)
{
    const char *step = ttcrt_named(driver, "cuModuleLoadData", "hipModuleLoadData");
    bool is_nvidia = driver->vendor == TTCRT_NVIDIA;
    int result;
    if (variant->file == NULL) {
        result = driver->load_data(&loaded->module, variant->image);
    } else {
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/%s", directory, variant->file);
        if (length < 0 || length >= (int)sizeof path) {
            return ttcrt_fail(error, TTC_NOT_LOADED, variant->kernel, "the path of `%s` is too long", variant->file);
        }
        step = ttcrt_named(driver, "cuModuleLoad", "hipModuleLoad");
        result = driver->load_file(&loaded->module, path);
    }
    if (result != 0) {
        loaded->module = NULL;
        return ttcrt_failed(driver, error, result, variant, step);
    }
    step = ttcrt_named(driver, "cuModuleGetFunction", "hipModuleGetFunction");
    result = driver->get_function(&loaded->function, loaded->module, variant->symbol);
    if (result == 0 && is_nvidia && variant->shared > TTCRT_USUAL_SHARED) {
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

/* Makes the context or device of a kernel the thread's current one. `*before` is the device that was. */
static inline int ttcrt_enter(const ttcrt_kernel *kernel, int *before, const char **step)
{
    const ttcrt_driver *driver = &kernel->driver;
    int result;
    if (driver->vendor == TTCRT_NVIDIA) {
        *step = "cuCtxPushCurrent";
        return driver->push_context(kernel->context);
    }
    *step = "hipGetDevice";
    result = driver->current_device(before);
    if (result == 0 && *before != kernel->device) {
        *step = "hipSetDevice";
        result = driver->set_device(kernel->device);
    }
    return result;
}

/* Undoes what ttcrt_enter did. */
static inline int ttcrt_leave(const ttcrt_kernel *kernel, int before, const char **step)
{
    const ttcrt_driver *driver = &kernel->driver;
    void *context;
    if (driver->vendor == TTCRT_NVIDIA) {
        *step = "cuCtxPopCurrent";
        return driver->pop_context(&context);
    }
    *step = "hipSetDevice";
    return before == kernel->device ? 0 : driver->set_device(before);
}

/* Unloads all variants. The first error is returned, and the rest is unloaded all the same. */
static inline ttc_code ttcrt_unload(ttcrt_kernel *kernel, ttcrt_loaded *loaded, const ttcrt_variant *variants,
                                    int count, ttc_error *error)
{
    ttc_code code = TTC_OK;
    const char *step;
    int result, i, before = 0;
    if (kernel->context == NULL) {
        return TTC_OK;
    }
    result = ttcrt_enter(kernel, &before, &step);
    if (result != 0) {
        return ttcrt_failed(&kernel->driver, error, result, variants, step);
    }
    for (i = 0; i < count; i++) {
        if (loaded[i].module != NULL) {
            result = kernel->driver.unload(loaded[i].module);
            if (result != 0 && code == TTC_OK) {
                code = ttcrt_failed(&kernel->driver, error, result, &variants[i],
                                    ttcrt_named(&kernel->driver, "cuModuleUnload", "hipModuleUnload"));
            }
        }
        loaded[i].module = loaded[i].function = NULL;
    }
    result = ttcrt_leave(kernel, before, &step);
    if (result != 0 && code == TTC_OK) {
        code = ttcrt_failed(&kernel->driver, error, result, variants, step);
    }
    kernel->context = NULL;
    return code;
}

/* The current context and the compute capability of its device. */
static inline ttc_code ttcrt_find_nvidia(ttcrt_kernel *kernel, const ttcrt_variant *any, ttcrt_gpu *gpu,
                                         ttc_error *error)
{
    const ttcrt_driver *driver = &kernel->driver;
    const char *step = "cuCtxGetDevice";
    int shared = 0;
    int result = driver->current_context(&kernel->context);
    if (result != 0 || kernel->context == NULL) {
        kernel->context = NULL;
        ttcrt_fail(error, TTC_NO_CONTEXT, any->kernel,
                   "this thread has no current CUDA context; make one current with cuCtxSetCurrent or cudaSetDevice");
        if (error != NULL) {
            error->result = result;
        }
        return TTC_NO_CONTEXT;
    }
    result = driver->current_device(&kernel->device);
    if (result == 0) {
        step = "cuDeviceGetAttribute";
        result = driver->device_attribute(&gpu->major, 75, kernel->device);
    }
    if (result == 0) {
        result = driver->device_attribute(&gpu->minor, 76, kernel->device);
    }
    if (result == 0) {
        result = driver->device_attribute(&shared, 97, kernel->device);
    }
    gpu->shared = shared > 0 ? (uint64_t)shared : 0;
    if (result != 0) {
        kernel->context = NULL;
        return ttcrt_failed(driver, error, result, any, step);
    }
    return TTC_OK;
}

/* Where the members of hipDeviceProp_tR0600 are (hip_runtime_api.h of ROCm 6 and 7). It has 1472 bytes. */
#define TTCRT_HIP_SHARED 296 /* size_t sharedMemPerBlock */
#define TTCRT_HIP_NAME 1160  /* char gcnArchName[256]: gfx942:sramecc+:xnack- */
#define TTCRT_HIP_NAME_BYTES 256

/* The current device and its processor. */
static inline ttc_code ttcrt_find_amd(ttcrt_kernel *kernel, const ttcrt_variant *any, ttcrt_gpu *gpu, ttc_error *error)
{
    const ttcrt_driver *driver = &kernel->driver;
    const char *step = "hipGetDevice";
    union {
        uint64_t aligned;
        char bytes[4096];
    } properties;
    int i, result = driver->current_device(&kernel->device);
    memset(&properties, 0, sizeof properties);
    if (result == 0) {
        step = "hipGetDeviceProperties";
        result = driver->properties(&properties, kernel->device);
    }
    if (result != 0) {
        return ttcrt_failed(driver, error, result, any, step);
    }
    memcpy(&gpu->shared, properties.bytes + TTCRT_HIP_SHARED, sizeof gpu->shared);
    /* The modes behind the name do not matter: ttc's code keeps to what each of them allows. */
    for (i = 0; i < TTCRT_HIP_NAME_BYTES && i < (int)sizeof gpu->name - 1; i++) {
        char c = properties.bytes[TTCRT_HIP_NAME + i];
        if (c == '\0' || c == ':') {
            break;
        }
        gpu->name[i] = c;
    }
    kernel->context = kernel;
    return TTC_OK;
}

/* Finds the GPU to load for. Where there is code for both vendors, that is NVIDIA's of the current context if there is
 * one, and else the current device of AMD's runtime. */
static inline ttc_code ttcrt_find_gpu(ttcrt_kernel *kernel, const ttcrt_variant *variants, int count, ttcrt_gpu *gpu,
                                      ttc_error *error)
{
    const ttcrt_variant *has[2] = {NULL, NULL}; /* the first variant of each vendor */
    ttc_error other;
    ttc_code code = TTC_NO_DRIVER, amd;
    int i;
    memset(gpu, 0, sizeof *gpu);
    for (i = count - 1; i >= 0; i--) {
        has[variants[i].vendor] = &variants[i];
    }
    if (has[TTCRT_NVIDIA] != NULL) {
        ttc_error *said = has[TTCRT_AMD] != NULL ? &other : error;
        code = ttcrt_open_cuda(&kernel->driver, variants->kernel, said);
        if (code == TTC_OK) {
            code = ttcrt_find_nvidia(kernel, has[TTCRT_NVIDIA], gpu, said);
        }
        if (has[TTCRT_AMD] == NULL || code == TTC_OK) {
            return code;
        }
        if (code == TTC_DRIVER_FAILED) {
            if (error != NULL) {
                *error = other;
            }
            return code;
        }
    }
    amd = ttcrt_open_hip(&kernel->driver, variants->kernel, error);
    if (amd == TTC_OK) {
        amd = ttcrt_find_amd(kernel, has[TTCRT_AMD], gpu, error);
    }
    if (amd == TTC_OK || has[TTCRT_NVIDIA] == NULL) {
        return amd;
    }
    if (code == TTC_NO_CONTEXT) { /* NVIDIA's driver is there and AMD's is not, or it has no GPU. */
        if (error != NULL) {
            *error = other;
        }
        return code;
    }
    if (amd == TTC_NO_DRIVER) {
        return ttcrt_fail(error, TTC_NO_DRIVER, variants->kernel,
                          "neither libcuda nor libamdhip64 can be used; install NVIDIA's driver, or ROCm 6 or newer, "
                          "or name their files in TTC_LIBCUDA and TTC_LIBAMDHIP64");
    }
    return amd;
}

/* The error for a GPU that no variant is for. */
static inline ttc_code ttcrt_no_variant(const ttcrt_kernel *kernel, const ttcrt_variant *variants, int count,
                                        const ttcrt_gpu *gpu, ttc_error *error)
{
    char known[256] = "", own[sizeof gpu->name + 32];
    int i, before;
    for (i = 0; i < count; i++) {
        size_t used = strlen(known);
        for (before = 0; before < i && strcmp(variants[before].arch, variants[i].arch) != 0; before++) {
        }
        if (before == i) {
            snprintf(known + used, sizeof known - used, "%s%s", used == 0 ? "" : ", ", variants[i].arch);
        }
    }
    if (kernel->driver.vendor == TTCRT_AMD) {
        snprintf(own, sizeof own, "is a %s", gpu->name);
    } else {
        snprintf(own, sizeof own, "has compute capability %d.%d", gpu->major, gpu->minor);
    }
    return ttcrt_fail(error, TTC_WRONG_GPU, variants->kernel,
                      "it was compiled for %s, and this GPU %s; compile it for that too", known, own);
}

/* Loads the variants that the GPU runs, one for each set of promises. `directory` is where files of code are. */
static inline ttc_code ttcrt_load(ttcrt_kernel *kernel, ttcrt_loaded *loaded, const ttcrt_variant *variants, int count,
                                  const char *directory, ttc_error *error)
{
    ttc_code code;
    ttcrt_gpu gpu;
    int i, found = 0;
    kernel->context = NULL;
    memset(loaded, 0, sizeof *loaded * (size_t)count);
    code = ttcrt_find_gpu(kernel, variants, count, &gpu, error);
    for (i = 0; i < count && code == TTC_OK; i++) {
        const ttcrt_variant *variant = &variants[i];
        int first;
        if (!ttcrt_runs(variant, kernel->driver.vendor, &gpu)) {
            continue;
        }
        found++;
        first = ttcrt_first_of(variants, count, variant, kernel->driver.vendor, &gpu);
        if (first == i) {
            code = ttcrt_load_variant(&kernel->driver, variant, directory, &loaded[i], error);
        } else if (first < 0) {
            code = ttcrt_fail(error, TTC_WRONG_GPU, variant->kernel,
                              "a block needs %u bytes of shared memory in the code for %s, and this GPU has %llu "
                              "for one",
                              variant->shared, variant->arch, (unsigned long long)gpu.shared);
        }
    }
    if (code == TTC_OK && found == 0) {
        code = ttcrt_no_variant(kernel, variants, count, &gpu, error);
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

/* Checks a grid of programs against what a launch allows: 2^31 - 1 blocks in x, 65535 in y and z. AMD's GPUs count
 * threads in 32 bits. */
static inline ttc_code ttcrt_check_grid(const ttcrt_variant *variant, const int64_t grid[3], ttc_error *error)
{
    int axis;
    for (axis = 0; axis < 3; axis++) {
        int64_t blocks = axis == 0 ? INT64_C(0x7fffffff) : INT64_C(65535);
        if (axis == 0 && variant->vendor == TTCRT_AMD) {
            int64_t most = INT64_C(0xffffffff) / (int64_t)variant->threads;
            blocks = most < blocks ? most : blocks;
        }
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

/* Encodes the tensor map of an array that starts at an argument, which `words` shows as expressions of the arguments.
 * `fits` says whether they could be computed. */
static inline ttc_code ttcrt_map_array(const ttcrt_driver *driver, const ttcrt_variant *variant, const char *argument,
                                       const char *words, bool fits, const ttc_tensor *array,
                                       const ttcrt_recipe *recipe, ttcrt_tensor_map *map, ttc_error *error)
{
    ttc_code code;
    size_t length;
    if (!fits) {
        return ttcrt_fail(error, TTC_BAD_TENSOR, variant->kernel,
                          "a number of the array at `%s` does not fit into 64 bits; the kernel reads it as %s", argument,
                          words);
    }
    code = ttcrt_check_tensor(variant, argument, array, (int)recipe->rank, (int)recipe->element_bytes, error);
    if (code != TTC_OK && error != NULL) {
        length = strlen(error->text);
        snprintf(error->text + length, sizeof error->text - length, "; the kernel reads it as %s", words);
    }
    return code == TTC_OK ? ttcrt_encode(driver, variant, argument, array, recipe, map, error) : code;
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

/* The stream for the driver: AMD's runtime has hipStreamPerThread in place of functions for such programs. */
static inline void *ttcrt_stream(const ttcrt_driver *driver, ttc_stream stream)
{
#if defined(TTC_PER_THREAD_DEFAULT_STREAM) || defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
    if (driver->vendor == TTCRT_AMD && stream == NULL) {
        return (void *)(uintptr_t)2;
    }
#endif
    (void)driver;
    return stream;
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
                            variant->shared, ttcrt_stream(driver, stream), parameters, NULL);
    return result == 0 ? TTC_OK
                       : ttcrt_failed(driver, error, result, variant,
                                      ttcrt_named(driver, "cuLaunchKernel", "hipModuleLaunchKernel"));
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
                          "%s; hand in memory as `global_scratch`",
                          ttcrt_named(driver, "libcuda has no function `cuMemAllocAsync`",
                                      "libamdhip64 has no function `hipMallocAsync`"));
    }
    for (axis = 0; axis < 3; axis++) {
        total = ttcrt_mul(total, grid[axis] * (int64_t)variant->cluster[axis], &fits);
    }
    total = ttcrt_add(total, (int64_t)more, &fits);
    if (!fits || (uint64_t)total > SIZE_MAX) {
        return ttcrt_fail(error, TTC_BAD_GRID, variant->kernel,
                          "the size of the scratch memory of this grid does not fit into 64 bits");
    }
    result = driver->alloc_async(block, (size_t)total, ttcrt_stream(driver, stream));
    if (result != 0) {
        const char *step =
            ttcrt_named(driver, "cuMemAllocAsync of scratch memory", "hipMallocAsync of scratch memory");
        return ttcrt_failed(driver, error, result, variant, step);
    }
    *address = more == 0 ? *block : (*block + more - 1) / more * more;
    return TTC_OK;
}

/* Gives the memory of a launch back. The launch's own error is kept. */
static inline ttc_code ttcrt_free_scratch(const ttcrt_driver *driver, const ttcrt_variant *variant, ttc_stream stream,
                                          ttc_ptr block, ttc_code launched, ttc_error *error)
{
    int result = driver->free_async(block, ttcrt_stream(driver, stream));
    if (result != 0 && launched == TTC_OK) {
        const char *step = ttcrt_named(driver, "cuMemFreeAsync of scratch memory", "hipFreeAsync of scratch memory");
        return ttcrt_failed(driver, error, result, variant, step);
    }
    return launched;
}

#endif
