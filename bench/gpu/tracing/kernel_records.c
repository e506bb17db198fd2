/* Uses CUPTI to record kernels, and discards the records unread. This measures what records of kernels cost by
 * themselves, which tracing.py compares with `leat trace`. Injected by CUDA_INJECTION64_PATH; KERNEL_RECORDS_CUPTI
 * names the library. The program ends if a call of CUPTI fails. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { KIND_CONCURRENT_KERNEL = 10, BUFFER_BYTES = 8 << 20 };

typedef void request_function(uint8_t **buffer, size_t *size_bytes, size_t *most_records);
typedef void complete_function(void *ctx, uint32_t stream, uint8_t *buffer, size_t size_bytes, size_t valid_bytes);

static void request(uint8_t **buffer, size_t *size_bytes, size_t *most_records) {
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *size_bytes = *buffer ? BUFFER_BYTES : 0;
    *most_records = 0;
}

static void complete(void *ctx, uint32_t stream, uint8_t *buffer, size_t size_bytes, size_t valid_bytes) {
    (void)ctx, (void)stream, (void)size_bytes, (void)valid_bytes;
    free(buffer);
}

static void *find(void *library, const char *name) {
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "kernel_records: %s\n", dlerror());
        _exit(1);
    }
    return found;
}

/* The driver calls it in cuInit. */
int InitializeInjection(void) {
    const char *path = getenv("KERNEL_RECORDS_CUPTI");
    void *library = dlopen(path ? path : "", RTLD_NOW | RTLD_LOCAL);
    int (*listen)(request_function *, complete_function *), (*enable)(int), result;
    *(void **)&listen = find(library, "cuptiActivityRegisterCallbacks");
    *(void **)&enable = find(library, "cuptiActivityEnable");
    if ((result = listen(request, complete)) != 0 || (result = enable(KIND_CONCURRENT_KERNEL)) != 0) {
        fprintf(stderr, "kernel_records: CUPTI refuses (error %d)\n", result);
        _exit(1);
    }
    return 1;
}
