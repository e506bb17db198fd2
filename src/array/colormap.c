/* See colormap.h. */
#include "array/colormap.h"
#include "base/text.h"
#include "spec/type.h"
#include <float.h>
#include <math.h>
#include <string.h>

#define LEVELS 256

static const uint8_t viridis[LEVELS][3] = {
#include "array/viridis.def"
};

static double element_at(const leat_array *array, int64_t row, int64_t column) {
    int64_t offset = row * array->strides[0] + column * array->strides[1];
    return le_real_element(array->dtype,
                           (const char *)array->data + offset * (int64_t)le_type_size((enum le_type)array->dtype));
}

/* The range of the finite elements; least > greatest if there are none. */
static void find_range(const leat_array *array, double *least, double *greatest) {
    *least = INFINITY;
    *greatest = -INFINITY;
    for (int64_t i = 0; i < array->shape[0]; i++)
        for (int64_t j = 0; j < array->shape[1]; j++) {
            double value = element_at(array, i, j);
            if (isfinite(value)) {
                *least = value < *least ? value : *least;
                *greatest = value > *greatest ? value : *greatest;
            }
        }
}

/* Computes with halves, so that the difference of two large numbers does not overflow. */
static int color_level(double value, double least, double greatest) {
    if (value <= least || !(greatest > least))
        return value > greatest ? LEVELS - 1 : 0;
    if (value >= greatest)
        return LEVELS - 1;
    return (int)lround((value / 2 - least / 2) / (greatest / 2 - least / 2) * (LEVELS - 1));
}

static void color_pixel(double value, double least, double greatest, leat_colormap colormap, uint8_t *pixel) {
    size_t channels = colormap == LEAT_COLORMAP_GREY ? 1 : 3;
    if (isnan(value)) {
        memset(pixel, 0, channels);
        return;
    }
    int at = color_level(value, least, greatest);
    if (channels == 1)
        *pixel = (uint8_t)at;
    else
        memcpy(pixel, viridis[at], channels);
}

static void note_range(const leat_array *array, const char *name, leat_colormap colormap, double least,
                       double greatest) {
    struct le_text text = {0};
    bool grey = colormap == LEAT_COLORMAP_GREY;
    le_text_add(&text, "%s: ", name);
    if (least > greatest) {
        le_text_add(&text, "no finite value to scale by");
    } else {
        le_text_add(&text, "scaled from ");
        le_text_add_f64(&text, least);
        le_text_add(&text, " (%s) to ", grey ? "black" : "dark blue");
        le_text_add_f64(&text, greatest);
        le_text_add(&text, " (%s)", grey ? "white" : "yellow");
    }
    if (!text.failed)
        le_memory_pool_note(array->buffer->pool, LEAT_LOG_NOTE, text.at);
    le_text_finish(&text);
}

leat_status le_colormap_apply(const leat_array *array, const char *name, leat_colormap colormap, leat_array **pixels) {
    bool grey = colormap == LEAT_COLORMAP_GREY;
    const int64_t shape[] = {array->shape[0], array->shape[1], 3};
    double least, greatest;
    leat_array *made;
    leat_status status = le_array_new(array->buffer->pool, LEAT_U8, grey ? 2 : 3, shape, false, &made);
    if (status)
        return status;
    if (array->dtype == LEAT_BOOL) { /* whatever it holds, true is white */
        least = 0;
        greatest = 1;
    } else {
        find_range(array, &least, &greatest);
    }
    uint8_t *pixel = made->data;
    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t j = 0; j < shape[1]; j++, pixel += grey ? 1 : 3)
            color_pixel(element_at(array, i, j), least, greatest, colormap, pixel);
    if (array->dtype != LEAT_BOOL)
        note_range(array, name, colormap, least, greatest);
    *pixels = made;
    return LEAT_OK;
}
