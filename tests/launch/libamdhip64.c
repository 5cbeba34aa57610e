/* AMD's runtime for tests of launchers: the functions of libamdhip64 that ttc_rt.h calls, without a GPU.
 *
 * 1. Calls are shown, counted and made to fail as those of libcuda.c, whose modules and launches these are.
 * 2. The processors of the devices 0 and 1 are STUB_PROCESSOR and gfx1100. STUB_PROCESSOR is
 *    `gfx942:sramecc+:xnack-` by default, and empty for a machine without devices. A block may have STUB_SHARED bytes of
 *    shared memory, 65536 by default.
 * 3. A code object's metadata (MessagePack, in the note NT_AMDGPU_METADATA) says where its parameters are.
 * 4. STUB_DEVICE is the current device at the start, 0 by default. */
#include "libcuda.c"

enum { NO_DEVICE = 100, INVALID_DEVICE = 101 };

static int first_device(void)
{
    const char *wanted = getenv("STUB_DEVICE");
    return wanted != NULL ? atoi(wanted) : 0;
}

/* The current device, or -1 until it is asked for. */
static int device_now = -1;

int hipDrvGetErrorName(int result, const char **name)
{
    switch (result) {
    case OUT_OF_MEMORY:
        *name = "hipErrorOutOfMemory";
        return SUCCESS;
    case NO_DEVICE:
        *name = "hipErrorNoDevice";
        return SUCCESS;
    case NOT_FOUND:
        *name = "hipErrorNotFound";
        return SUCCESS;
    default:
        return INVALID_VALUE;
    }
}

int hipDrvGetErrorString(int result, const char **text)
{
    return cuGetErrorString(result, text);
}

static const char *processor(int device)
{
    const char *wanted = getenv("STUB_PROCESSOR");
    if (wanted != NULL && *wanted == '\0') {
        return NULL;
    }
    return device == 1 ? "gfx1100" : device != 0 ? NULL : wanted != NULL ? wanted : "gfx942:sramecc+:xnack-";
}

int hipGetDevice(int *device)
{
    MAY_FAIL("hipGetDevice");
    if (processor(0) == NULL) {
        return NO_DEVICE;
    }
    *device = device_now < 0 ? first_device() : device_now;
    return SUCCESS;
}

int hipSetDevice(int device)
{
    MAY_FAIL("hipSetDevice");
    SAY("hipSetDevice %d\n", device);
    device_now = device;
    return processor(device) == NULL ? INVALID_DEVICE : SUCCESS;
}

/* hipDeviceProp_tR0600 has 1472 bytes: the shared memory of a block at 296, the processor at 1160. */
int hipGetDevicePropertiesR0600(void *properties, int device)
{
    const char *shared = getenv("STUB_SHARED");
    size_t bytes = shared != NULL ? (size_t)atol(shared) : 65536;
    MAY_FAIL("hipGetDeviceProperties");
    if (processor(device) == NULL) {
        return INVALID_DEVICE;
    }
    memset(properties, 0xa5, 1472);
    memcpy((char *)properties + 296, &bytes, sizeof bytes);
    memset((char *)properties + 1160, 0, 256);
    snprintf((char *)properties + 1160, 256, "%s", processor(device));
    return SUCCESS;
}

/* MessagePack: the item at `at`, as far as metadata has such. A key that leads to a number is told to `tell`. */
typedef struct Reader {
    const unsigned char *at;
    Module *module;
    /* The argument that is being read. */
    unsigned offset, size;
    int is_hidden;
} Reader;

static uint64_t big(Reader *r, int bytes)
{
    uint64_t value = 0;
    while (bytes-- > 0) {
        value = value << 8 | *r->at++;
    }
    return value;
}

static void item(Reader *r, const char *key);

static void list(Reader *r, uint64_t count, int is_map, const char *key)
{
    int is_arguments = !is_map && strcmp(key, ".args") == 0;
    while (count-- > 0) {
        char name[64] = "";
        if (is_map) {
            unsigned length = r->at[0] == 0xd9 ? r->at[1] : r->at[0] & 31u;
            r->at += r->at[0] == 0xd9 ? 2 : 1;
            snprintf(name, sizeof name, "%.*s", (int)length, (const char *)r->at);
            r->at += length;
        }
        r->is_hidden = is_arguments ? 0 : r->is_hidden;
        item(r, name);
        if (is_arguments && !r->is_hidden) {
            r->module->offset[r->module->count] = r->offset;
            r->module->size[r->module->count++] = r->size;
        }
    }
}

static void text(Reader *r, uint64_t length, const char *key)
{
    if (strcmp(key, ".value_kind") == 0 && length > 7 && memcmp(r->at, "hidden_", 7) == 0) {
        r->is_hidden = 1;
    }
    if (strcmp(key, ".symbol") == 0) { /* The descriptor's name: that of the function and `.kd`. */
        snprintf(r->module->name, sizeof r->module->name, "%.*s", (int)length - 3, (const char *)r->at);
    }
    r->at += length;
}

static void item(Reader *r, const char *key)
{
    unsigned kind = *r->at++;
    uint64_t value;
    if (kind < 0x80 || (kind >= 0xcc && kind <= 0xcf)) {
        value = kind < 0x80 ? kind : big(r, 1 << (kind - 0xcc));
        r->offset = strcmp(key, ".offset") == 0 ? (unsigned)value : r->offset;
        r->size = strcmp(key, ".size") == 0 ? (unsigned)value : r->size;
    } else if (kind < 0xa0 || kind == 0xdc || kind == 0xde) {
        int is_map = kind < 0x90 || kind == 0xde;
        list(r, kind < 0xa0 ? kind & 15u : big(r, 2), is_map, key);
    } else if (kind < 0xc0 || kind == 0xd9 || kind == 0xda) {
        text(r, kind < 0xc0 ? kind & 31u : big(r, kind == 0xd9 ? 1 : 2), key);
    } else if (kind != 0xc2 && kind != 0xc3) {
        printf("the metadata has an item of kind %#x\n", kind);
        exit(1);
    }
}

static void read_code_object(Module *m, const unsigned char *elf)
{
    const unsigned char *sections = elf + number(elf + 40, 8);
    int count = (int)number(elf + 60, 2), i;
    for (i = 0; i < count; i++) {
        const unsigned char *section = sections + i * 64, *note = elf + number(section + 24, 8);
        if (number(section + 4, 4) == 7 && number(note + 8, 4) == 32) { /* SHT_NOTE, NT_AMDGPU_METADATA */
            Reader r;
            memset(&r, 0, sizeof r);
            r.module = m;
            r.at = note + 12 + (number(note, 4) + 3) / 4 * 4;
            item(&r, "");
        }
    }
}

int hipModuleLoadData(void **module, const void *image)
{
    Module *m;
    MAY_FAIL("hipModuleLoadData");
    m = (Module *)calloc(1, sizeof *m);
    if (memcmp(image, "\177ELF", 4) == 0) {
        read_code_object(m, (const unsigned char *)image);
    } else {
        read_text(m, (const char *)image);
    }
    SAY("hipModuleLoadData %s\n", m->name);
    __atomic_add_fetch(&modules, 1, __ATOMIC_SEQ_CST);
    *module = m;
    return SUCCESS;
}

int hipModuleLoad(void **module, const char *path)
{
    static char image[1 << 20];
    FILE *file = fopen(path, "rb");
    const char *name = strrchr(path, '/');
    MAY_FAIL("hipModuleLoad");
    if (file == NULL) {
        return NOT_FOUND;
    }
    SAY("hipModuleLoad %s\n", name == NULL ? path : name + 1);
    image[fread(image, 1, sizeof image - 1, file)] = '\0';
    fclose(file);
    return hipModuleLoadData(module, image);
}

int hipModuleUnload(void *module)
{
    free(module);
    __atomic_sub_fetch(&modules, 1, __ATOMIC_SEQ_CST);
    MAY_FAIL("hipModuleUnload");
    return SUCCESS;
}

int hipModuleGetFunction(void **function, void *module, const char *name)
{
    MAY_FAIL("hipModuleGetFunction");
    *function = module;
    return strcmp(((Module *)module)->name, name) == 0 ? SUCCESS : NOT_FOUND;
}

int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **parameters, void **extra)
{
    unsigned grid[3], block[3];
    MAY_FAIL("hipModuleLaunchKernel");
    grid[0] = gx, grid[1] = gy, grid[2] = gz;
    block[0] = bx, block[1] = by, block[2] = bz;
    return extra != NULL ? INVALID_VALUE
                         : launch("hipModuleLaunchKernel", function, grid, block, shared, stream, parameters);
}

int hipMallocAsync(uint64_t *address, size_t bytes, void *stream)
{
    void *block;
    MAY_FAIL("hipMallocAsync");
    SAY("hipMallocAsync %lu bytes stream %d\n", (unsigned long)bytes, (int)(intptr_t)stream);
    if (posix_memalign(&block, 256, 256) != 0) {
        return OUT_OF_MEMORY;
    }
    __atomic_add_fetch(&blocks, 1, __ATOMIC_SEQ_CST);
    *address = last_block = (uint64_t)(uintptr_t)block;
    return SUCCESS;
}

int hipFreeAsync(uint64_t address, void *stream)
{
    SAY("hipFreeAsync stream %d\n", (int)(intptr_t)stream);
    free((void *)(uintptr_t)address);
    __atomic_sub_fetch(&blocks, 1, __ATOMIC_SEQ_CST);
    MAY_FAIL("hipFreeAsync");
    return SUCCESS;
}
