/* See source_symbols.h. Reads ELF symbol tables. Files are not trusted. Uses the full table (.symtab) if the file has
 * one, else the dynamic one. */
#include "trace/recorder/source_symbols.h"
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

struct module {
    uintptr_t address, base;
    bool is_found;
    char path[LE_SOURCE_TEXT_BYTES];
};

struct file {
    const char *bytes;
    size_t size_bytes;
};

static int visit_module(struct dl_phdr_info *info, size_t size_bytes, void *data) {
    (void)size_bytes;
    struct module *module = data;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[k];
        if (part->p_type != PT_LOAD || module->address - (info->dlpi_addr + part->p_vaddr) >= part->p_memsz)
            continue;
        module->is_found = true;
        module->base = info->dlpi_addr;
        snprintf(module->path, sizeof module->path, "%s", info->dlpi_name ? info->dlpi_name : "");
        return 1;
    }
    return 0;
}

/* In the list of modules, the program itself has no name. */
static bool find_module(uintptr_t address, struct module *module) {
    *module = (struct module){.address = address};
    dl_iterate_phdr(visit_module, module);
    if (module->is_found && !module->path[0]) {
        ssize_t length = readlink("/proc/self/exe", module->path, sizeof module->path - 1);
        module->path[length > 0 ? length : 0] = 0;
    }
    return module->is_found;
}

static bool open_file(const char *path, struct file *file) {
    *file = (struct file){0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (descriptor < 0)
        return false;
    if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (bytes != MAP_FAILED)
            *file = (struct file){.bytes = bytes, .size_bytes = (size_t)status.st_size};
    }
    close(descriptor);
    return file->bytes != NULL;
}

static bool is_within(const struct file *file, uint64_t at, uint64_t bytes) {
    return at <= file->size_bytes && bytes <= file->size_bytes - at;
}

/* Reads section k; false: the file does not have it, or not completely. */
static bool read_section(const struct file *file, const ElfW(Ehdr) * head, unsigned k, ElfW(Shdr) * section) {
    uint64_t at = head->e_shoff + (uint64_t)k * sizeof *section;
    if (k >= head->e_shnum || head->e_shentsize != sizeof *section || !is_within(file, at, sizeof *section))
        return false;
    memcpy(section, file->bytes + at, sizeof *section);
    return section->sh_type == SHT_NOBITS || is_within(file, section->sh_offset, section->sh_size);
}

static bool copy_name(const struct file *file, const ElfW(Shdr) * names, uint64_t at, struct le_source_text *text) {
    if (at >= names->sh_size)
        return false;
    const char *name = file->bytes + names->sh_offset + at;
    size_t length = strnlen(name, (size_t)(names->sh_size - at));
    text->length = (uint32_t)(length < LE_SOURCE_TEXT_BYTES ? length : LE_SOURCE_TEXT_BYTES);
    memcpy(text->bytes, name, text->length);
    return length > 0;
}

/* Finds the function that contains an address, relative to the module's base, in a symbol table. */
static bool find_in_section(const struct file *file, const ElfW(Ehdr) * head, const ElfW(Shdr) * section,
                            uint64_t address, struct le_source_text *text) {
    ElfW(Shdr) names;
    if (!read_section(file, head, section->sh_link, &names) || names.sh_type != SHT_STRTAB)
        return false;
    for (uint64_t at = 0; at + sizeof(ElfW(Sym)) <= section->sh_size; at += sizeof(ElfW(Sym))) {
        ElfW(Sym) symbol;
        memcpy(&symbol, file->bytes + section->sh_offset + at, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && address - symbol.st_value < symbol.st_size)
            return copy_name(file, &names, symbol.st_name, text);
    }
    return false;
}

static bool find_in_file(const struct file *file, uint64_t address, struct le_source_text *text) {
    static const ElfW(Word) kinds[] = {SHT_SYMTAB, SHT_DYNSYM};
    ElfW(Ehdr) head;
    if (!is_within(file, 0, sizeof head))
        return false;
    memcpy(&head, file->bytes, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    for (size_t kind = 0; kind < LENGTH(kinds); kind++)
        for (unsigned k = 0; k < head.e_shnum; k++) {
            ElfW(Shdr) section;
            if (read_section(file, &head, k, &section) && section.sh_type == kinds[kind] &&
                find_in_section(file, &head, &section, address, text))
                return true;
        }
    return false;
}

static void print_address(uintptr_t address, struct le_source_text *text) {
    int length = snprintf(text->bytes, sizeof text->bytes, "0x%lx", (unsigned long)address);
    text->length = (uint32_t)length;
}

void le_symbol_find(uintptr_t return_address, struct le_source_location *location) {
    struct module module;
    struct file file;
    uintptr_t address = return_address - 1; /* inside the call instruction */
    location->language = LE_TRACE_NATIVE;
    location->line = 0;
    location->file.length = 0;
    if (!find_module(address, &module)) {
        print_address(address, &location->function);
        return;
    }
    location->file.length = (uint32_t)strlen(module.path);
    memcpy(location->file.bytes, module.path, location->file.length);
    bool is_found = false;
    if (open_file(module.path, &file)) {
        is_found = find_in_file(&file, address - module.base, &location->function);
        munmap((void *)file.bytes, file.size_bytes);
    }
    if (!is_found)
        print_address(address - module.base, &location->function);
}

bool le_symbol_is_runtime(const struct le_source_text *function) {
    static const char *const beginnings[] = {"cuda", "__cuda", "cudart", "libcudart_static", "__device_stub"};
    for (size_t k = 0; k < LENGTH(beginnings); k++) {
        size_t length = strlen(beginnings[k]);
        if (function->length > length && memcmp(function->bytes, beginnings[k], length) == 0)
            return true;
    }
    return false;
}
