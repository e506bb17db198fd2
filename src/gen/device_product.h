/* CONTRACT stages in tiles: the threads of a block share the factors through shared memory. */
#ifndef LE_DEVICE_PRODUCT_H
#define LE_DEVICE_PRODUCT_H
#include "gen/device_gen.h"

/* false: another kernel is to make it, as it is small, or no such product. */
bool le_product_stage(const struct le_device_kernel_job *job, const struct le_stage *stage,
                      struct le_generated_launches *out, leat_status *status);
#endif
