/* What device/ needs to know of names mangled by nvcc, g++ and clang++. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/demangle.h"
#include "base/status.h"
#include <string.h>

static const struct {
    const char *symbol, *name, *parameters;
    bool is_template;
    const char *kinds; /* p: pointer, n: number, ?: unknown; up to an unknown construct */
} CASES[] = {
    {"plain", "plain", "", false, ""},
    {"_Z", "_Z", "", false, ""},
    {"_Zzz", "_Zzz", "", false, ""},
    {"ns::fill<double,3>", "ns::fill", "", true, ""},
    {"_Z1fv", "f", "", false, ""},
    {"_Z1fPfi", "f", "float *, int", false, "pn"},
    {"_Z1fPKfPfi", "f", "const float *, float *, int", false, "ppn"},
    {"_Z1fPKfS0_i", "f", "const float *, const float *, int", false, "ppn"},
    {"_ZN2ns1fEPfi", "ns::f", "float *, int", false, "pn"},
    {"_ZN2ns5inner1hEv", "ns::inner::h", "", false, ""},
    {"_ZN2ns1gIfLi3EEEvPT_", "ns::g", "float *", true, "p"},
    {"_Z5scaleIdEvPT_S0_y", "scale", "double *, double, unsigned long long", true, "pnn"},
    {"_Z4foldIN2ns4PairIfEEEvT_", "fold", "ns::Pair<float>", true, "?"},
    {"_ZN33_GLOBAL__N__00000000_4_t_cu_table4anonEPi", "anon", "int *", false, "p"},
    {"_ZN12_GLOBAL__N_14anonEPi", "anon", "int *", false, "p"},
    {"_ZL4statPi", "stat", "int *", false, "p"},
    {"_Z1f6float4hbstjlmxyfdac", "f",
     "float4, unsigned char, bool, short, unsigned short, unsigned int, long, unsigned long, long long, "
     "unsigned long long, float, double, signed char, char",
     false, "?nnnnnnnnnnnnn"},
    {"_Z1fN2ns4PairIfLi2EEEi", "f", "ns::Pair<float, 2>, int", false, "?n"},
    {"_Z1fPFvvEi", "f", "void (*)(), int", false, "pn"},
    {"_Z1fPA3_fi", "f", "float (*) [3], int", false, "pn"},
    {"_Z1fPFPFvfEiE", "f", "void (*(*)(int))(float)", false, "p"},
    {"_Z1fPFvvEPS0_", "f", "void (*)(), void (**)()", false, "pp"},
    {"_Z1fPPfPKPKfRPiRA2_A3_KiM1AKPf", "f",
     "float **, const float * const *, int *&, const int (&) [2][3], float * const A::*", false, "pp???"},
    {"_Z1fIJifEEviDpT_", "f", "", true, "n"}, /* a pack is any number of parameters */
    {"_Z1fiDTfp_E", "f", "", false, "n"},     /* decltype is not known */
    {"_Z1fPf.isra.0", "f", "float *", false, "p"},
    {"_ZN2ns1AIfE1fE", "ns::A::f", "", false, ""},
    {"_ZN34_INTERNAL_0b8c9f25_4_k_cu_1a2b3c4d5inner1fEi", "inner::f", "int", false, "n"},
    {"_Z1fm", "f", "unsigned long", false, "n"},
    {"_Z9999999f", "_Z9999999f", "", false, ""},
    {"_Z3fi", "_Z3fi", "", false, ""}, /* cut short */
    {"_ZN2ns3accE", "ns::acc", "", false, ""},
};

static char kind_of(const struct le_demangled_parameter *parameter) {
    return "?pn"[parameter->kind];
}

static char pointee_of(const struct le_demangled_parameter *parameter) {
    return parameter->kind == LE_DEMANGLED_POINTER && parameter->code ? parameter->code : '-';
}

static void check_parameters(const struct le_demangled_function *function,
                             char (*letter)(const struct le_demangled_parameter *parameter), const char *expected) {
    assert_int_equal(function->parameters.count, strlen(expected));
    for (int k = 0; k < function->parameters.count; k++)
        assert_int_equal(letter(&function->parameters.at[k]), expected[k]);
}

static void test_cases(void **state) {
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(CASES); k++) {
        struct le_arena arena;
        struct le_demangled_function function;
        le_arena_init(&arena);
        print_message("%s\n", CASES[k].symbol);
        le_demangle_function(&arena, CASES[k].symbol, &function);
        assert_string_equal(function.name, CASES[k].name);
        assert_int_equal(function.is_template, CASES[k].is_template);
        assert_string_equal(function.parameter_list, CASES[k].parameters);
        check_parameters(&function, kind_of, CASES[k].kinds);
        le_arena_finish(&arena);
    }
}

/* The code of the builtin type that each parameter points to; '-': unknown. */
static const struct {
    const char *symbol, *pointees;
} POINTEES[] = {
    {"_Z1fPfi", "f-"},
    {"_Z5saxpyfPKfPfi", "-ff-"},
    {"_Z1fPKfS0_Pf", "fff"},
    {"_Z1fPfS_S_", "fff"},
    {"_ZN2ns1fEPdS0_", "dd"},
    {"_ZN2ns5inner1fEPdS1_", "dd"},
    {"_Z1fPVKji", "j-"},
    {"_Z1fPvPc", "vc"},
    {"_Z1fPPf", "-"},
    {"_Z1fP6float2PfS0_S1_", "-f-f"},
    {"_Z1fRfPf", "-f"},
    {"_Z1fN2ns4PairIfLi2EEEPfS1_", "-f-"}, /* S1_ is the pair */
    {"_Z5scaleIdEvPT_S1_y", "dd-"},
    {"_Z4fillIfEvPfi", "f-"},
};

static void test_pointees(void **state) {
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(POINTEES); k++) {
        struct le_arena arena;
        struct le_demangled_function function;
        le_arena_init(&arena);
        print_message("%s\n", POINTEES[k].symbol);
        le_demangle_function(&arena, POINTEES[k].symbol, &function);
        check_parameters(&function, pointee_of, POINTEES[k].pointees);
        le_arena_finish(&arena);
    }
}

/* Reading any symbol terminates and stays within bounds (checked by the sanitizers). */
static void test_any_bytes(void **state) {
    (void)state;
    static const char LETTERS[] = "_ZNKPISTELvif0123459";
    uint32_t random = 12345;
    for (int round = 0; round < 20000; round++) {
        char symbol[40] = "_Z";
        int length = 2 + (int)(random % 36);
        for (int k = 2; k < length; k++) {
            random = random * 1664525u + 1013904223u;
            symbol[k] = LETTERS[(random >> 16) % (sizeof LETTERS - 1)];
        }
        struct le_arena arena;
        struct le_demangled_function function;
        le_arena_init(&arena);
        le_demangle_function(&arena, symbol, &function);
        assert_true(function.name[0]);
        le_arena_finish(&arena);
    }
}

static void test_long_name(void **state) {
    (void)state;
    char symbol[1200] = "_Z1000";
    size_t length = strlen(symbol);
    memset(symbol + length, 'a', 1000);
    strcpy(symbol + length + 1000, "Pf");
    struct le_arena arena;
    struct le_demangled_function function;
    le_arena_init(&arena);
    le_demangle_function(&arena, symbol, &function);
    assert_int_equal(strlen(function.name), 1000);
    check_parameters(&function, kind_of, "p");
    le_arena_finish(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_pointees),
                                       cmocka_unit_test(test_any_bytes), cmocka_unit_test(test_long_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
