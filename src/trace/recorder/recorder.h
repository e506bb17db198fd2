/* The recorder of one process: everything between CUPTI and a part of a trace. Made when CUDA starts
 * (InitializeInjection), never freed: what it gave to CUPTI may be used to the very end of the process.
 *
 * CUPTI hands buffers over when they are full. While the program runs it is asked for others at cuProfilerStop alone,
 * and not where the program makes graphs. At the end it is asked for all. */
#ifndef LE_RECORDER_H
#define LE_RECORDER_H
#include "trace/recorder/activity_buffers.h"
#include "trace/recorder/capture.h"
#include "trace/recorder/convert.h"
#include "trace/recorder/cupti_library.h"
#include "trace/recorder/selection.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>

struct le_recorder {
    struct le_cupti_library library;
    le_cupti_subscriber subscriber;
    bool has_cupti;          /* the door's table may be called, and records are coming */
    bool is_paused;          /* until cuProfilerStart */
    _Atomic bool has_graphs; /* of one that is_paused: the program makes graphs */
    bool skips_copies;       /* copies and sets are not recorded */
    struct le_selection selection;
    char cupti_options[128]; /* LEAT_TRACE_CUPTI */
    char note[512];          /* what is missing, or "" */
    pid_t process;
    uint64_t limit_bytes; /* of the part, once it says what process it is of; 0: none */
    struct le_sources *sources;
    pthread_t thread;
    sem_t wake;
    _Atomic bool is_woken, is_over; /* is_over: the writer is to end */
    _Atomic uint32_t text_count;
    struct le_event_ring ring;
    struct le_activity_buffers buffers;
    struct le_capture capture;
    struct le_convert convert;
    struct le_part_writer writer;
};

/* recorder_thread.c: the writer. Ends when recorder->is_over. */
void *le_recorder_write(void *recorder);
void le_recorder_wake(struct le_recorder *recorder);

/* recorder_process.c: the record that says what process this is, and the note. */
void le_recorder_describe(struct le_recorder *recorder);
void le_recorder_put_note(struct le_recorder *recorder, const char *text);

/* recorder_cupti.c: finds CUPTI and takes it for this recorder; false, with recorder->note: nothing will be recorded.
 */
bool le_recorder_find_cupti(struct le_recorder *recorder);
/* Records begin to come. */
void le_recorder_start_cupti(struct le_recorder *recorder, le_cupti_request_function *request,
                             le_cupti_complete_function *complete);
#endif
