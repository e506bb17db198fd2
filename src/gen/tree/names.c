/* Names of variables: valid and free in C and in CUDA C. */
#include "gen/tree/ktree.h"
#include "base/text.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Words of C++ and CUDA, macros that are there without an include, and the functions that generated code calls by
 * their own names. */
static const char reserved[] =
    " alignas alignof and and_eq asm assert atomicAdd atomicCAS atomicExch atomicMax atomicMin atomicOr auto bitand "
    "bitor blockDim blockIdx bool break case catch char char16_t char32_t char8_t class co_await co_return co_yield "
    "compl concept const const_cast consteval constexpr constinit continue copysign decltype default delete do double "
    "dynamic_cast else enum explicit export extern false float fma fmaf for friend goto gridDim if inline int linux "
    "long mutable namespace new noexcept not not_eq nullptr operator or or_eq printf private protected public register "
    "reinterpret_cast requires return rint rintf short signed sizeof static static_assert static_cast struct "
    "switch template this thread_local threadIdx throw true try typedef typeid typename uint2 uint4 union unix "
    "unsigned using virtual void volatile "
    "warpSize wchar_t while xor xor_eq main i386 NULL INFINITY NAN HUGE_VAL HUGE_VALF action fault ";

static bool is_reserved(const char *name, size_t length) {
    char word[40];
    if (strncmp(name, "le_", 3) == 0 || strncmp(name, "M_", 2) == 0 || strncmp(name, "CUDART_", 7) == 0 ||
        strncmp(name, "LEAT_", 5) == 0 || strstr(name, "__"))
        return true;
    if (length > sizeof word - 3)
        return false;
    snprintf(word, sizeof word, " %s ", name);
    return strstr(reserved, word) || le_op_function(name, length) != LE_OPS ||
           (length > 1 && name[length - 1] == 'f' && le_op_function(name, length - 1) != LE_OPS);
}

/* Letters, digits and single underscores, a letter first. */
char *le_ktree_clean_name(struct le_arena *arena, const char *wish) {
    char *name = LE_NEW_ARRAY(arena, strlen(wish) + 3, char);
    size_t length = 0;
    if (!isalpha((unsigned char)wish[0]))
        name[length++] = 'v';
    for (; *wish; wish++) {
        char next = isalnum((unsigned char)*wish) && !((unsigned char)*wish & 0x80) ? *wish : '_';
        if (next != '_' || (length > 0 && name[length - 1] != '_'))
            name[length++] = next;
    }
    while (length > 1 && name[length - 1] == '_')
        length--;
    name[length] = 0;
    return name;
}

const char *le_ktree_name(struct le_kernel_tree *t, const char *wish) {
    const char *base = le_ktree_clean_name(t->arena, wish), *name = base;
    int k = le_names_get(&t->names, base, strlen(base));
    if (k < 0 && is_reserved(base, strlen(base))) {
        name = base = le_arena_format(t->arena, "v_%s", base);
        k = le_names_get(&t->names, base, strlen(base));
    }
    for (; k >= 0; k++) {
        name = le_arena_format(t->arena, "%s_%d", base, k + 1);
        if (le_names_get(&t->names, name, strlen(name)) >= 0)
            continue;
        le_names_put(t->arena, &t->names, base, strlen(base), k + 1);
        break;
    }
    le_names_put(t->arena, &t->names, name, strlen(name), 1);
    return name;
}
