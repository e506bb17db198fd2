/* Disassembles a cubin with the tool of a CUDA toolkit. Any thread. */
#ifndef LE_DISASSEMBLE_H
#define LE_DISASSEMBLE_H
#include "base/status.h"
#include "base/text.h"

/* Appends the output of nvdisasm or cuobjdump. The tool is searched in the bin folder of LEAT_CUDA_PATH, CUDA_PATH and
 * the toolkits in /usr/local, then on PATH. LEAT_UNSUPPORTED, naming these places, if neither is found. */
leat_status le_disassemble(const void *cubin, size_t size_bytes, struct le_text *out);
#endif
