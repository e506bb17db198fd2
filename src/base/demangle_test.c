/* Names compared with the output of c++filt -p, and malicious names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/demangle.h"
#include "base/status.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[][2] = {
    {"_Z5saxpyifPfS_", "saxpy"},
    {"_ZN2ns3fooEv", "ns::foo"},
    {"_ZN12_GLOBAL__N_13barEv", "(anon)::bar"},
    {"_ZN41_GLOBAL__N__0b8c9f25_9_kernel_cu_1a2b3c4d5innerEPf", "(anon)::inner"},
    {"_ZL6staticv", "static"},
    {"_Z3addILi4EEvPf", "add<4>"},
    {"_Z1fILb1ELj4ELl5ELm6ELx7ELy8ELin9ELc10EEvv", "f<true, 4u, 5l, 6ul, 7ll, 8ull, -9, (char)10>"},
    {"_Z1fIJifdEEvDpT_", "f<int, float, double>"},
    {"_Z1fIJEEvDpT_", "f<>"},
    {"_Z1fIPFvPKfRmEM1AiEvv", "f<void (*)(float const*, unsigned long&), int A::*>"},
    {"_Z1fIA4_fM1AKFivEEvv", "f<float [4], int (A::*)() const>"},
    {"_Z1fIXadL_Z1gfEEEvv", "f<&g(float)>"},
    {"_Z1fIN2ns1EELS1_2EEvv", "f<ns::E, (ns::E)2>"},
    {"_ZN1AC1Ei", "A::A"},
    {"_ZN2ns1AIfED0Ev", "ns::A<float>::~A"},
    {"_ZN1AplERKS_", "A::operator+"},
    {"_ZNK1AcvfEv", "A::operator float"},
    {"_ZNKSt6vectorIfSaIfEE4sizeEv", "std::vector<float, std::allocator<float> >::size"},
    {"_ZSt4swapIfEvRT_S1_", "std::swap<float>"},
    {"_ZN6cudapy8__main__5scaleB2v1B36c8tJTIcFHzwl2ILiXkcBV0KBSsOcikPEoqAAE5ArrayIfLi1E1C7mutable7alignedE",
     "cudapy::__main__::scale"},
    {"_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_15sin_kernel_cudaERNS_18TensorIteratorBaseEENKUlvE0_"
     "clEvENKUlvE_clEvEUlfE_St5arrayIPcLm2EEEEviT0_T1_",
     "at::native::vectorized_elementwise_kernel<4, at::native::sin_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}"
     "::operator()() const::{lambda()#1}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >"},
    {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13AUnaryFunctorIfffNS0_15binary_internal10MulFunctorIfEEEE"
     "St5arrayIPcLm2EEEEviT0_T1_",
     "at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, float, "
     "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >"},
    {"_Z1fIRFvPFvPvEEJRS2_EEvv", "f<void (&)(void (*)(void*)), void (*&)(void*)>"},
    {"_Z1fISt8functionIFbRiEEPFPFviEfEEvv", "f<std::function<bool (int&)>, void (*(*)(float))(int)>"},
    {"_Z1fIA2_A3_iRA4_KcEvv", "f<int [2][3], char const (&) [4]>"},
    {"_ZlsIiEvT_", "operator<< <int>"},
    {"_ZZN1AIiEC1IfEET_ENKUlvE_clEv", "A<int>::A<float>(float)::{lambda()#1}::operator()"},
    {"_ZN3cub18DeviceReduceKernelINS_12policy_hub_tIfj7add_opsE10Policy1000EPfjS2_fEEvT0_PT3_T1_",
     "cub::DeviceReduceKernel<cub::policy_hub_t<float, unsigned int, add_ops>::Policy1000, float*, unsigned int, "
     "add_ops, float>"},
};

static const char *const nones[] = {
    "saxpy", "", "_", "_Z", "_ZN", "_Z99short", "_Z0", "_Z1fISE", "_Z1fIS1_Evv", "_Z1fIDtfp_EEvv",
};

static void reads_as_others_do(void **state) {
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        struct le_arena arena;
        le_arena_init(&arena);
        const char *text = le_demangle(&arena, names[k][0]);
        assert_non_null(text);
        assert_string_equal(text, names[k][1]);
        le_arena_finish(&arena);
    }
}

static void says_what_it_cannot_read(void **state) {
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(nones); k++) {
        struct le_arena arena;
        le_arena_init(&arena);
        assert_null(le_demangle(&arena, nones[k]));
        le_arena_finish(&arena);
    }
}

/* A symbol that is cut anywhere, or has any character changed, is read within bounds, successfully or not. */
static void damaged_names_do_no_harm(void **state) {
    static const char others[] = "EISNZ_0TPLJXKF9";
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        for (size_t at = 0; at < strlen(names[k][0]); at++)
            for (size_t other = 0; other < sizeof others; other++) { /* the last one ends it */
                char text[512];
                struct le_arena arena;
                le_arena_init(&arena);
                snprintf(text, sizeof text, "%s", names[k][0]);
                text[at] = others[other];
                const char *read = le_demangle(&arena, text);
                assert_true(!read || strlen(read) < 2000);
                le_arena_finish(&arena);
            }
}

static char *repeated(const char *first, const char *part, int times, const char *last) {
    size_t length = strlen(part);
    char *text = calloc(1, strlen(first) + length * (size_t)times + strlen(last) + 1), *at = text;
    assert_non_null(text);
    at += sprintf(at, "%s", first);
    for (int k = 0; k < times; k++, at += length)
        memcpy(at, part, length + 1);
    strcpy(at, last);
    return text;
}

/* Names that double at each step, and names with ever deeper nesting. */
static void what_grows_is_bounded(void **state) {
    static const char *const growing[][3] = {
        {"_Z1fI", "P", "iEvv"},    {"_Z1fI", "FP", "ivEvv"}, {"_Z", "Z", "1fvE1gv"},
        {"_Z", "1fI", "iEvv"},     {"_ZN", "1a", "Ev"},      {"_Z1fIX", "ad", "L_Z1gEEvv"},
        {"_Z1fI", "Do", "FvvEvv"}, {"_Z1fI", "J", "iEEvv"},  {"_Z1fIM1a", "M1a", "iEvv"}};
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(growing); k++) {
        struct le_arena arena;
        char *text = repeated(growing[k][0], growing[k][1], 20000, growing[k][2]);
        le_arena_init(&arena);
        const char *read = le_demangle(&arena, text);
        assert_true(!read || strlen(read) < 10000);
        le_arena_finish(&arena);
        free(text);
    }
    char doubling[2000] = "_Z1fISt4pairIiiE";
    for (int k = 0; k < 30; k++) /* S1_, S2_, ... */
        sprintf(doubling + strlen(doubling), "S0_IS%c_S%c_E", "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[k],
                "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[k]);
    strcat(doubling, "Evv");
    struct le_arena arena;
    le_arena_init(&arena);
    assert_null(le_demangle(&arena, doubling));
    assert_true(arena.size_bytes < 8 << 20);
    le_arena_finish(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_as_others_do),
        cmocka_unit_test(says_what_it_cannot_read),
        cmocka_unit_test(damaged_names_do_no_harm),
        cmocka_unit_test(what_grows_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
