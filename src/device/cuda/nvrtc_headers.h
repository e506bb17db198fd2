/* Headers of the host's that CUDA C often includes and NVRTC does not have: what of them device code may use, and where
 * that is built in (printf, assert, the mathematics), nothing. A toolkit's own headers are found in its folder. Any
 * thread. */
#ifndef LE_NVRTC_HEADERS_H
#define LE_NVRTC_HEADERS_H

/* Both lists are static; gives how many there are. */
int le_nvrtc_headers(const char *const **names, const char *const **texts);
#endif
