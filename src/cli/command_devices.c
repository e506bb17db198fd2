/* `leat devices`: lists devices, their speed, why any is unavailable, and where Leat looked for the CUDA libraries. It
 * opens no context on a device other than the CPU. */
#include "cli/json.h"
#include "cli/session.h"
#include <string.h>

/* ---- for people */

#define GIB(size_bytes) ((double)(size_bytes) / (1 << 30))

static void print_cpu(leat_context *ctx, const leat_device_info *info) {
    const char *products;
    printf("  instructions     %s", info->simd);
    if (info->best_simd[0] && strcmp(info->simd, info->best_simd) != 0)
        printf(" (this CPU also has %s)", info->best_simd);
    printf("\n  threads          %d, on %d core%s\n", info->threads, info->cores, info->cores == 1 ? "" : "s");
    printf("  memory           %.1f GiB\n", GIB(info->memory_bytes));
    printf("  cache            %.1f MiB in the last level\n", (double)info->cache_bytes / (1 << 20));
    printf("  copy rate        %.1f GB/s measured, counting bytes read and bytes written\n",
           info->copy_bytes_per_second * 1e-9);
    if (leat_products_get(ctx, &products) == LEAT_OK)
        printf("  matrix products  %s\n", products);
}

static void print_rates(const leat_device_info *info) {
    if (info->copy_bytes_per_second > 0)
        printf("  copy rate        %.1f GB/s measured in its memory, counting bytes read and bytes written\n",
               info->copy_bytes_per_second * 1e-9);
    if (info->upload_bytes_per_second > 0)
        printf("  pinned copies    %.1f GB/s to the device, %.1f GB/s to the host, measured\n",
               info->upload_bytes_per_second * 1e-9, info->download_bytes_per_second * 1e-9);
    if (info->launch_ns > 0)
        printf("  launch           %.2f us each in a row, %.2f us with a wait for the end, measured\n",
               info->launch_ns * 1e-3, info->round_trip_ns * 1e-3);
}

/* A CUDA device, or sim. */
static void print_device(const leat_device_info *info) {
    if (info->uuid[0])
        printf("  identity         %s, PCI %s\n", info->uuid, info->pci_id);
    if (info->capability)
        printf("  compute          capability %d.%d, %d multiprocessors", info->capability / 10, info->capability % 10,
               info->multiprocessors);
    if (info->capability && info->f64_ratio)
        printf(", f64 at 1/%d the rate of f32", info->f64_ratio);
    if (info->capability)
        putchar('\n');
    if (info->memory_bytes)
        printf("  memory           %.1f GiB\n", GIB(info->memory_bytes));
    if (info->cuda_version)
        printf("  driver           CUDA %d.%d%s\n", info->cuda_version / 1000, info->cuda_version % 1000 / 10,
               strcmp(info->kind, "sim") == 0 ? ", simulated" : "");
    if (info->usable)
        print_rates(info);
}

static void print_info(leat_context *ctx, const leat_device_info *info) {
    printf("%s%s%s\n", info->device, info->name[0] ? "  " : "", info->name);
    if (!info->usable)
        printf("  not usable       %s\n", info->reason);
    if (strcmp(info->kind, "cpu") == 0)
        print_cpu(ctx, info);
    else
        print_device(info);
}

static void print_search(leat_context *ctx, leat_search_kind kind, const leat_search *search) {
    static const char *const NAMES[LEAT_SEARCH_KINDS] = {[LEAT_SEARCH_DRIVER] = "the CUDA driver",
                                                         [LEAT_SEARCH_NVRTC] = "NVRTC, the compiler of CUDA C",
                                                         [LEAT_SEARCH_CUBLAS] = "cuBLAS, for matrix products",
                                                         [LEAT_SEARCH_HEADERS] = "the CUDA toolkit's headers"};
    printf("\nlooked for %s: %s%s\n", NAMES[kind], search->found ? "found " : "",
           search->found ? search->path : search->reason);
    for (size_t k = 0; k < search->line_count; k++) {
        leat_search_line line;
        if (leat_search_line_get(ctx, kind, k, &line) == LEAT_OK)
            printf("  %-18s  %s%s%s\n", line.name, line.path, line.path[0] ? ": " : "", line.outcome);
    }
}

/* ---- for programs */

static void device_json(leat_context *ctx, struct le_json *json, const leat_device_info *info) {
    const char *products = NULL;
    le_json_open(json, NULL, '{');
    le_json_string(json, "kind", info->kind);
    le_json_string(json, "device", info->device);
    le_json_string(json, "name", info->name);
    le_json_boolean(json, "usable", info->usable);
    le_json_string(json, "reason", info->usable ? NULL : info->reason);
    le_json_count(json, "memory_bytes", info->memory_bytes);
    if (strcmp(info->kind, "cpu") == 0) {
        le_json_count(json, "cache_bytes", info->cache_bytes);
        le_json_string(json, "simd", info->simd);
        le_json_string(json, "best_simd", info->best_simd);
        le_json_integer(json, "threads", info->threads);
        le_json_integer(json, "cores", info->cores);
        if (leat_products_get(ctx, &products) == LEAT_OK)
            le_json_string(json, "products", products);
    } else {
        le_json_integer(json, "ordinal", info->ordinal);
        le_json_string(json, "uuid", info->uuid);
        le_json_string(json, "pci_id", info->pci_id);
        le_json_integer(json, "capability", info->capability);
        le_json_integer(json, "multiprocessors", info->multiprocessors);
        le_json_integer(json, "f64_ratio", info->f64_ratio);
        le_json_integer(json, "cuda_version", info->cuda_version);
        le_json_real(json, "upload_bytes_per_second", info->upload_bytes_per_second);
        le_json_real(json, "download_bytes_per_second", info->download_bytes_per_second);
        le_json_real(json, "launch_ns", info->launch_ns);
        le_json_real(json, "round_trip_ns", info->round_trip_ns);
    }
    le_json_real(json, "copy_bytes_per_second", info->copy_bytes_per_second);
    le_json_close(json, '}');
}

static void search_json(leat_context *ctx, leat_search_kind kind, const leat_search *search, struct le_json *json) {
    le_json_open(json, NULL, '{');
    le_json_string(json, "name", search->name);
    le_json_boolean(json, "found", search->found);
    le_json_integer(json, "version", search->version);
    le_json_string(json, "path", search->found ? search->path : NULL);
    le_json_string(json, "reason", search->found ? NULL : search->reason);
    le_json_open(json, "lines", '[');
    for (size_t k = 0; k < search->line_count; k++) {
        leat_search_line line;
        if (leat_search_line_get(ctx, kind, k, &line) != LEAT_OK)
            continue;
        le_json_open(json, NULL, '{');
        le_json_string(json, "name", line.name);
        le_json_string(json, "path", line.path);
        le_json_string(json, "outcome", line.outcome);
        le_json_close(json, '}');
    }
    le_json_close(json, ']');
    le_json_close(json, '}');
}

/* ---- the command */

/* Whether --device asks for this device; "cuda" asks for all CUDA devices. */
static bool is_wanted(const char *wanted, const leat_device_info *info) {
    return !wanted || strcmp(wanted, "auto") == 0 || strcmp(wanted, info->kind) == 0 ||
           strcmp(wanted, info->device) == 0 || (strcmp(wanted, "cpu:0") == 0 && strcmp(info->kind, "cpu") == 0);
}

static bool is_cpu_alone(const char *wanted) {
    return wanted && (strcmp(wanted, "cpu") == 0 || strcmp(wanted, "cpu:0") == 0);
}

static int show_devices(struct le_cli *cli, const char *wanted, struct le_json *json) {
    size_t count = 1, shown = 0;
    int code = is_cpu_alone(wanted) ? LE_EXIT_OK : le_cli_library_error(cli, leat_device_count(cli->ctx, &count));
    for (size_t k = 0; k < count && !code; k++) {
        leat_device_info info = {0};
        code = le_cli_library_error(cli, leat_device_get(cli->ctx, k, false, &info));
        if (code || !is_wanted(wanted, &info))
            continue;
        shown++;
        code = info.usable ? le_cli_library_error(cli, leat_device_get(cli->ctx, k, true, &info)) : LE_EXIT_OK;
        if (code)
            continue;
        if (cli->json)
            device_json(cli->ctx, json, &info);
        else
            print_info(cli->ctx, &info);
    }
    if (!code && !shown)
        code = le_cli_fail(cli, LEAT_DEVICE, "no device '%.100s': write auto, cpu, cuda, cuda:N or sim", wanted);
    return code;
}

static int show_searches(struct le_cli *cli, struct le_json *json) {
    int code = LE_EXIT_OK;
    for (int kind = 0; kind < LEAT_SEARCH_KINDS && !code; kind++) {
        leat_search search;
        code = le_cli_library_error(cli, leat_search_get(cli->ctx, (leat_search_kind)kind, &search));
        if (code)
            continue;
        if (cli->json)
            search_json(cli->ctx, (leat_search_kind)kind, &search, json);
        else
            print_search(cli->ctx, (leat_search_kind)kind, &search);
    }
    return code;
}

int le_command_devices(struct le_cli *cli, int argc, char **argv) {
    struct le_cli_session session = {.cli = cli};
    struct le_json json = {.file = stdout};
    int code = le_cli_line_parse(cli, LE_ACCEPTS_MACHINE, argc, argv, &session.line);
    const char *wanted = session.line.device;
    if (!code && session.line.help) {
        le_cli_help("devices");
        le_cli_line_free(&session.line);
        return code;
    }
    session.line.device = "cpu";
    if (!code)
        code = le_cli_session_open(&session);
    if (cli->json) {
        le_json_open(&json, NULL, '{');
        le_json_integer(&json, "schema", LE_JSON_SCHEMA);
        le_json_open(&json, "devices", '[');
    }
    if (!code)
        code = show_devices(cli, wanted, &json);
    if (cli->json) {
        le_json_close(&json, ']');
        le_json_open(&json, "searches", '[');
    }
    if (!code && !is_cpu_alone(wanted))
        code = show_searches(cli, &json);
    if (cli->json) {
        le_json_close(&json, ']');
        le_json_messages(&json, cli);
        le_json_close(&json, '}');
        fputc('\n', stdout);
    }
    le_cli_line_free(&session.line);
    return code;
}
