/* How the front end reports an error of the text: it is added to the thread's record, and the work goes on with the
 * next statement. */
#ifndef LE_FAULT_H
#define LE_FAULT_H
#include "base/status.h"

void le_fault_add(leat_status code, struct le_place place, const char *expected, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Whether as many were added as are kept: there is no use in looking further. */
bool le_faults_full(void);
#endif
