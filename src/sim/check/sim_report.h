/* The list of reports: a paragraph for each kind and pair of source locations, and how often it occurred. Owned by
 * struct sim_check. */
#ifndef LE_SIM_REPORT_H
#define LE_SIM_REPORT_H
#include "base/text.h"
#include "sim/check/sim_check.h"

enum { SIM_REPORTS_MAX = 100 }; /* paragraphs; later reports are only counted */

struct sim_reports {
    struct sim_report {
        uint64_t key; /* a hash of the source locations */
        char *text;
        uint64_t count;
    } at[SIM_REPORTS_MAX];
    size_t count;
    struct sim_report_alias { /* finds a report by a hash of code addresses, without making its text */
        uint64_t key;
        uint32_t report; /* + 1 */
    } * aliases;
    size_t alias_count, alias_capacity;
    uint64_t dropped; /* reports after the list was full */
    bool failed;      /* out of memory for a report */
    struct le_text all;
};
const char *le_sim_report_name(enum sim_report_kind kind);
uint64_t le_sim_report_key(enum sim_report_kind kind, uint64_t seed, const char *text);
/* Counts one more occurrence of the report that alias stands for. false: it is new. */
bool le_sim_reports_known(struct sim_reports *reports, uint64_t alias);
/* Adds a report, or counts one more if key exists; alias stands for it from now on. Takes ownership of text. */
void le_sim_reports_add(struct sim_reports *reports, uint64_t alias, uint64_t key, struct le_text *text);
const char *le_sim_reports_text(struct sim_reports *reports, bool incomplete);
void le_sim_reports_clear(struct sim_reports *reports);

/* "1,234" */
void le_sim_text_add_count(struct le_text *text, uint64_t count);
#endif
