/* A driver for tests of launchers: the functions of libcuda that ttc_rt.h calls, without a GPU.
 *
 * 1. Every call is a line on stdout, unless STUB_QUIET is set.
 * 2. STUB_FAIL=cuModuleLoadData:2 lets the second call of a function fail with CUDA_ERROR_OUT_OF_MEMORY (2).
 * 3. The device has the compute capability STUB_CAPABILITY (90 by default). STUB_CONTEXT=0 is a thread without one.
 * 4. A module knows the places of its function's parameters: from the cubin (ELF, section .nv.info.NAME), or from a
 *    text `NAME OFFSET:SIZE ...` in its place. A launch shows the bytes that it would copy, in hexadecimal, the last
 *    byte first.
 * 5. At the end of the process it says how many modules and blocks of memory were not given back. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500 };

typedef struct Module {
    char name[128];
    int count;
    unsigned offset[64], size[64];
} Module;

static int modules, blocks, maps, launches;
/* The block of memory that was taken last, whose address differs between runs. */
static uint64_t last_block;

static int quiet(void)
{
    return getenv("STUB_QUIET") != NULL;
}

#define SAY(...) (quiet() ? 0 : printf(__VA_ARGS__))

/* Whether this call of a function is the one that fails. */
static int fails(const char *function)
{
    static int calls;
    const char *wanted = getenv("STUB_FAIL");
    size_t length = strlen(function);
    int which;
    if (wanted == NULL || strncmp(wanted, function, length) != 0 || (wanted[length] != ':' && wanted[length] != '\0')) {
        return 0;
    }
    which = wanted[length] == ':' ? atoi(wanted + length + 1) : 1;
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) != which) {
        return 0;
    }
    SAY("%s fails\n", function);
    return 1;
}

#define MAY_FAIL(function) do { if (fails(function)) return OUT_OF_MEMORY; } while (0)

__attribute__((destructor)) static void report(void)
{
    printf("left: %d modules, %d blocks; %d launches\n", modules, blocks, launches);
}

int cuGetErrorName(int result, const char **name)
{
    *name = result == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : result == NOT_FOUND ? "CUDA_ERROR_NOT_FOUND" : NULL;
    return *name == NULL ? INVALID_VALUE : SUCCESS;
}

int cuGetErrorString(int result, const char **text)
{
    *text = result == OUT_OF_MEMORY ? "out of memory" : NULL;
    return *text == NULL ? INVALID_VALUE : SUCCESS;
}

int cuCtxGetCurrent(void **context)
{
    const char *wanted = getenv("STUB_CONTEXT");
    MAY_FAIL("cuCtxGetCurrent");
    *context = wanted != NULL && *wanted == '0' ? NULL : (void *)&modules;
    return SUCCESS;
}

int cuCtxPushCurrent_v2(void *context)
{
    MAY_FAIL("cuCtxPushCurrent");
    return context == (void *)&modules ? SUCCESS : INVALID_VALUE;
}

int cuCtxPopCurrent_v2(void **context)
{
    MAY_FAIL("cuCtxPopCurrent");
    *context = &modules;
    return SUCCESS;
}

int cuCtxGetDevice(int *device)
{
    MAY_FAIL("cuCtxGetDevice");
    *device = 3;
    return SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    const char *wanted = getenv("STUB_CAPABILITY");
    int capability = wanted != NULL ? atoi(wanted) : 90;
    MAY_FAIL("cuDeviceGetAttribute");
    if (device != 3 || (attribute != 75 && attribute != 76 && attribute != 97)) {
        return INVALID_VALUE;
    }
    if (attribute == 97) {
        const char *shared = getenv("STUB_SHARED");
        *value = shared != NULL ? atoi(shared) : 232448;
        return SUCCESS;
    }
    *value = attribute == 75 ? capability / 10 : capability % 10;
    return SUCCESS;
}

static uint64_t number(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    while (bytes-- > 0) {
        value = value << 8 | at[bytes];
    }
    return value;
}

/* Reads the parameters of a cubin's kernel: entries 0x17 (EIATTR_KPARAM_INFO) of .nv.info.NAME, each with the number of
 * the parameter, its offset, and its size in bits 18 and up of a word. */
static void read_elf(Module *m, const unsigned char *elf)
{
    const unsigned char *sections = elf + number(elf + 40, 8);
    int count = (int)number(elf + 60, 2), names = (int)number(elf + 62, 2), i;
    const unsigned char *strings = elf + number(sections + names * 64 + 24, 8);
    for (i = 0; i < count; i++) {
        const unsigned char *section = sections + i * 64;
        const char *name = (const char *)strings + number(section, 4);
        const unsigned char *at = elf + number(section + 24, 8), *end = at + number(section + 32, 8);
        if (strncmp(name, ".nv.info.", 9) != 0) {
            continue;
        }
        snprintf(m->name, sizeof m->name, "%s", name + 9);
        while (at + 4 <= end) {
            int has_payload = at[0] == 4, attribute = at[1], bytes = (int)number(at + 2, 2);
            if (has_payload && attribute == 0x17) {
                int index = (int)number(at + 8, 2);
                m->offset[index] = (unsigned)number(at + 10, 2);
                m->size[index] = (unsigned)number(at + 12, 4) >> 18;
                m->count = m->count > index ? m->count : index + 1;
            }
            at += 4 + (has_payload ? bytes : 0);
        }
    }
}

static void read_text(Module *m, const char *text)
{
    int used = 0;
    sscanf(text, "%127s%n", m->name, &used);
    for (text += used; sscanf(text, " %u:%u%n", &m->offset[m->count], &m->size[m->count], &used) == 2; text += used) {
        m->count++;
    }
}

int cuModuleLoadData(void **module, const void *image)
{
    Module *m;
    MAY_FAIL("cuModuleLoadData");
    m = (Module *)calloc(1, sizeof *m);
    if (memcmp(image, "\177ELF", 4) == 0) {
        read_elf(m, (const unsigned char *)image);
    } else {
        read_text(m, (const char *)image);
    }
    SAY("cuModuleLoadData %s\n", m->name);
    __atomic_add_fetch(&modules, 1, __ATOMIC_SEQ_CST);
    *module = m;
    return SUCCESS;
}

int cuModuleLoad(void **module, const char *path)
{
    static char image[1 << 20];
    FILE *file = fopen(path, "rb");
    const char *name = strrchr(path, '/');
    MAY_FAIL("cuModuleLoad");
    if (file == NULL) {
        return NOT_FOUND;
    }
    SAY("cuModuleLoad %s\n", name == NULL ? path : name + 1);
    image[fread(image, 1, sizeof image - 1, file)] = '\0';
    fclose(file);
    return cuModuleLoadData(module, image);
}

int cuModuleUnload(void *module)
{
    free(module);
    __atomic_sub_fetch(&modules, 1, __ATOMIC_SEQ_CST);
    MAY_FAIL("cuModuleUnload");
    return SUCCESS;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    MAY_FAIL("cuModuleGetFunction");
    *function = module;
    return strcmp(((Module *)module)->name, name) == 0 ? SUCCESS : NOT_FOUND;
}

int cuFuncSetAttribute(void *function, int attribute, int value)
{
    MAY_FAIL("cuFuncSetAttribute");
    SAY("cuFuncSetAttribute %s %d = %d\n", ((Module *)function)->name, attribute, value);
    return SUCCESS;
}

static void show(const Module *m, void **parameters)
{
    int i;
    unsigned byte;
    for (i = 0; i < m->count; i++) {
        const unsigned char *at = (const unsigned char *)parameters[i];
        unsigned shown = m->size[i] <= 8 ? m->size[i] : 4;
        printf(" %u:%u=", m->offset[i], m->size[i]);
        if (m->size[i] == 8 && last_block != 0 && number(at, 8) == last_block) {
            printf("block");
            continue;
        }
        for (byte = shown; byte-- > 0;) {
            printf("%02x", at[byte]);
        }
    }
    printf("\n");
}

static int launch(const char *call, void *function, const unsigned *grid, const unsigned *block, unsigned shared,
                  void *stream, void **parameters)
{
    const Module *m = (const Module *)function;
    volatile unsigned char sum = 0;
    int i;
    unsigned byte;
    for (i = 0; i < m->count; i++) { /* A driver reads every byte, so valgrind sees those that nobody wrote. */
        for (byte = 0; byte < m->size[i]; byte++) {
            if (((const unsigned char *)parameters[i])[byte] != 0) {
                sum++;
            }
        }
    }
    __atomic_add_fetch(&launches, 1, __ATOMIC_SEQ_CST);
    if (!quiet()) {
        printf("%s %s grid %u,%u,%u block %u,%u,%u shared %u stream %d:", call, m->name, grid[0], grid[1], grid[2],
               block[0], block[1], block[2], shared, (int)(intptr_t)stream);
        show(m, parameters);
    }
    return SUCCESS;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra)
{
    unsigned grid[3], block[3];
    MAY_FAIL("cuLaunchKernel");
    grid[0] = gx, grid[1] = gy, grid[2] = gz;
    block[0] = bx, block[1] = by, block[2] = bz;
    return extra != NULL ? INVALID_VALUE
                         : launch("cuLaunchKernel", function, grid, block, shared, stream, parameters);
}

typedef struct Attribute {
    uint64_t id;
    unsigned value[16];
} Attribute;

typedef struct Config {
    unsigned grid[3], block[3], shared;
    void *stream;
    const Attribute *attributes;
    unsigned count;
} Config;

int cuLaunchKernelEx(const Config *config, void *function, void **parameters, void **extra)
{
    unsigned i;
    MAY_FAIL("cuLaunchKernelEx");
    for (i = 0; i < config->count; i++) {
        const Attribute *a = &config->attributes[i];
        SAY("attribute %d = %u,%u,%u\n", (int)a->id, a->value[0], a->value[1], a->value[2]);
    }
    return extra != NULL ? INVALID_VALUE
                         : launch("cuLaunchKernelEx", function, config->grid, config->block, config->shared,
                                  config->stream, parameters);
}

int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *extents,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
                           int interleave, int swizzle, int promotion, int fill)
{
    uint32_t i;
    int n = __atomic_add_fetch(&maps, 1, __ATOMIC_SEQ_CST);
    MAY_FAIL("cuTensorMapEncodeTiled");
    if ((uintptr_t)map % 64 != 0) {
        return INVALID_VALUE;
    }
    memset(map, 0, 128);
    memcpy(map, &n, sizeof n);
    SAY("cuTensorMapEncodeTiled %d: type %d rank %u address %#lx interleave %d swizzle %d promotion %d fill %d;",
        n, type, rank, (unsigned long)(uintptr_t)address, interleave, swizzle, promotion, fill);
    for (i = 0; i < rank; i++) {
        SAY(" extent %lu box %u element stride %u", (unsigned long)extents[i], box[i], element_strides[i]);
    }
    for (i = 0; i + 1 < rank; i++) {
        SAY(" stride %lu", (unsigned long)strides[i]);
    }
    SAY("\n");
    return SUCCESS;
}

int cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream)
{
    void *block;
    MAY_FAIL("cuMemAllocAsync");
    SAY("cuMemAllocAsync %lu bytes stream %d\n", (unsigned long)bytes, (int)(intptr_t)stream);
    /* Only its place counts, not its size. */
    if (posix_memalign(&block, 256, 256) != 0) {
        return OUT_OF_MEMORY;
    }
    __atomic_add_fetch(&blocks, 1, __ATOMIC_SEQ_CST);
    *address = last_block = (uint64_t)(uintptr_t)block;
    return SUCCESS;
}

int cuMemFreeAsync(uint64_t address, void *stream)
{
    SAY("cuMemFreeAsync stream %d\n", (int)(intptr_t)stream);
    free((void *)(uintptr_t)address);
    __atomic_sub_fetch(&blocks, 1, __ATOMIC_SEQ_CST);
    MAY_FAIL("cuMemFreeAsync");
    return SUCCESS;
}
