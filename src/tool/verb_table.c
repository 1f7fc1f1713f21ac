/* SPDX-License-Identifier: MIT */
/* verbs.def -> the table of verbs. Only main() names it: all else finds them through its tool. */
#include "tool/verbs.h"

const struct tool_verb_row tool_verbs[] = {
#define VERB(identifier, name, group, summary) { &tool_verb_##identifier, name, group, summary },
#include "tool/verbs.def"
#undef VERB
    { NULL, NULL, NULL, NULL }
};
