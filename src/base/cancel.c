#include "base/cancel.h"
#include "base/clock.h"
#include "base/memory.h"

#define PERIOD_NS ((uint64_t)50000000)

struct le_cancel_token {
    atomic_int holders;
    atomic_uint requests;
};

static _Thread_local struct le_cancel *here;
static _Thread_local struct le_cancel_token *offered;

/* ---- tokens */

struct le_cancel_token *le_cancel_token_new(void) {
    struct le_cancel_token *token = le_alloc_zero(1, sizeof *token);
    if (token)
        atomic_init(&token->holders, 1);
    return token;
}

static struct le_cancel_token *hold(struct le_cancel_token *token) {
    if (token)
        atomic_fetch_add_explicit(&token->holders, 1, memory_order_relaxed);
    return token;
}

void le_cancel_token_drop(struct le_cancel_token *token) {
    if (token && atomic_fetch_sub_explicit(&token->holders, 1, memory_order_acq_rel) == 1)
        le_free(token);
}

void le_cancel_token_request(struct le_cancel_token *token) {
    if (token)
        atomic_fetch_add_explicit(&token->requests, 1, memory_order_relaxed);
}

void le_cancel_token_offer(struct le_cancel_token *token) {
    offered = token;
}

static unsigned count_requests(const struct le_cancel_token *token) {
    return token ? atomic_load_explicit(&token->requests, memory_order_relaxed) : 0;
}

void le_cancel_tokens_take(struct le_cancel_tokens *tokens) {
    if (here && !here->token)
        here->token = le_cancel_token_new();
    tokens->run = here ? hold(here->token) : NULL;
    tokens->stream = hold(offered);
    tokens->stream_requests = count_requests(offered);
}

void le_cancel_tokens_drop(struct le_cancel_tokens *tokens) {
    le_cancel_token_drop(tokens->run);
    le_cancel_token_drop(tokens->stream);
    *tokens = (struct le_cancel_tokens){0};
}

bool le_cancel_tokens_requested(const struct le_cancel_tokens *tokens) {
    return count_requests(tokens->run) || count_requests(tokens->stream) != tokens->stream_requests;
}

/* ---- runs */

void le_cancel_enter(struct le_cancel *cancel, struct le_cancel **outer) {
    atomic_store_explicit(&cancel->requested, false, memory_order_relaxed);
    cancel->token = NULL;
    if (cancel->proceed)
        cancel->next_ns = le_clock_coarse_ns() + PERIOD_NS;
    *outer = here;
    here = cancel;
}

void le_cancel_leave(struct le_cancel *outer) {
    le_cancel_token_drop(here->token);
    here->token = NULL;
    here = outer;
}

struct le_cancel *le_cancel_here(void) {
    return here;
}

bool le_cancel_look(struct le_cancel *cancel) {
    uint64_t now_ns = cancel && cancel->proceed ? le_clock_coarse_ns() : 0;
    if (now_ns && now_ns >= cancel->next_ns) {
        if (!cancel->proceed(cancel->user))
            atomic_store_explicit(&cancel->requested, true, memory_order_relaxed);
        cancel->next_ns = le_clock_coarse_ns() + PERIOD_NS;
    }
    return le_cancel_pass_on(cancel);
}

bool le_cancel_pass_on(struct le_cancel *cancel) {
    bool requested = le_cancel_is_requested(cancel);
    if (requested)
        le_cancel_token_request(cancel->token);
    return requested;
}

leat_status le_cancel_check(void) {
    return le_cancel_look(here) ? le_fail(LEAT_CANCELED, "the run was canceled") : LEAT_OK;
}
