/* Leat's own declarations of CUPTI (src/trace/recorder) against its real headers: what compiles is right. Everything is
 * generated from the tables there. LE_CUPTI_ROWS: assertions that cupti_headers.sh makes of cupti_layout.def, for each
 * structure that these headers know. Each comparison counts one; main says how many there were. */
#include "trace/recorder/cupti.h"
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_version.h>
#include <stddef.h>
#include <stdio.h>

#define SAME(a, b) __builtin_types_compatible_p(a, b)

/* ---- constants */
#define X(name, theirs, value) _Static_assert((long long)(theirs) == (long long)LE_CUPTI_##name, #theirs);
LE_CUPTI_CONSTANTS(X)
#undef X
#if CUPTI_API_VERSION >= LE_CUPTI_YOUNGEST_CONSTANT
#define X(name, theirs, value) _Static_assert((long long)(theirs) == (long long)LE_CUPTI_##name, #theirs);
LE_CUPTI_YOUNGER_CONSTANTS(X)
#undef X
#endif

/* ---- types. The compiler picks an enum's sign; no value of theirs needs the upper half of an unsigned int. */
#define SIZED(ours, theirs)                                                                                            \
    _Static_assert(sizeof(ours) == sizeof(theirs) && _Alignof(ours) == _Alignof(theirs), #theirs)
SIZED(le_cupti_result, CUptiResult);
SIZED(le_cupti_kind, CUpti_ActivityKind);
SIZED(le_cupti_domain, CUpti_CallbackDomain);
SIZED(le_cupti_thread_id_type, CUpti_ActivityThreadIdType);
SIZED(le_cupti_attribute, CUpti_ActivityAttribute);
_Static_assert(SAME(le_cupti_context, CUcontext), "CUcontext");
_Static_assert(SAME(le_cupti_subscriber, CUpti_SubscriberHandle), "CUpti_SubscriberHandle");
_Static_assert(SAME(uint32_t, CUpti_CallbackId), "CUpti_CallbackId");
SIZED(struct le_cupti_callback, CUpti_CallbackData);
#define MEMBER(structure, name) (((structure *)0)->name)
#define X(name, theirs)                                                                                                \
    _Static_assert(offsetof(struct le_cupti_callback, name) == offsetof(CUpti_CallbackData, theirs), #theirs);         \
    _Static_assert(sizeof MEMBER(struct le_cupti_callback, name) == sizeof MEMBER(CUpti_CallbackData, theirs), #theirs);
LE_CUPTI_CALLBACK_MEMBERS(X)
#undef X

/* ---- functions: from here on, our names mean their types */
#define le_cupti_result         CUptiResult
#define le_cupti_kind           CUpti_ActivityKind
#define le_cupti_domain         CUpti_CallbackDomain
#define le_cupti_thread_id_type CUpti_ActivityThreadIdType
#define le_cupti_attribute      CUpti_ActivityAttribute
#define le_cupti_activity       CUpti_Activity
typedef void callback_function(void *user, le_cupti_domain domain, uint32_t id, const void *data);
_Static_assert(SAME(callback_function *, CUpti_CallbackFunc), "CUpti_CallbackFunc");
_Static_assert(SAME(le_cupti_request_function *, CUpti_BuffersCallbackRequestFunc), "CUpti_BuffersCallbackRequestFunc");
_Static_assert(SAME(le_cupti_complete_function *, CUpti_BuffersCallbackCompleteFunc),
               "CUpti_BuffersCallbackCompleteFunc");
#define le_cupti_callback_function callback_function
#define X(name, symbol, need, parameters)                                                                              \
    _Static_assert(SAME(le_cupti_result(*) parameters, __typeof__(&symbol)), #symbol);
LE_CUPTI_SYMBOLS(X)
#if CUPTI_API_VERSION >= LE_CUPTI_YOUNGEST_SYMBOL
LE_CUPTI_YOUNGER_SYMBOLS(X)
#endif
#undef X

/* ---- layouts */
#define SIZE(structure, size_bytes) _Static_assert(sizeof(structure) == size_bytes, #structure);
#define AT(structure, member, offset, size_bytes)                                                                      \
    _Static_assert(offsetof(structure, member) == offset && sizeof MEMBER(structure, member) == size_bytes,            \
                   #structure " " #member);
#include LE_CUPTI_ROWS
#undef SIZE
#undef AT

enum {
#define X(a, b, c) +1
    CONSTANTS = 0 LE_CUPTI_CONSTANTS(X),
#undef X
#define X(a, b, c, d) +1
    FUNCTIONS = 0 LE_CUPTI_SYMBOLS(X),
#undef X
#define SIZE(a, b)     +1
#define AT(a, b, c, d) +1
    FIELDS = 0
#include LE_CUPTI_ROWS
};

int main(void) {
    printf("CUPTI %d: %d functions, %d constants, %d places in records are as declared\n", CUPTI_API_VERSION,
           (int)FUNCTIONS, (int)CONSTANTS, (int)FIELDS);
    return 0;
}
