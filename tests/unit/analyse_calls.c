/* SPDX-License-Identifier: MIT */
/* Proves: calls pair with returns, also where some are missing; paths are shared; jumps to
 * functions are calls; gaps and the end close what is open; a call's parent has its number. */
#include "test.h"
#include "analyse/calls.h"
#include "itrace/synth.h"

#define KERNEL (UINT64_C(1) << 63)

struct log {
    struct pd_call calls[32];
    size_t count;
};

static perfdata_status put(void *data, const struct pd_call *call)
{
    struct log *log = data;
    CHECK(log->count < 32);
    log->calls[log->count++] = *call;
    return PERFDATA_OK;
}

static const struct pd_calls_thread thread = { .key = 7, .comm = 3, .is_main = true };
static uint64_t now;

/* Symbol n begins at n * 0x100. */
static void branch(struct pd_calls *calls, uint32_t flags, uint64_t from, uint64_t to)
{
    now++;
    struct pd_branch_step step = { .ip = from,
                                   .addr = to,
                                   .time = now,
                                   .reference = now,
                                   .insns = 2,
                                   .from = (uint32_t)(from >> 8),
                                   .to = (uint32_t)(to >> 8),
                                   .flags = PD_IP_BRANCH | flags,
                                   .insn_length = 5,
                                   .at_start = !(to & 0xff) };
    CHECK(pd_calls_branch(calls, &thread, &step) == PERFDATA_OK);
}

static void call_and_return(void)
{
    struct log log = { 0 };
    struct pd_calls *calls = pd_calls_new(KERNEL, put, &log);
    now = 0;
    branch(calls, PD_IP_CALL, 0x110, 0x200);
    branch(calls, PD_IP_CALL, 0x210, 0x300);
    branch(calls, PD_IP_RETURN, 0x320, 0x215);
    CHECK(log.count == 1);
    const struct pd_call *call = &log.calls[0];
    CHECK(call->path->symbol == 3 && call->path->parent->symbol == 2);
    CHECK(call->call_time == 2 && call->return_time == 3 && call->branches == 1 &&
          call->insns == 2);
    CHECK(call->flags == 0 && call->number == 1 && call->parent == 2 && call->comm == 3);
    branch(calls, PD_IP_CALL, 0x220, 0x300);
    branch(calls, PD_IP_RETURN, 0x320, 0x225);
    CHECK(log.count == 2 && log.calls[1].path == call->path); /* the same path */
    CHECK(pd_calls_end(calls) == PERFDATA_OK);
    CHECK(log.count == 4 && log.calls[2].number == 2 && log.calls[2].flags == PD_CALL_NO_RETURN);
    CHECK(log.calls[3].flags == (PD_CALL_NO_CALL | PD_CALL_NO_RETURN) && !log.calls[3].parent);
    pd_calls_free(calls);
}

static void missing_halves(void)
{
    struct log log = { 0 };
    struct pd_calls *calls = pd_calls_new(KERNEL, put, &log);
    now = 0;
    /* Two levels are left at once. */
    branch(calls, PD_IP_CALL, 0x110, 0x200);
    branch(calls, PD_IP_CALL, 0x210, 0x300);
    branch(calls, PD_IP_RETURN, 0x320, 0x115);
    CHECK(log.count == 2 && log.calls[0].flags == PD_CALL_NO_RETURN && !log.calls[1].flags);
    /* A return out of the function that the trace began in. */
    branch(calls, PD_IP_RETURN, 0x120, 0x450);
    CHECK(log.count == 3 && log.calls[2].path->symbol == 1 &&
          log.calls[2].flags == PD_CALL_NO_CALL);
    /* From a function that nobody saw being called. */
    branch(calls, PD_IP_CALL, 0x410, 0x700);
    branch(calls, PD_IP_RETURN, 0x520, 0x610);
    CHECK(log.count == 4 && log.calls[3].path->symbol == 5 &&
          log.calls[3].path->parent->symbol == 6 && log.calls[3].flags == PD_CALL_NO_CALL);
    pd_calls_free(calls);
}

static void jumps_and_gaps(void)
{
    struct log log = { 0 };
    struct pd_calls *calls = pd_calls_new(KERNEL, put, &log);
    now = 0;
    branch(calls, PD_IP_CALL, 0x110, 0x200);
    branch(calls, 0, 0x210, 0x300); /* to the start of another function */
    branch(calls, PD_IP_CONDITIONAL, 0x310, 0x320);
    branch(calls, PD_IP_RETURN, 0x330, 0x115); /* back to the caller of the first */
    CHECK(log.count == 2);
    CHECK(log.calls[0].flags == (PD_CALL_NO_RETURN | PD_CALL_BY_JUMP) && !log.calls[1].flags);
    /* The trace ends and begins again within a function. */
    branch(calls, PD_IP_TRACE_END, 0x120, 0);
    branch(calls, PD_IP_TRACE_BEGIN, 0, 0x125);
    CHECK(log.count == 3 && !log.calls[2].path->symbol && log.calls[2].path->parent->symbol == 1);
    /* A trace that is entered in its middle has no number: what comes behind it is no other one. */
    struct pd_branch_step step = { .ip = 0x130, .addr = 0x140, .trace = 8, .from = 1, .to = 1 };
    CHECK(pd_calls_branch(calls, &thread, &step) == PERFDATA_OK && log.count == 3);
    /* Another trace: nothing is known of what ran between. */
    step = (struct pd_branch_step){ .ip = 0x730, .addr = 0x740, .trace = 9, .from = 7, .to = 7 };
    CHECK(pd_calls_branch(calls, &thread, &step) == PERFDATA_OK);
    CHECK(log.count == 4 && log.calls[3].path->symbol == 1);
    pd_calls_free(calls);
}

static void kernel(void)
{
    struct log log = { 0 };
    struct pd_calls *calls = pd_calls_new(0x800, put, &log);
    now = 0;
    branch(calls, PD_IP_CALL | PD_IP_SYSCALLRET, 0x110, 0x900);
    branch(calls, PD_IP_CALL, 0x910, 0xa00);
    branch(calls, PD_IP_RETURN | PD_IP_SYSCALLRET, 0xa20, 0x300); /* not where it came from */
    CHECK(log.count == 3 && log.calls[0].flags == PD_CALL_NO_RETURN &&
          log.calls[1].path->in_kernel);
    pd_calls_free(calls);
}

int main(void)
{
    call_and_return();
    missing_halves();
    jumps_and_gaps();
    kernel();
    return test_done();
}
