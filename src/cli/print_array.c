/* See print_array.h. Elements are laid out in two walks over the same shown ones: the first finds how wide they are,
 * the second writes them. Brackets and line breaks are NumPy's. */
#include "cli/print_array.h"
#include "cli/element.h"
#include "cli/summary.h"
#include <math.h>
#include <string.h>

enum { WHOLE_ELEMENTS_MAX = 400, LINE_CHARS = 100, CORNER_ELEMENTS_MAX = 1000 };

struct layout {
    FILE *file;
    leat_description array;
    int64_t edge; /* elements shown at either end of an axis; INT64_MAX: all */
    enum le_style style;
    int left, right; /* widest text up to and with the point, and behind it */
    int column;
    bool writing; /* the second walk */
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

/* As many at each end as make a page at most. */
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

static bool cuts(const struct layout *layout, int64_t extent) {
    return layout->edge <= extent / 2 && extent > 2 * layout->edge;
}

/* Characters up to and with the point of a number; of all else, all. */
static int left_chars(const char *text, enum le_style style) {
    const char *point = style == LE_STYLE_FIXED ? strchr(text, '.') : NULL;
    return point ? (int)(point - text) + 1 : (int)strlen(text);
}

static void measure(struct layout *layout, const char *at) {
    struct le_element element = le_element_get(at, layout->array.dtype);
    char text[LE_ELEMENT_CHARS];
    le_element_text(&element, layout->array.dtype, layout->style, text);
    bool is_number = element.kind != 'f' || isfinite(element.f64);
    int left = left_chars(text, layout->style), right = (int)strlen(text) - left;
    if (!is_number)
        left -= layout->right; /* nan and inf stand at the right end */
    if (left > layout->left)
        layout->left = left;
    if (is_number && right > layout->right)
        layout->right = right;
}

static void write_element(struct layout *layout, const char *at) {
    struct le_element element = le_element_get(at, layout->array.dtype);
    char text[LE_ELEMENT_CHARS];
    le_element_text(&element, layout->array.dtype, layout->style, text);
    int width = layout->left + layout->right, left = left_chars(text, layout->style);
    bool is_number = element.kind != 'f' || isfinite(element.f64);
    if (is_number)
        fprintf(layout->file, "%*s%-*s", layout->left - left, "", width - (layout->left - left), text);
    else
        fprintf(layout->file, "%*s", width, text);
    layout->column += width;
}

/* Before the k-th thing in a row: a space, or a new line where the row is full. */
static void space(struct layout *layout, int64_t k, int chars, int depth) {
    if (k == 0)
        return;
    if (layout->column + 1 + chars > LINE_CHARS) {
        fprintf(layout->file, "\n%*s", depth, "");
        layout->column = depth;
    } else {
        fputc(' ', layout->file);
        layout->column++;
    }
}

static void row(struct layout *layout, const char *at, int64_t extent, int64_t step_bytes) {
    bool cut = cuts(layout, extent);
    for (int64_t k = 0; k < extent; k++) {
        if (cut && k == layout->edge) {
            if (layout->writing) {
                space(layout, k, 3, layout->array.rank);
                layout->column += fprintf(layout->file, "...");
            }
            k = extent - layout->edge;
        }
        if (!layout->writing) {
            measure(layout, at + k * step_bytes);
            continue;
        }
        space(layout, k, layout->left + layout->right, layout->array.rank);
        write_element(layout, at + k * step_bytes);
    }
}

static void new_row(struct layout *layout, int axis) {
    int breaks = layout->array.rank - 1 - axis;
    for (int k = 0; k < breaks; k++)
        fputc('\n', layout->file);
    fprintf(layout->file, "%*s", axis + 1, "");
    layout->column = axis + 1;
}

static void walk(struct layout *layout, const char *at, int axis) {
    int64_t extent = layout->array.shape[axis];
    int64_t step_bytes = layout->array.strides[axis] * (int64_t)leat_dtype_size_bytes(layout->array.dtype);
    if (layout->writing) {
        fputc('[', layout->file);
        layout->column++;
    }
    if (axis == layout->array.rank - 1) {
        row(layout, at, extent, step_bytes);
    } else {
        bool cut = cuts(layout, extent);
        for (int64_t k = 0; k < extent; k++) {
            if (layout->writing && k > 0)
                new_row(layout, axis);
            if (cut && k == layout->edge) {
                if (layout->writing) {
                    fputs("...", layout->file);
                    new_row(layout, axis);
                }
                k = extent - layout->edge;
            }
            walk(layout, at + k * step_bytes, axis + 1);
        }
    }
    if (layout->writing)
        fputc(']', layout->file);
}

/* Exponents for all, if any of the shown needs one: found by measuring with fixed points first. */
static bool any_wants_exponent(const struct layout *layout, const char *at, int axis) {
    if (axis == layout->array.rank) {
        struct le_element element = le_element_get(at, layout->array.dtype);
        return le_element_wants_exponent(&element);
    }
    int64_t extent = layout->array.shape[axis];
    int64_t step_bytes = layout->array.strides[axis] * (int64_t)leat_dtype_size_bytes(layout->array.dtype);
    bool cut = cuts(layout, extent);
    for (int64_t k = 0; k < extent; k++) {
        if (cut && k == layout->edge)
            k = extent - layout->edge;
        if (any_wants_exponent(layout, at + k * step_bytes, axis + 1))
            return true;
    }
    return false;
}

static void print_scalar(FILE *file, const char *name, const leat_description *array) {
    char text[LE_ELEMENT_CHARS];
    struct le_element element = le_element_get(array->data, array->dtype);
    le_element_text(&element, array->dtype, LE_STYLE_SHORTEST, text);
    fprintf(file, "%s = %s\n", name, text);
}

leat_status le_print_array(FILE *file, const char *name, const leat_array *array) {
    struct layout layout = {.file = file};
    leat_status status = leat_array_get(array, &layout.array);
    if (status)
        return status;
    const char *data = layout.array.data;
    if (layout.array.rank == 0) {
        print_scalar(file, name, &layout.array);
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
    walk(&layout, data, 0);
    walk(&layout, data, 0); /* again: now that the widest fraction is known, nan and inf find their place */
    layout.writing = true;
    walk(&layout, data, 0);
    fputc('\n', file);
    if (layout.edge != INT64_MAX)
        le_summary_print(file, &layout.array);
    return LEAT_OK;
}
