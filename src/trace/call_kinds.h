/* Classifies functions of the CUDA driver and runtime by their names. */
#ifndef LE_CALL_KINDS_H
#define LE_CALL_KINDS_H
#include "trace/index.h"
#include <stddef.h>

/* The length of the name without the suffixes that CUPTI and CUDA's headers add: "cuMemcpyHtoD_v2_ptds" is
 * "cuMemcpyHtoD". */
size_t le_call_name_length(const char *name, size_t length);
enum le_call_kind le_call_kind_of(const char *name);
#endif
