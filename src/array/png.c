/* PNG pictures, through libpng, which gets its memory from base/memory.h. On an error libpng calls longjmp to the
 * setjmp of the reader or writer; everything that must then be freed is in struct picture. */
#include "array/png.h"
#include "array/colormap.h"
#include "base/file_out.h"
#include "spec/type.h"
#include <png.h>
#include <setjmp.h>
#include <string.h>

#define SIDE_MAX           1000000     /* limit of a side in pixels */
#define ALLOCATE_MAX_BYTES (64u << 20) /* limit of one allocation by libpng; a row takes at most 8 MB */
#define INFLATE_MOST       1040u       /* maximum bytes from one compressed byte; deflate's limit is 1032 */

struct picture {
    const char *name;
    struct le_memory_pool *pool;
    png_structp png;
    png_infop info;
    leat_status status;
    jmp_buf failure;
    const uint8_t *bytes; /* reading: the remaining bytes */
    size_t left_bytes;
    struct le_file_out out;
    leat_array *array; /* the array that was read, or is written */
    png_bytep *rows;
};

static void on_error(png_structp png, png_const_charp message) {
    struct picture *p = png_get_error_ptr(png);
    if (!p->status)
        p->status =
            le_fail(LEAT_FILE, "%s: the picture cannot be %s: %s", p->name, p->bytes ? "read" : "written", message);
    longjmp(p->failure, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static void *on_allocate(png_structp png, png_alloc_size_t size_bytes) {
    struct picture *p = png_get_mem_ptr(png);
    if (size_bytes > ALLOCATE_MAX_BYTES)
        return NULL;
    void *memory = le_alloc(size_bytes);
    if (!memory)
        p->status = le_fail_out_of_memory(size_bytes);
    return memory;
}

static void on_free(png_structp png, void *memory) {
    (void)png;
    le_free(memory);
}

static void fail_with(struct picture *p, leat_status status) {
    p->status = status;
    longjmp(p->failure, 1);
}

/* Runs work, which an error ends with a longjmp; p->status is the error. */
static void run_guarded(struct picture *p, void (*work)(struct picture *p)) {
    if (setjmp(p->failure) == 0)
        work(p);
}

static void make_rows(struct picture *p, size_t height, uint8_t *data, size_t row_bytes) {
    p->rows = le_alloc_zero(height, sizeof *p->rows);
    if (!p->rows)
        fail_with(p, le_fail_out_of_memory(height * sizeof *p->rows));
    for (size_t k = 0; k < height; k++)
        p->rows[k] = data + k * row_bytes;
}

/* ---- in */

static void on_read(png_structp png, png_bytep target, size_t size_bytes) {
    struct picture *p = png_get_io_ptr(png);
    if (size_bytes > p->left_bytes)
        png_error(png, "it ends too early");
    memcpy(target, p->bytes, size_bytes);
    p->bytes += size_bytes;
    p->left_bytes -= size_bytes;
}

/* Asks libpng for grey, or red, green, blue and perhaps alpha, with 8 or 16 bits in the machine's byte order. */
static void ask_transforms(struct picture *p) {
    png_structp png = p->png;
    int colour = png_get_color_type(png, p->info), depth = png_get_bit_depth(png, p->info);
    bool transparent = png_get_valid(png, p->info, PNG_INFO_tRNS) != 0;
    const uint16_t one = 1;
    if (colour == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    if (colour == PNG_COLOR_TYPE_GRAY && depth < 8)
        png_set_expand_gray_1_2_4_to_8(png);
    if (transparent)
        png_set_tRNS_to_alpha(png);
    if (colour == PNG_COLOR_TYPE_GRAY_ALPHA || (colour == PNG_COLOR_TYPE_GRAY && transparent))
        png_set_gray_to_rgb(png);
    if (depth == 16 && *(const uint8_t *)&one == 1)
        png_set_swap(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, p->info);
}

/* Checks the claimed size before memory of that size is allocated. */
static void check_size(struct picture *p, size_t file_bytes) {
    uint64_t height = png_get_image_height(p->png, p->info), width = png_get_image_width(p->png, p->info);
    uint64_t bits = (uint64_t)png_get_bit_depth(p->png, p->info) * png_get_channels(p->png, p->info);
    if (height * width / 8 * bits / INFLATE_MOST > file_bytes)
        fail_with(p, le_fail(LEAT_FILE, "%s: it claims %llu by %llu pixels, more than the file can hold", p->name,
                             (unsigned long long)width, (unsigned long long)height));
}

static void read_picture(struct picture *p) {
    size_t file_bytes = p->left_bytes;
    p->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, p, on_error, on_warning, p, on_allocate, on_free);
    p->info = p->png ? png_create_info_struct(p->png) : NULL;
    if (!p->info)
        fail_with(p, le_fail_out_of_memory(0));
    png_set_read_fn(p->png, p, on_read);
    png_set_user_limits(p->png, SIDE_MAX, SIDE_MAX);
    png_set_keep_unknown_chunks(p->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1); /* skip text, profiles and the like */
    png_read_info(p->png, p->info);
    check_size(p, file_bytes);
    ask_transforms(p);
    int channels = png_get_channels(p->png, p->info);
    int64_t shape[] = {png_get_image_height(p->png, p->info), png_get_image_width(p->png, p->info), channels};
    leat_dtype dtype = png_get_bit_depth(p->png, p->info) == 16 ? LEAT_U16 : LEAT_U8;
    leat_status status = le_array_new(p->pool, dtype, channels == 1 ? 2 : 3, shape, true, &p->array);
    if (status)
        fail_with(p, status);
    make_rows(p, (size_t)shape[0], p->array->data, png_get_rowbytes(p->png, p->info));
    png_read_image(p->png, p->rows);
    png_read_end(p->png, NULL);
}

leat_status le_png_load(struct le_memory_pool *pool, const char *name, const uint8_t *bytes, size_t size_bytes,
                        leat_array **array) {
    struct picture p = {.name = name, .pool = pool, .bytes = bytes, .left_bytes = size_bytes};
    run_guarded(&p, read_picture);
    if (p.png)
        png_destroy_read_struct(&p.png, &p.info, NULL);
    le_free(p.rows);
    if (p.status)
        le_array_free(p.array);
    else
        *array = p.array;
    return p.status;
}

/* ---- out */

static void on_write(png_structp png, png_bytep bytes, size_t size_bytes) {
    struct picture *p = png_get_io_ptr(png);
    leat_status status = le_file_out_write(&p->out, bytes, size_bytes);
    if (status)
        fail_with(p, status);
}

static void on_flush(png_structp png) {
    (void)png;
}

/* Writes a dense u8 or u16 array, [h,w] or [h,w,3 or 4]. */
static void write_picture(struct picture *p) {
    const leat_array *pixels = p->array;
    int channels = pixels->rank == 2 ? 1 : (int)pixels->shape[2];
    int depth = pixels->dtype == LEAT_U16 ? 16 : 8;
    int colour = channels == 1 ? PNG_COLOR_TYPE_GRAY : channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA;
    size_t height = (size_t)pixels->shape[0], width = (size_t)pixels->shape[1];
    const uint16_t one = 1;
    p->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, p, on_error, on_warning, p, on_allocate, on_free);
    p->info = p->png ? png_create_info_struct(p->png) : NULL;
    if (!p->info)
        fail_with(p, le_fail_out_of_memory(0));
    png_set_write_fn(p->png, p, on_write, on_flush);
    png_set_user_limits(p->png, SIDE_MAX, SIDE_MAX);
    png_set_IHDR(p->png, p->info, (png_uint_32)width, (png_uint_32)height, depth, colour, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(p->png, p->info);
    if (depth == 16 && *(const uint8_t *)&one == 1)
        png_set_swap(p->png);
    const uint8_t *row = pixels->data;
    for (size_t k = 0; k < height; k++, row += width * (size_t)channels * (size_t)depth / 8) {
        png_write_row(p->png, row);
        leat_status status = le_file_out_check(&p->out); /* rows that compress well cause no write for a long time */
        if (status)
            fail_with(p, status);
    }
    png_write_end(p->png, NULL);
}

static leat_status save_pixels(leat_array *pixels, const char *path, const leat_save_options *options) {
    struct picture p = {.name = path, .array = pixels};
    leat_status status = le_file_out_open(path, options, &p.out);
    if (status)
        return status;
    run_guarded(&p, write_picture);
    if (p.png)
        png_destroy_write_struct(&p.png, &p.info);
    return le_file_out_close(&p.out, p.status);
}

static leat_status check_shape(const leat_array *array, const char *path) {
    char text[LE_SHAPE_TEXT_MAX];
    bool whole = array->dtype == LEAT_U8 || array->dtype == LEAT_U16;
    bool grey = array->rank == 2, colour = array->rank == 3 && (array->shape[2] == 3 || array->shape[2] == 4);
    if (le_type_is_complex((enum le_type)array->dtype))
        return le_fail_at(LEAT_INVALID, (struct le_location){0}, "save re(...), im(...) or abs(...) of it",
                          "%s: %s is complex, which a picture cannot hold", path, le_array_describe(array, text));
    if (!grey && !(colour && whole))
        return le_fail_at(LEAT_INVALID, (struct le_location){0}, "use [h,w], or u8 or u16 [h,w,3] or [h,w,4]",
                          "%s: %s does not have the shape of a picture", path, le_array_describe(array, text));
    for (int k = 0; k < 2; k++)
        if (array->shape[k] < 1 || array->shape[k] > SIDE_MAX)
            return le_fail(LEAT_INVALID, "%s: cannot write %s as a picture", path, le_array_describe(array, text));
    return LEAT_OK;
}

leat_status le_png_save(const leat_array *array, const char *path, const leat_save_options *options) {
    leat_status status = check_shape(array, path);
    leat_array *pixels = NULL;
    if (!status && (array->dtype == LEAT_U8 || array->dtype == LEAT_U16)) /* retains or copies; only read */
        status = le_array_dense((leat_array *)(uintptr_t)array, &pixels);
    else if (!status)
        status = le_colormap_apply(array, path, options->colormap, &pixels);
    if (!status)
        status = save_pixels(pixels, path, options);
    le_array_free(pixels);
    return status;
}
