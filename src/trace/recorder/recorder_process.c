/* Describes the recorded process and its machine. Runs on the writer's thread; see recorder.h. */
#include "base/thread.h"
#include "trace/recorder/recorder.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COMMAND_BYTES = 4096 };

/* Reads at most size_bytes - 1 bytes of a file; "" if it cannot be read. */
static size_t read_text(const char *path, char *text, size_t size_bytes) {
    size_t length = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        ssize_t count;
        while (length < size_bytes - 1 && (count = read(file, text + length, size_bytes - 1 - length)) > 0)
            length += (size_t)count;
        close(file);
    }
    text[length] = 0;
    return length;
}

static uint32_t command_text(struct le_part_writer *writer) {
    char command[COMMAND_BYTES];
    size_t length = read_text("/proc/self/cmdline", command, sizeof command);
    while (length && !command[length - 1])
        length--;
    for (size_t k = 0; k < length; k++)
        if (!command[k])
            command[k] = ' ';
    return le_part_text(writer, command);
}

/* "AMD EPYC 9B45, 16 cores" */
static uint32_t host_text(struct le_part_writer *writer) {
    static const char KEY[] = "model name\t: ";
    char facts[COMMAND_BYTES], host[256];
    read_text("/proc/cpuinfo", facts, sizeof facts);
    const char *model = strstr(facts, KEY);
    model = model ? model + sizeof KEY - 1 : "unknown processor";
    int cores = le_cores();
    snprintf(host, sizeof host, "%.*s, %d core%s", (int)strcspn(model, "\n"), model, cores, cores == 1 ? "" : "s");
    return le_part_text(writer, host);
}

/* The driver is loaded, because it started the recorder. */
static uint32_t driver_version(void) {
    int version = 0, (*get_version)(int *version) = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (driver)
        *(void **)&get_version = dlsym(driver, "cuDriverGetVersion");
    if (get_version && get_version(&version) != 0)
        version = 0;
    if (driver)
        dlclose(driver); /* releases only the reference that dlopen took */
    return (uint32_t)version;
}

void le_recorder_put_note(struct le_recorder *recorder, const char *text) {
    struct le_trace_note note = {.text = le_part_text(&recorder->writer, text)};
    le_part_put(&recorder->writer, LE_TRACE_NOTE, &note, sizeof note, NULL, 0);
}

void le_recorder_describe(struct le_recorder *recorder) {
    struct le_part_writer *writer = &recorder->writer;
    const char *language = recorder->sources ? le_sources_language(recorder->sources) : NULL;
    struct le_trace_process process = {.command = command_text(writer),
                                       .language = le_part_text(writer, language),
                                       .cupti_version = recorder->has_cupti ? recorder->library.version : 0,
                                       .driver_version = driver_version(),
                                       .host = host_text(writer)};
    le_part_put(writer, LE_TRACE_PROCESS, &process, sizeof process, NULL, 0);
    if (recorder->note[0])
        le_recorder_put_note(recorder, recorder->note);
}
