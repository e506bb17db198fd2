/* See print_array.h. The first passes over the printed elements measure their width; the last one writes them. Brackets
 * and line breaks follow NumPy. */
#include "cli/print_array.h"
#include "cli/element.h"
#include "cli/summary.h"
#include "cli/terminal.h"
#include <math.h>
#include <string.h>

enum { WHOLE_ELEMENTS_MAX = 400, CORNER_ELEMENTS_MAX = 1000 };

struct text_column {
    int left, right; /* widest text up to and including the point, and after it */
};
struct layout {
    FILE *file;
    leat_description array;
    int64_t edge; /* elements printed at each end of an axis; INT64_MAX: all */
    enum le_style style;
    int digits; /* see le_element_text */
    int parts;  /* parts of an element, each in its own column */
    struct text_column columns[LE_ELEMENT_PARTS_MAX];
    int width;            /* characters of a line */
    int position, spaces; /* characters on the line so far; spaces after them that are still to be written */
    bool writing;         /* the last pass */
};

void le_print_type(FILE *file, const leat_description *description) {
    fprintf(file, "%s[", leat_dtype_name(description->dtype));
    for (int axis = 0; axis < description->rank; axis++)
        fprintf(file, "%s%lld", axis ? "," : "", (long long)description->shape[axis]);
    fputc(']', file);
}

static int64_t count_elements(const leat_description *array) {
    int64_t count = 1;
    for (int axis = 0; axis < array->rank; axis++)
        count *= array->shape[axis];
    return count;
}

/* The number of elements at each end of an axis, such that the printed elements fit a page. */
static int64_t choose_edge(const leat_description *array) {
    if (count_elements(array) <= WHOLE_ELEMENTS_MAX)
        return INT64_MAX;
    for (int64_t edge = 3; edge > 1; edge--) {
        int64_t shown = 1;
        for (int axis = 0; axis < array->rank; axis++)
            shown *= array->shape[axis] < 2 * edge ? array->shape[axis] : 2 * edge;
        if (shown <= CORNER_ELEMENTS_MAX)
            return edge;
    }
    return 1;
}

static bool is_abbreviated(const struct layout *layout, int64_t extent) {
    return layout->edge <= extent / 2 && extent > 2 * layout->edge;
}

/* ---- elements: each in one column, a complex number in two; columns are aligned at the point */

/* Characters up to and including the point; all characters if there is no point. */
static int left_chars(const char *text, enum le_style style) {
    const char *point = style == LE_STYLE_FIXED ? strchr(text, '.') : NULL;
    return point ? (int)(point - text) + 1 : (int)strlen(text);
}

static void measure_element(struct layout *layout, const char *at) {
    struct le_element element = le_element_get(at, layout->array.dtype);
    char texts[LE_ELEMENT_PARTS_MAX][LE_PART_CHARS];
    layout->parts = le_element_parts(&element, layout->array.dtype, layout->style, layout->digits, texts);
    for (int part = 0; part < layout->parts; part++) {
        struct text_column *column = &layout->columns[part];
        bool special = le_element_is_special(&element, part);
        int left = left_chars(texts[part], layout->style), right = (int)strlen(texts[part]) - left;
        if (special)
            left -= column->right; /* nan and inf are aligned with the end of the numbers */
        if (left > column->left)
            column->left = left;
        if (!special && right > column->right)
            column->right = right;
    }
}

static int element_chars(const struct layout *layout) {
    int chars = 0;
    for (int part = 0; part < layout->parts; part++)
        chars += layout->columns[part].left + layout->columns[part].right;
    return chars;
}

/* Writes the pending spaces first, so that lines do not end with spaces. */
static void put_text(struct layout *layout, const char *text) {
    fprintf(layout->file, "%*s%s", layout->spaces, "", text);
    layout->position += layout->spaces + (int)strlen(text);
    layout->spaces = 0;
}

static void end_line(struct layout *layout) {
    fputc('\n', layout->file);
    layout->position = layout->spaces = 0;
}

static void write_element(struct layout *layout, const char *at) {
    struct le_element element = le_element_get(at, layout->array.dtype);
    char texts[LE_ELEMENT_PARTS_MAX][LE_PART_CHARS];
    le_element_parts(&element, layout->array.dtype, layout->style, layout->digits, texts);
    for (int part = 0; part < layout->parts; part++) {
        const struct text_column *column = &layout->columns[part];
        int chars = (int)strlen(texts[part]), left = left_chars(texts[part], layout->style);
        int before = le_element_is_special(&element, part) ? column->left + column->right - chars : column->left - left;
        layout->spaces += before;
        put_text(layout, texts[part]);
        layout->spaces += column->left + column->right - before - chars;
    }
}

/* Before item k of a row: adds a space, or starts a new line if the item and the closing brackets do not fit. */
static void put_separator(struct layout *layout, int64_t k, int chars) {
    if (k == 0)
        return;
    if (layout->position + layout->spaces + 1 + chars + layout->array.rank > layout->width) {
        end_line(layout);
        layout->spaces = layout->array.rank;
    } else {
        layout->spaces++;
    }
}

static void print_row(struct layout *layout, const char *at, int64_t extent, int64_t step_bytes) {
    bool cut = is_abbreviated(layout, extent);
    for (int64_t k = 0; k < extent; k++) {
        if (cut && k == layout->edge) {
            if (layout->writing) {
                put_separator(layout, k, 3);
                put_text(layout, "...");
            }
            k = extent - layout->edge;
        }
        if (!layout->writing) {
            measure_element(layout, at + k * step_bytes);
            continue;
        }
        put_separator(layout, k, element_chars(layout));
        write_element(layout, at + k * step_bytes);
    }
}

static void new_row(struct layout *layout, int axis) {
    int breaks = layout->array.rank - 1 - axis;
    for (int k = 0; k < breaks; k++)
        end_line(layout);
    layout->spaces = axis + 1;
}

static void print_axis(struct layout *layout, const char *at, int axis) {
    int64_t extent = layout->array.shape[axis];
    int64_t step_bytes = layout->array.strides[axis] * (int64_t)leat_dtype_size_bytes(layout->array.dtype);
    if (layout->writing)
        put_text(layout, "[");
    if (axis == layout->array.rank - 1) {
        print_row(layout, at, extent, step_bytes);
    } else {
        bool cut = is_abbreviated(layout, extent);
        for (int64_t k = 0; k < extent; k++) {
            if (layout->writing && k > 0)
                new_row(layout, axis);
            if (cut && k == layout->edge) {
                if (layout->writing) {
                    put_text(layout, "...");
                    new_row(layout, axis);
                }
                k = extent - layout->edge;
            }
            print_axis(layout, at + k * step_bytes, axis + 1);
        }
    }
    if (layout->writing)
        put_text(layout, "]");
}

/* Whether a printed element needs an exponent; then all elements get one. */
static bool any_wants_exponent(const struct layout *layout, const char *at, int axis) {
    if (axis == layout->array.rank) {
        struct le_element element = le_element_get(at, layout->array.dtype);
        return le_element_wants_exponent(&element, layout->array.dtype, layout->digits);
    }
    int64_t extent = layout->array.shape[axis];
    int64_t step_bytes = layout->array.strides[axis] * (int64_t)leat_dtype_size_bytes(layout->array.dtype);
    bool cut = is_abbreviated(layout, extent);
    for (int64_t k = 0; k < extent; k++) {
        if (cut && k == layout->edge)
            k = extent - layout->edge;
        if (any_wants_exponent(layout, at + k * step_bytes, axis + 1))
            return true;
    }
    return false;
}

static void print_scalar(FILE *file, const char *name, const leat_description *array, int digits) {
    char text[LE_ELEMENT_CHARS];
    struct le_element element = le_element_get(array->data, array->dtype);
    le_element_text(&element, array->dtype, LE_STYLE_SHORTEST, digits, text);
    fprintf(file, "%s = %s\n", name, text);
}

leat_status le_print_array(FILE *file, const char *name, const leat_array *array, int digits) {
    struct layout layout = {.file = file, .digits = digits, .width = le_terminal_columns()};
    leat_status status = leat_array_get(array, &layout.array);
    if (status)
        return status;
    const char *data = layout.array.data;
    if (layout.array.rank == 0) {
        print_scalar(file, name, &layout.array, digits);
        return LEAT_OK;
    }
    fprintf(file, "%s: ", name);
    le_print_type(file, &layout.array);
    if (count_elements(&layout.array) == 0) {
        fputs("\n[]\n", file);
        return LEAT_OK;
    }
    fputc('\n', file);
    layout.edge = choose_edge(&layout.array);
    layout.style = any_wants_exponent(&layout, data, 0) ? LE_STYLE_EXPONENT : LE_STYLE_FIXED;
    print_axis(&layout, data, 0);
    print_axis(&layout, data, 0); /* again: the width of nan and inf depends on the widest fraction */
    layout.writing = true;
    print_axis(&layout, data, 0);
    fputc('\n', file);
    if (layout.edge != INT64_MAX)
        le_summary_print(file, &layout.array, digits);
    return LEAT_OK;
}
