/* Prints a plan's kernels as trees, CUDA C, PTX or SASS, for any architecture, whether or not such a device is present.
 * Nothing is compiled for the context's device, except kernels that must run before planning can finish. */
#ifndef LE_SHOW_CODE_H
#define LE_SHOW_CODE_H
#include "base/text.h"
#include "run/call.h"

/* form: KERNEL, CUDA, PTX or SASS. architecture: a name such as "sm_90"; NULL: the device's. Returns LEAT_UNSUPPORTED
 * on the CPU, and if NVRTC or the toolkit's disassembler is missing. */
leat_status le_code_show(struct leat_call *call, leat_form form, const char *architecture, struct le_text *out);
#endif
