/* Fuzzes the PNG reader. The mutator corrects the chunks' checksums, so that most inputs pass these checks. */
#include "fuzz_files.h"
#include "array/png.h"

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size_bytes, size_t size_max_bytes);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size_bytes, size_t size_max_bytes, unsigned seed);

static uint32_t checksum(const uint8_t *bytes, size_t size_bytes) {
    uint32_t sum = 0xffffffffu;
    for (size_t k = 0; k < size_bytes; k++) {
        sum ^= bytes[k];
        for (int bit = 0; bit < 8; bit++)
            sum = sum & 1 ? sum >> 1 ^ 0xedb88320u : sum >> 1;
    }
    return ~sum;
}

/* A chunk is a length, a type of 4 bytes, that many bytes of data, and a checksum of type and data. */
static void repair(uint8_t *bytes, size_t size_bytes) {
    size_t at = 8;
    while (size_bytes >= 12 && at <= size_bytes - 12) {
        size_t length =
            (size_t)bytes[at] << 24 | (size_t)bytes[at + 1] << 16 | (size_t)bytes[at + 2] << 8 | bytes[at + 3];
        if (length > size_bytes - 12 - at)
            return;
        uint32_t sum = checksum(bytes + at + 4, length + 4);
        for (int k = 0; k < 4; k++)
            bytes[at + 8 + length + (size_t)k] = (uint8_t)(sum >> (24 - 8 * k));
        at += 12 + length;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size_bytes, size_t size_max_bytes, unsigned seed) {
    size_bytes = LLVMFuzzerMutate(bytes, size_bytes, size_max_bytes);
    if (seed % 8)
        repair(bytes, size_bytes);
    return size_bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes) {
    struct le_memory_pool *pool = open_pool();
    leat_array *array = NULL;
    if (le_png_load(pool, "fuzz.png", bytes, size_bytes, &array) == LEAT_OK)
        read_all(array);
    else
        require(fails_well(LEAT_FILE));
    le_array_free(array);
    le_memory_pool_close(pool);
    return 0;
}
