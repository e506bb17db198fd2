/* Reads a module's object file: its segments, and the variables in its symbol table. Thread-local variables are the
 * shared memory. The object comes from our own compiler, or from the store, which has verified it. */
#include "base/demangle.h"
#include "base/memory.h"
#include "sim/grid/sim_module.h"
#include <elf.h>
#include <link.h>
#include <string.h>

static const void *within(const struct sim_module *module, size_t offset, size_t size_bytes) {
    if (offset > module->parts.object_bytes || size_bytes > module->parts.object_bytes - offset)
        return NULL;
    return module->parts.object + offset;
}

/* A variable's name as in the source, without its scope; freed with le_free. NULL: out of memory. */
static char *plain_name(const char *mangled) {
    struct le_arena arena;
    struct le_demangled_function variable;
    le_arena_init(&arena);
    if (setjmp(arena.failure)) {
        le_arena_finish(&arena);
        return NULL;
    }
    le_demangle_function(&arena, mangled, &variable);
    char *name = le_strdup(variable.last);
    le_arena_finish(&arena);
    return name;
}

static bool add_symbol(struct sim_module *module, const ElfW(Sym) * symbol, const char *mangled) {
    if (strcmp(mangled, "leat_sim_dynamic") == 0) {
        module->dynamic_offset = symbol->st_value;
        return true;
    }
    if (strncmp(mangled, "_ZGV", 4) == 0 || strcmp(mangled, "__tls_guard") == 0) {
        size_t *guards = le_realloc(module->init_guards, (module->init_guard_count + 1) * sizeof *guards);
        if (!guards)
            return false;
        module->init_guards = guards;
        guards[module->init_guard_count++] = symbol->st_value;
        return true;
    }
    struct sim_shared_symbol *grown = le_realloc(module->shared, (module->shared_count + 1) * sizeof *module->shared);
    if (!grown)
        return false;
    module->shared = grown;
    char *name = plain_name(mangled);
    if (!name)
        return false;
    grown[module->shared_count++] = (struct sim_shared_symbol){
        .name = name, .mangled = mangled, .offset = symbol->st_value, .size_bytes = symbol->st_size};
    return true;
}

static bool add_object(struct sim_module *module, const ElfW(Sym) * symbol, const char *mangled) {
    struct sim_variable *grown = le_realloc(module->variables, (module->variable_count + 1) * sizeof *grown);
    if (!grown)
        return false;
    module->variables = grown;
    char *name = plain_name(mangled);
    if (!name)
        return false;
    grown[module->variable_count++] =
        (struct sim_variable){.name = name, .address = module->base + symbol->st_value, .size_bytes = symbol->st_size};
    return true;
}

/* .data and .bss, where variables have padding after them; not sections that are read-only once loaded. */
static bool is_padded(const ElfW(Shdr) * section) {
    return section->sh_flags & SHF_WRITE && !(section->sh_flags & SHF_TLS) &&
           (section->sh_type == SHT_NOBITS || section->sh_type == SHT_PROGBITS);
}

static leat_status add_symbols(struct sim_module *module, const ElfW(Shdr) * sections, int count,
                               const ElfW(Shdr) * symbols, const ElfW(Shdr) * names) {
    const ElfW(Shdr) *strings = &sections[symbols->sh_link];
    const ElfW(Sym) *symbol = within(module, symbols->sh_offset, symbols->sh_size);
    const char *text = within(module, strings->sh_offset, strings->sh_size);
    const char *name = within(module, names->sh_offset, names->sh_size);
    if (!symbol || !text || !strings->sh_size || text[strings->sh_size - 1] != '\0' || !name || !names->sh_size ||
        name[names->sh_size - 1] != '\0')
        return le_fail(LEAT_DEVICE, "the module's object has a broken symbol table");
    for (size_t k = 0; k < symbols->sh_size / sizeof *symbol; k++, symbol++) {
        if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= count || symbol->st_name >= strings->sh_size)
            continue;
        const ElfW(Shdr) *section = &sections[symbol->st_shndx];
        const char *kind = section->sh_name < names->sh_size ? name + section->sh_name : "";
        bool added = true;
        if ((symbol->st_info & 15) == STT_TLS)
            added = add_symbol(module, symbol, text + symbol->st_name);
        else if ((symbol->st_info & 15) == STT_OBJECT && is_padded(section) &&
                 (strcmp(kind, ".data") == 0 || strcmp(kind, ".bss") == 0))
            added = add_object(module, symbol, text + symbol->st_name);
        if (!added)
            return le_fail_out_of_memory(sizeof *module->shared);
    }
    return LEAT_OK;
}

leat_status le_sim_elf_read(struct sim_module *module) {
    const ElfW(Ehdr) *header = within(module, 0, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_shentsize != sizeof(ElfW(Shdr)))
        return le_fail(LEAT_DEVICE, "the module contains no object for this machine");
    const ElfW(Shdr) *sections = within(module, header->e_shoff, header->e_shnum * sizeof *sections);
    const ElfW(Phdr) *segments = within(module, header->e_phoff, header->e_phnum * sizeof *segments);
    if (!sections || !segments)
        return le_fail(LEAT_DEVICE, "the module's object is truncated");
    for (int k = 0; k < header->e_phnum; k++) {
        uintptr_t low = module->base + segments[k].p_vaddr, high = low + segments[k].p_memsz;
        if (segments[k].p_type == PT_TLS)
            module->block_bytes = segments[k].p_memsz;
        if (segments[k].p_type != PT_LOAD)
            continue;
        module->low = module->low && module->low < low ? module->low : low;
        module->high = module->high > high ? module->high : high;
        if (segments[k].p_flags & PF_X)
            module->text_low = low, module->text_high = high;
        if (segments[k].p_flags & PF_W)
            module->data_low = low, module->data_high = high;
    }
    for (int k = 0; k < header->e_phnum; k++) { /* tables of virtual functions are read-only */
        uintptr_t high = module->base + segments[k].p_vaddr + segments[k].p_memsz;
        if (segments[k].p_type == PT_GNU_RELRO && high > module->data_low && high <= module->data_high)
            module->data_low = high;
    }
    for (int k = 0; k < header->e_shnum; k++)
        if (sections[k].sh_type == SHT_SYMTAB && sections[k].sh_link < header->e_shnum &&
            header->e_shstrndx < header->e_shnum)
            return add_symbols(module, sections, header->e_shnum, &sections[k], &sections[header->e_shstrndx]);
    return le_fail(LEAT_DEVICE, "the module's object has no symbol table");
}
