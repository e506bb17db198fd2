/* Writes JSON. The output is always one valid value, whatever bytes the strings hold. Commas are added automatically.
 */
#ifndef LE_CLI_JSON_H
#define LE_CLI_JSON_H
#include "cli/cli.h"
#include <stdio.h>

enum { LE_JSON_SCHEMA = 1 };

struct le_json {
    FILE *file;
    bool comma; /* the next member or element needs a comma before it */
};
/* name is the name of a member of an object, or NULL for an element of a list. bracket is '{' or '[' to open, '}' or
 * ']' to close. */
void le_json_open(struct le_json *json, const char *name, char bracket);
void le_json_close(struct le_json *json, char bracket);
void le_json_string(struct le_json *json, const char *name, const char *text); /* NULL text: null */
void le_json_integer(struct le_json *json, const char *name, int64_t value);
void le_json_count(struct le_json *json, const char *name, uint64_t value);
void le_json_real(struct le_json *json, const char *name,
                  double value); /* the strings "nan", "inf" or "-inf" if not finite */
void le_json_boolean(struct le_json *json, const char *name, bool value);
void le_json_null(struct le_json *json, const char *name);
void le_json_raw(struct le_json *json, const char *name, const char *text, size_t length); /* text is JSON */
void le_json_members(struct le_json *json, const char *object); /* the members of an object, which is JSON */
/* The members "notes" and "errors". */
void le_json_messages(struct le_json *json, const struct le_cli *cli);
/* Writes the members dtype, shape and, if with_data, data: lists nested as deep as the rank. */
void le_json_array(struct le_json *json, const leat_array *array, bool with_data);
#endif
