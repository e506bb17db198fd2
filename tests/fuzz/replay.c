/* Runs a fuzzer's target on every file of the given folders, so that findings stay tested without a fuzzer.
 * usage: replay FOLDER... */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size_bytes, size_t size_max_bytes);

/* The function that a target's own mutator calls. It mutates nothing here. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size_bytes, size_t size_max_bytes) {
    (void)bytes;
    return size_bytes < size_max_bytes ? size_bytes : size_max_bytes;
}

static int replay_file(const char *path) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(1 << 20);
    if (!file || !bytes) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    const size_t size_bytes = fread(bytes, 1, 1 << 20, file);
    uint8_t *exact = malloc(size_bytes + 1); /* of the exact size, so that sanitizers detect a read past the end */
    fclose(file);
    if (!exact)
        exit(2);
    for (size_t k = 0; k < size_bytes; k++)
        exact[k] = bytes[k];
    free(bytes);
    LLVMFuzzerTestOneInput(exact, size_bytes);
    free(exact);
    return 1;
}

int main(int argc, char **argv) {
    int count = 0;
    for (int k = 1; k < argc; k++) {
        DIR *folder = opendir(argv[k]);
        for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[k], entry->d_name);
            if (entry->d_name[0] != '.')
                count += replay_file(path);
        }
        if (folder)
            closedir(folder);
    }
    printf("%d files\n", count);
    return count ? 0 : 1;
}
