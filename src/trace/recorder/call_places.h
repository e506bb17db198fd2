/* What the recorder does at a call of CUDA's functions, by the function's name. */
#ifndef LE_CALL_PLACES_H
#define LE_CALL_PLACES_H
#include <stdint.h>

enum le_call_place {
    LE_PLACE_ORIGIN = 1,   /* keeps where it was made: launches, copies, waits, memory, loading, graphs */
    LE_PLACE_UPLOAD = 2,   /* copies bytes from the host's memory to a device: (to, from, bytes) */
    LE_PLACE_DOWNLOAD = 4, /* the other way round */
    LE_PLACE_EITHER = 8,   /* (to, from, bytes, direction) */
    LE_PLACE_WAITS = 16,   /* returns when the copy is done */
    LE_PLACE_RESUME = 32,  /* cuProfilerStart */
    LE_PLACE_PAUSE = 64,   /* cuProfilerStop */
    LE_PLACE_GRAPH = 128   /* begins to make a graph */
};
uint8_t le_call_place(const char *function_name); /* as cuptiGetCallbackName gives it; 0: nothing */
#endif
