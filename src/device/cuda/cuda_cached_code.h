/* The cache of compiled code in the device's store: its keys and values. Only for whole sources: the contents of
 * included headers are in no key. Any thread. */
#ifndef LE_CUDA_CACHED_CODE_H
#define LE_CUDA_CACHED_CODE_H
#include "device/cuda/cuda_compile.h"

/* The key holds everything that changes the code: the source and its options, the architecture, the compiler, the
 * driver, and the format version. false: the code cannot be cached; *key may be partly filled. */
bool le_cuda_cached_code_key(struct le_cuda_device *cuda, const struct le_module_source *source, struct le_text *key);
/* Fills what le_cuda_compile fills. false: not in the cache; *damaged: there was an entry, but it was damaged. */
bool le_cuda_cached_code_get(struct le_cuda_device *cuda, const struct le_text *key, struct le_device_module *module,
                             struct le_cuda_image *image, bool *damaged);
void le_cuda_cached_code_put(struct le_cuda_device *cuda, const struct le_module_source *source,
                             const struct le_text *key, const struct le_device_module *module,
                             const struct le_cuda_image *image);
#endif
