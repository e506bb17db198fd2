/* Host headers that CUDA C often includes and NVRTC does not provide. Each has the parts that device code may use, or
 * is empty if those are built in (printf, assert, math functions). A toolkit's own headers are found in its folder. Any
 * thread. */
#ifndef LE_NVRTC_HEADERS_H
#define LE_NVRTC_HEADERS_H

/* Both lists are static. Returns their length. */
int le_nvrtc_headers(const char *const **names, const char *const **texts);
#endif
