/* See source_table.h. A hash table with open addressing, written under a lock and read without one. A slot's value is
 * stored before its key, and keys are never removed. The log is append-only: bytes below log_used never change.
 * Locations and deferred sources have their own arrays. */
#include "trace/recorder/source_table.h"
#include "base/hash.h"
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { SLOTS = 1 << 17, LOCATIONS = 1 << 15, DEFERRED = 1 << 13, LOG_BYTES = 16 << 20, LOG_KEPT_BYTES = 512 << 10 };

struct slot {
    _Atomic uint64_t key; /* 0: empty */
    _Atomic uint32_t value;
};

struct known_location {
    uint32_t function, file, line, language;
};

struct le_source_table {
    _Atomic uint32_t *texts;
    pthread_mutex_t lock;
    _Atomic bool is_full;
    uint32_t slots_used, locations_used, sources, deferred_used, deferred_taken;
    size_t log_used, log_taken;
    struct slot slots[SLOTS];
    struct known_location locations[LOCATIONS]; /* by number; 0 is not used */
    struct le_source_deferred deferred[DEFERRED];
    _Alignas(8) char log[LOG_BYTES];
};

static const char full_note[] = "The table of source lines is full: further source lines are not recorded.";

/* Memory comes from mmap, not from base/memory.h, because the recorder must not use the program's allocator. */
struct le_source_table *le_source_table_new(_Atomic uint32_t *texts) {
    struct le_source_table *table =
        mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED)
        return NULL;
    for (size_t k = 0; k < SLOTS; k += 4096 / sizeof *table->slots)
        atomic_init(&table->slots[k].key, 0); /* touches the pages here rather than in a callback */
    table->texts = texts;
    table->locations_used = 1;
    pthread_mutex_init(&table->lock, NULL);
    return table;
}

void le_source_table_free(struct le_source_table *table) {
    if (!table)
        return;
    pthread_mutex_destroy(&table->lock);
    munmap(table, sizeof *table);
}

uint64_t le_source_key(enum le_source_key_kind kind, const void *bytes, size_t length) {
    uint64_t key = le_hash(bytes, length, (uint64_t)kind);
    return key ? key : 1;
}

/* Multiplies four words at a time by unrelated odd numbers and adds the products; at the end, mixes the upper bits into
 * the lower ones. */
uint64_t le_source_key_of_words(enum le_source_key_kind kind, const uint64_t *words, int count) {
    static const uint64_t odd[] = {0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu,
                                   0xff51afd7ed558ccdu};
    uint64_t key = (uint64_t)kind;
    int k = 0;
    for (; k + 4 <= count; k += 4)
        key = (key ^ key >> 29) * odd[0] + words[k] * odd[1] + words[k + 1] * odd[2] + words[k + 2] * odd[3] +
              (words[k + 3] ^ words[k + 3] >> 31) * odd[4];
    for (; k < count; k++)
        key = (key ^ key >> 29 ^ words[k]) * odd[1];
    key = (key ^ key >> 32) * odd[1];
    key ^= key >> 32;
    return key ? key : 1;
}

uint32_t le_source_table_find(const struct le_source_table *table, uint64_t key) {
    for (size_t k = (size_t)key % SLOTS;; k = (k + 1) % SLOTS) {
        uint64_t there = atomic_load_explicit(&table->slots[k].key, memory_order_acquire);
        if (there == key)
            return atomic_load_explicit(&table->slots[k].value, memory_order_relaxed);
        if (!there)
            return 0;
    }
}

bool le_source_table_is_full(const struct le_source_table *table) {
    return atomic_load_explicit(&table->is_full, memory_order_relaxed);
}

/* Appends a record with a structure and a text to the log. Call under the lock. */
static void log_record(struct le_source_table *table, enum le_trace_kind kind, const void *body, size_t body_bytes,
                       const char *text, size_t text_bytes) {
    size_t bytes = (sizeof(struct le_trace_record) + body_bytes + text_bytes + 7) / 8 * 8;
    struct le_trace_record head = {.kind = (uint16_t)kind, .bytes = (uint32_t)bytes};
    char *to = table->log + table->log_used;
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, body, body_bytes);
    if (text_bytes)
        memcpy(to + sizeof head + body_bytes, text, text_bytes);
    table->log_used += bytes;
}

static uint32_t log_text(struct le_source_table *table, const char *text, uint32_t length) {
    uint32_t id = atomic_fetch_add(table->texts, 1) + 1;
    log_record(table, LE_TRACE_STRING, &(struct le_trace_string){.id = id, .length = length},
               sizeof(struct le_trace_string), text, length);
    return id;
}

/* Call under the lock. Works even when the table is full, because part of the log is reserved for notes. */
static void log_note(struct le_source_table *table, const char *text) {
    size_t length = strlen(text);
    if (table->log_used + length + 64 > LOG_BYTES)
        return;
    struct le_trace_note note = {.text = log_text(table, text, (uint32_t)length)};
    log_record(table, LE_TRACE_NOTE, &note, sizeof note, NULL, 0);
}

static bool has_room(struct le_source_table *table) {
    enum { MOST_BYTES = (LE_SOURCE_FRAMES + 2) * 64 + 2 * LE_SOURCE_TEXT_BYTES };
    if (table->slots_used + LE_SOURCE_FRAMES + 8 < SLOTS / 4 * 3 && table->locations_used + 1 < LOCATIONS &&
        table->deferred_used + 1 < DEFERRED && table->log_used + MOST_BYTES < LOG_BYTES - LOG_KEPT_BYTES)
        return true;
    if (!le_source_table_is_full(table)) {
        atomic_store(&table->is_full, true);
        log_note(table, full_note);
    }
    return false;
}

static void put_value(struct le_source_table *table, uint64_t key, uint32_t value) {
    size_t k = (size_t)key % SLOTS;
    uint64_t there;
    while ((there = atomic_load_explicit(&table->slots[k].key, memory_order_relaxed)) && there != key)
        k = (k + 1) % SLOTS;
    atomic_store_explicit(&table->slots[k].value, value, memory_order_relaxed);
    if (there)
        return;
    atomic_store_explicit(&table->slots[k].key, key, memory_order_release);
    table->slots_used++;
}

void le_source_table_set(struct le_source_table *table, uint64_t key, uint32_t value) {
    pthread_mutex_lock(&table->lock);
    if (has_room(table))
        put_value(table, key, value);
    pthread_mutex_unlock(&table->lock);
}

static uint32_t intern_text(struct le_source_table *table, const struct le_source_text *text) {
    if (!text->length)
        return 0;
    uint64_t key = le_source_key(LE_KEY_TEXT, text->bytes, text->length);
    uint32_t id = le_source_table_find(table, key);
    if (!id) {
        id = log_text(table, text->bytes, text->length);
        put_value(table, key, id);
    }
    return id;
}

uint32_t le_source_table_locate(struct le_source_table *table, uint64_t key,
                                const struct le_source_location *location) {
    pthread_mutex_lock(&table->lock);
    uint32_t number = le_source_table_find(table, key); /* another thread may have added it */
    if (!number && has_room(table)) {
        number = table->locations_used++;
        table->locations[number] = (struct known_location){.function = intern_text(table, &location->function),
                                                           .file = intern_text(table, &location->file),
                                                           .line = location->line,
                                                           .language = location->language};
        put_value(table, key, number);
    }
    pthread_mutex_unlock(&table->lock);
    return number;
}

static void log_source(struct le_source_table *table, uint32_t id, uint32_t parent,
                       const struct known_location *location) {
    struct le_trace_source source = {.id = id,
                                     .parent = parent,
                                     .function = location->function,
                                     .file = location->file,
                                     .line = location->line,
                                     .language = location->language};
    log_record(table, LE_TRACE_SOURCE, &source, sizeof source, NULL, 0);
}

/* The source of a location with this caller. Locations with equal texts and lines give the same source. */
static uint32_t intern_node(struct le_source_table *table, uint32_t parent, const struct known_location *location) {
    struct {
        struct known_location location;
        uint32_t parent;
    } node = {.location = *location, .parent = parent};
    uint64_t key = le_source_key(LE_KEY_NODE, &node, sizeof node);
    uint32_t source = le_source_table_find(table, key);
    if (!source) {
        source = ++table->sources;
        log_source(table, source, parent, location);
        put_value(table, key, source);
    }
    return source;
}

uint32_t le_source_table_chain(struct le_source_table *table, uint64_t key, const uint32_t *locations, int count) {
    pthread_mutex_lock(&table->lock);
    uint32_t source = 0;
    if (has_room(table)) {
        for (int k = count - 1; k >= 0; k--)
            source = intern_node(table, source, &table->locations[locations[k]]);
        put_value(table, key, source);
    }
    pthread_mutex_unlock(&table->lock);
    return source;
}

uint32_t le_source_table_defer(struct le_source_table *table, uint64_t key, const uintptr_t *addresses, int count) {
    pthread_mutex_lock(&table->lock);
    uint32_t source = le_source_table_find(table, key);
    if (!source && has_room(table)) {
        source = ++table->sources;
        struct le_source_deferred *deferred = &table->deferred[table->deferred_used++];
        *deferred = (struct le_source_deferred){.key = key, .source = source, .count = (uint32_t)count};
        memcpy(deferred->addresses, addresses, (size_t)count * sizeof *addresses);
        put_value(table, key, source);
    }
    pthread_mutex_unlock(&table->lock);
    return source;
}

bool le_source_table_deferred(struct le_source_table *table, struct le_source_deferred *deferred) {
    pthread_mutex_lock(&table->lock);
    bool is_there = table->deferred_taken < table->deferred_used;
    if (is_there)
        *deferred = table->deferred[table->deferred_taken++];
    pthread_mutex_unlock(&table->lock);
    return is_there;
}

/* The source's number is in use already, so it is written even when the table is full, then without its location. */
void le_source_table_define(struct le_source_table *table, uint32_t source, const uint32_t *locations, int count) {
    static const struct known_location unknown = {.language = LE_TRACE_NATIVE};
    pthread_mutex_lock(&table->lock);
    uint32_t parent = 0;
    bool is_known = count > 0 && locations[0];
    for (int k = count - 1; k > 0 && has_room(table); k--)
        if (locations[k])
            parent = intern_node(table, parent, &table->locations[locations[k]]);
    log_source(table, source, parent, is_known ? &table->locations[locations[0]] : &unknown);
    pthread_mutex_unlock(&table->lock);
}

void le_source_table_note(struct le_source_table *table, const char *text) {
    uint64_t key = le_source_key(LE_KEY_NOTE, text, strlen(text));
    if (le_source_table_find(table, key))
        return;
    pthread_mutex_lock(&table->lock);
    if (!le_source_table_find(table, key) && has_room(table)) {
        log_note(table, text);
        put_value(table, key, 1);
    }
    pthread_mutex_unlock(&table->lock);
}

size_t le_source_table_take(struct le_source_table *table, size_t most_bytes, const void **records) {
    pthread_mutex_lock(&table->lock);
    size_t used = table->log_used;
    pthread_mutex_unlock(&table->lock);
    size_t end = table->log_taken;
    *records = table->log + end;
    while (end < used) {
        struct le_trace_record head;
        memcpy(&head, table->log + end, sizeof head);
        if (end + head.bytes - table->log_taken > most_bytes)
            break;
        end += head.bytes;
    }
    size_t bytes = end - table->log_taken;
    table->log_taken = end;
    return bytes;
}
