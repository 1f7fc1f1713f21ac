/* SPDX-License-Identifier: MIT */
/* Jump lists of versions give what a walk over all of them gives, in few steps, and never follow
 * what is gone. */
#include "test.h"
#include "model/version.h"
#include <stdlib.h>

enum { COUNT = 20000, STEP = 3 };

static struct pd_version versions[COUNT];

static unsigned steps_to(const struct pd_version *newest, uint64_t number)
{
    unsigned steps = 0;
    for (const struct pd_version *at = newest; at && at->number > number; steps++)
        at = at->jump_number > number ? at->jump : at->before;
    return steps;
}

static void check_all(uint64_t retired_every)
{
    uint64_t retired = 0;
    for (size_t i = 0; i < COUNT; i++) {
        pd_version_follow(&versions[i], i * STEP + 1, i ? &versions[i - 1] : NULL, retired);
        if (retired_every && i % retired_every == 0 && i > 100) {
            retired = versions[i - 50].number;
            versions[i - 50].before = NULL;
            for (size_t gone = 0; gone < i - 50; gone++) /* whoever follows one of these dies */
                memset(&versions[gone], 0xff, sizeof versions[gone]);
        }
    }
    size_t first = retired ? (size_t)(retired / STEP) : 0;
    const struct pd_version *newest = &versions[COUNT - 1];
    for (size_t i = first; i < COUNT; i++) {
        uint64_t until = UINT64_MAX;
        const struct pd_version *at = pd_version_at(newest, versions[i].number + 1, &until);
        CHECK(at == &versions[i]);
        CHECK(until == (i + 1 < COUNT ? versions[i + 1].number : UINT64_MAX));
        CHECK(retired_every || steps_to(newest, versions[i].number) < 64);
    }
    CHECK(retired || !pd_version_at(newest, 0, NULL));
}

int main(void)
{
    check_all(0);
    check_all(997);
    return test_done();
}
