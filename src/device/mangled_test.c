/* Names as nvcc, g++ and clang++ write them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "device/mangled.h"
#include <string.h>

static const struct {
    const char *symbol, *name, *parameters;
    bool is_template;
    const char *kinds; /* p pointer, n number, ? unknown, of those that are told */
} CASES[] = {
    {"plain", "plain", "", false, ""},
    {"_Z", "_Z", "", false, ""},
    {"_Zzz", "_Zzz", "", false, ""},
    {"ns::fill<double,3>", "ns::fill", "", true, ""},
    {"_Z1fv", "f", "", false, ""},
    {"_Z1fPfi", "f", "float *, int", false, "pn"},
    {"_Z1fPKfPfi", "f", "const float *, float *, int", false, "ppn"},
    {"_Z1fPKfS0_i", "f", "", false, "p?n"}, /* S0_ is const float * again, or so */
    {"_ZN2ns1fEPfi", "ns::f", "float *, int", false, "pn"},
    {"_ZN2ns5inner1hEv", "ns::inner::h", "", false, ""},
    {"_ZN2ns1gIfLi3EEEvPT_", "ns::g", "", true, "p"},
    {"_Z5scaleIdEvPT_S0_y", "scale", "", true, "p?n"},
    {"_Z4foldIN2ns4PairIfEEEvT_", "fold", "", true, "?"},
    {"_ZN33_GLOBAL__N__00000000_4_t_cu_table4anonEPi", "anon", "int *", false, "p"},
    {"_ZN12_GLOBAL__N_14anonEPi", "anon", "int *", false, "p"},
    {"_ZL4statPi", "stat", "int *", false, "p"},
    {"_Z1f6float4hbstjlmxyfdac", "f", "", false, "?nnnnnnnnnnnnn"},
    {"_Z1fN2ns4PairIfLi2EEEi", "f", "", false, "?n"},
    {"_Z1fPFvvEi", "f", "", false, ""}, /* functions are not looked into */
    {"_Z1fPA3_fi", "f", "", false, ""}, /* nor arrays */
    {"_Z1fm", "f", "unsigned long", false, "n"},
    {"_Z9999999f", "_Z9999999f", "", false, ""},
    {"_Z3fi", "_Z3fi", "", false, ""}, /* cut short */
    {"_ZN2ns3accE", "ns::acc", "", false, ""},
};

static void test_cases(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        struct le_mangled mangled;
        char kinds[LE_MANGLED_PARAMETERS_MAX + 1] = "";
        le_mangled_read(CASES[k].symbol, &mangled);
        for (int p = 0; p < mangled.parameter_count; p++)
            kinds[p] = "?pn"[mangled.kinds[p]];
        print_message("%s\n", CASES[k].symbol);
        assert_string_equal(mangled.name, CASES[k].name);
        assert_int_equal(mangled.is_template, CASES[k].is_template);
        assert_string_equal(kinds, CASES[k].kinds);
        assert_string_equal(mangled.parameters, CASES[k].parameters);
    }
}

/* What parameters point to, by the builtin type's code; '-': it is not known. */
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
    {"_Z1fN2ns4PairIfLi2EEEPfS1_", "-f-"}, /* what stands for S1_ is not known any more */
    {"_Z5scaleIdEvPT_S1_y", "---"},
    {"_Z4fillIfEvPfi", "f-"},
};

static void test_pointees(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof POINTEES / sizeof POINTEES[0]; k++) {
        struct le_mangled mangled;
        char pointees[LE_MANGLED_PARAMETERS_MAX + 1] = "";
        le_mangled_read(POINTEES[k].symbol, &mangled);
        for (int p = 0; p < mangled.parameter_count; p++)
            pointees[p] = mangled.pointees[p] ? mangled.pointees[p] : '-';
        print_message("%s\n", POINTEES[k].symbol);
        assert_string_equal(pointees, POINTEES[k].pointees);
    }
}

/* Whatever the symbol, reading it ends and stays within bounds (the sanitizers look on). */
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
        struct le_mangled mangled;
        le_mangled_read(symbol, &mangled);
        assert_true(strlen(mangled.name) < sizeof mangled.name && mangled.name[0]);
    }
}

static void test_long_name(void **state) {
    (void)state;
    char symbol[1200] = "_Z1000";
    size_t length = strlen(symbol);
    memset(symbol + length, 'a', 1000);
    strcpy(symbol + length + 1000, "Pf");
    struct le_mangled mangled;
    le_mangled_read(symbol, &mangled);
    assert_int_equal(strlen(mangled.name), sizeof mangled.name - 1);
    assert_int_equal(mangled.kinds[0], LE_MANGLED_POINTER);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_pointees),
                                       cmocka_unit_test(test_any_bytes), cmocka_unit_test(test_long_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
