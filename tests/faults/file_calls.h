/* The system's calls on files, as the library under test makes them, of which one may fail: the linker puts these in
 * their place (cmake/tests.cmake). Closing and removing never fail. Any thread. */
#ifndef TESTS_FILE_CALLS_H
#define TESTS_FILE_CALLS_H
#include <stdbool.h>
#include <stdint.h>

void file_calls_plan(int64_t number); /* counting begins anew; the number of the call that fails, from 1; 0: none */
bool file_calls_failed(void);
#endif
