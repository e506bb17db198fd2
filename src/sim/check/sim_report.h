/* The list of what was found: a paragraph for each kind and pair of places, and how often. No memory, no order. Owner:
 * struct sim_check. */
#ifndef LE_SIM_REPORT_H
#define LE_SIM_REPORT_H
#include "base/text.h"
#include "sim/check/sim_check.h"

enum { SIM_REPORTS_MAX = 100 }; /* paragraphs; what comes after is only counted */

struct sim_reports {
    struct sim_report {
        uint64_t key; /* of the text's places */
        char *text;
        uint64_t count;
    } at[SIM_REPORTS_MAX];
    size_t count;
    struct sim_report_alias { /* code addresses that stand for a report, so that it is found without a text */
        uint64_t key;
        uint32_t report; /* + 1 */
    } * aliases;
    size_t alias_count, alias_capacity;
    uint64_t dropped; /* found when the list was full */
    bool failed;      /* something was found that there was no memory for */
    struct le_text all;
};
const char *le_sim_report_name(enum sim_report_kind kind);
uint64_t le_sim_report_key(enum sim_report_kind kind, uint64_t seed, const char *text);
/* Counts one more of what key stands for; false: it is new. */
bool le_sim_reports_known(struct sim_reports *reports, uint64_t alias);
/* A new one, or one more of key's; alias stands for it from now on. text is taken over. */
void le_sim_reports_add(struct sim_reports *reports, uint64_t alias, uint64_t key, struct le_text *text);
const char *le_sim_reports_text(struct sim_reports *reports, bool incomplete);
void le_sim_reports_clear(struct sim_reports *reports);

/* "1,234" */
void le_sim_text_add_count(struct le_text *text, uint64_t count);
#endif
