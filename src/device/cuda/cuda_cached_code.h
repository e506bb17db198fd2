/* Compiled code that is kept in the device's store: what it is found by, and how it is written there. Only of sources
 * that are whole: what a header brings is in no key. Any thread. */
#ifndef LE_CUDA_CACHED_CODE_H
#define LE_CUDA_CACHED_CODE_H
#include "device/cuda/cuda_compile.h"

/* All that changes the code: the source and its options, the architecture, the compiler, the driver, this format.
 * false: nothing is kept; *key may hold something all the same. */
bool le_cuda_cached_code_key(struct le_cuda_device *cuda, const struct le_module_source *source, struct le_text *key);
/* Fills what le_cuda_compile does; false: it is not there, because what was there is *damaged, or anyhow. */
bool le_cuda_cached_code_get(struct le_cuda_device *cuda, const struct le_text *key, struct le_device_module *module,
                             struct le_cuda_image *image, bool *damaged);
void le_cuda_cached_code_put(struct le_cuda_device *cuda, const struct le_module_source *source,
                             const struct le_text *key, const struct le_device_module *module,
                             const struct le_cuda_image *image);
#endif
