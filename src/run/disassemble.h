/* Machine code of a cubin as text, by the toolkit's own tool. Any thread. */
#ifndef LE_DISASSEMBLE_H
#define LE_DISASSEMBLE_H
#include "base/status.h"
#include "base/text.h"

/* nvdisasm or cuobjdump: LEAT_CUDA_PATH/bin, CUDA_PATH/bin, /usr/local/cuda, then PATH. LEAT_UNSUPPORTED where there
 * is neither, with where they were looked for. */
leat_status le_disassemble(const void *cubin, size_t size_bytes, struct le_text *out);
#endif
