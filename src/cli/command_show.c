/* `leat show`: prints one of the forms that a program takes on its way to the machine. The tree needs no inputs; the
 * other forms do. Without --device, GPU code is printed for sim, so no GPU is needed. */
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/session.h"
#include <stdlib.h>
#include <string.h>

static leat_status show(struct le_cli_session *session, char **text) {
    const struct le_cli_line *line = &session->line;
    if (line->pass)
        return leat_call_show_pass(session->call, line->pass, text);
    if (line->form >= LEAT_FORM_CUDA)
        return leat_call_show_code(session->call, line->form, line->architecture, text);
    return leat_call_show(session->call, line->form, text);
}

static int make_text(struct le_cli_session *session, char **text) {
    static char sim[] = "sim";
    leat_form form = session->line.form;
    const char *variable = getenv("LEAT_DEVICE");
    if (form >= LEAT_FORM_CUDA && !session->line.device && !(variable && *variable))
        session->line.device = sim;
    int code = le_cli_session_open(session);
    if (!code)
        code = le_cli_session_compile(session);
    if (code)
        return code;
    if (form == LEAT_FORM_TREE)
        return le_cli_library_error(session->cli, leat_program_show(session->program, form, text));
    code = le_cli_session_bind(session);
    if (code)
        return code;
    leat_status status = show(session, text);
    code = le_cli_library_error(session->cli, status);
    if (!status && **text == '\0') {
        const char *device = session->line.device ? session->line.device : variable;
        bool on_gpu = device && (strncmp(device, "cuda", 4) == 0 || strcmp(device, "sim") == 0);
        le_cli_note(session->cli, form == LEAT_FORM_BYTECODE && on_gpu
                                      ? "bytecode exists on the CPU only; use --emit cuda"
                                      : "there is nothing to show: the program needs no code in this form");
    }
    bool uses_tools = form == LEAT_FORM_PTX || form == LEAT_FORM_SASS;
    return status == LEAT_UNSUPPORTED && uses_tools ? LE_EXIT_DEVICE : code; /* NVRTC or nvdisasm was not found */
}

static void print_json(const struct le_cli *cli, const char *text) {
    struct le_json json = {.file = stdout};
    le_json_open(&json, NULL, '{');
    le_json_integer(&json, "schema", LE_JSON_SCHEMA);
    le_json_string(&json, "text", text);
    le_json_messages(&json, cli);
    le_json_close(&json, '}');
    fputc('\n', stdout);
}

int le_command_show(struct le_cli *cli, int argc, char **argv) {
    struct le_cli_session session = {.cli = cli};
    char *text = NULL;
    unsigned accepts = LE_ACCEPTS_PROGRAM | LE_ACCEPTS_BINDINGS | LE_ACCEPTS_MACHINE | LE_ACCEPTS_FORM;
    int code = le_cli_line_parse(cli, accepts, argc, argv, &session.line);
    if (!code && session.line.help) {
        le_cli_help("show");
    } else {
        if (!code)
            code = make_text(&session, &text);
        le_cli_progress_stop(cli);
        if (cli->json)
            print_json(cli, text);
        else if (text)
            fputs(text, stdout);
        leat_memory_free(text);
        le_cli_session_free(&session);
    }
    le_cli_line_free(&session.line);
    return code;
}
