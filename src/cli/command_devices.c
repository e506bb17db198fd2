/* `leat devices`: what is here, and how fast its memory is. */
#include "cli/json.h"
#include "cli/session.h"

static void print_device(const leat_device_info *info) {
    printf("%s  %s\n", info->kind, info->name);
    printf("  instructions  %s", info->simd);
    if (info->best_simd[0])
        printf(" (best here: %s)", info->best_simd);
    putchar('\n');
    printf("  threads       %d of %d cores\n", info->threads, info->cores);
    printf("  memory        %.1f GiB, last-level cache %.1f MiB\n", (double)info->memory_bytes / (1 << 30),
           (double)info->cache_bytes / (1 << 20));
    printf("  copy rate     %.1f GB/s measured, bytes read and written together\n", info->copy_bytes_per_second * 1e-9);
}

static void device_json(struct le_json *json, const leat_device_info *info) {
    le_json_open(json, NULL, '{');
    le_json_string(json, "kind", info->kind);
    le_json_string(json, "name", info->name);
    le_json_string(json, "simd", info->simd);
    le_json_string(json, "best_simd", info->best_simd);
    le_json_integer(json, "threads", info->threads);
    le_json_integer(json, "cores", info->cores);
    le_json_count(json, "memory_bytes", info->memory_bytes);
    le_json_count(json, "cache_bytes", info->cache_bytes);
    le_json_real(json, "copy_bytes_per_second", info->copy_bytes_per_second);
    le_json_close(json, '}');
}

static int each_device(struct le_cli *cli, struct le_json *json) {
    size_t count = 0;
    int code = le_cli_failed(cli, leat_device_count(cli->ctx, &count));
    for (size_t k = 0; k < count && !code; k++) {
        leat_device_info info = {0};
        code = le_cli_failed(cli, leat_device_get(cli->ctx, k, true, &info));
        if (code)
            break;
        if (cli->json)
            device_json(json, &info);
        else
            print_device(&info);
    }
    return code;
}

int le_command_devices(struct le_cli *cli, int argc, char **argv) {
    struct le_cli_session session = {.cli = cli};
    struct le_json json = {.file = stdout};
    int code = le_cli_line_parse(cli, LE_ACCEPTS_MACHINE, argc, argv, &session.line);
    if (!code && session.line.help) {
        le_cli_help("devices");
        le_cli_line_free(&session.line);
        return code;
    }
    if (!code)
        code = le_cli_session_open(&session);
    if (cli->json) {
        le_json_open(&json, NULL, '{');
        le_json_integer(&json, "schema", LE_JSON_SCHEMA);
        le_json_open(&json, "devices", '[');
    }
    if (!code)
        code = each_device(cli, &json);
    if (cli->json) {
        le_json_close(&json, ']');
        le_json_messages(&json, cli);
        le_json_close(&json, '}');
        fputc('\n', stdout);
    }
    le_cli_line_free(&session.line);
    return code;
}
