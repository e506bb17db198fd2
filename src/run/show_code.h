/* A plan's kernels as text: the generated CUDA C, and what NVRTC and the toolkit make of it, for any architecture,
 * whether or not such a device is here. Nothing is compiled for the context's device, unless what the plan hangs on has
 * to be computed first. */
#ifndef LE_SHOW_CODE_H
#define LE_SHOW_CODE_H
#include "base/text.h"
#include "run/call.h"

/* form: CUDA, PTX or SASS. architecture: "sm_90"; NULL: the device's. LEAT_UNSUPPORTED on the CPU, and where NVRTC or
 * the toolkit's tool is missing. */
leat_status le_code_show(struct leat_call *call, leat_form form, const char *architecture, struct le_text *out);
#endif
