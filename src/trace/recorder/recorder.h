/* The recorder of one process: everything between CUPTI and a part of a trace. It is created when CUDA starts
 * (InitializeInjection) and never freed, because CUPTI may use its memory until the process ends.
 *
 * CUPTI hands over full buffers. While the program runs, the recorder asks for other buffers only at cuProfilerStop,
 * and not if the program creates graphs. At the end it asks for all buffers. */
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
    bool has_cupti;          /* cupti_library.table may be used, and records are coming */
    bool is_paused;          /* until cuProfilerStart */
    _Atomic bool has_graphs; /* set if is_paused and the program creates graphs */
    bool skips_copies;       /* copies and sets are not recorded */
    struct le_selection selection;
    char cupti_options[128]; /* LEAT_TRACE_CUPTI */
    char note[512];          /* what is not recorded, or "" */
    pid_t process;
    uint64_t limit_bytes; /* of the part, once the process is described; 0: no limit */
    struct le_sources *sources;
    pthread_t thread;
    sem_t wake;
    _Atomic bool is_woken, is_over; /* is_over: the writer must end */
    _Atomic uint32_t text_count;
    struct le_event_ring ring;
    struct le_activity_buffers buffers;
    struct le_capture capture;
    struct le_convert convert;
    struct le_part_writer writer;
};

/* recorder_thread.c: the writer thread. It ends when recorder->is_over is set. */
void *le_recorder_write(void *recorder);
void le_recorder_wake(struct le_recorder *recorder);

/* recorder_process.c: writes the PROCESS record and the note. */
void le_recorder_describe(struct le_recorder *recorder);
void le_recorder_put_note(struct le_recorder *recorder, const char *text);

/* recorder_cupti.c: finds CUPTI and subscribes to it. False: nothing will be recorded, and recorder->note says why. */
bool le_recorder_find_cupti(struct le_recorder *recorder);
/* Starts recording. */
void le_recorder_start_cupti(struct le_recorder *recorder, le_cupti_request_function *request,
                             le_cupti_complete_function *complete);
#endif
