/* SPDX-License-Identifier: MIT */
/* --call-graph -> bits and sizes of an attr. */
#include "record/callgraph.h"
#include <perfdata/recorder.h>
#include <stdlib.h>

bool pd_call_graph_parse(const char *text, uint32_t *kind, uint32_t *stack)
{
    size_t length = strcspn(text, ",");
    uint32_t size = PD_CALL_GRAPH_STACK;
    if (length == 2 && !memcmp(text, "fp", 2))
        *kind = PERFDATA_CALL_GRAPH_FP;
    else if (length == 3 && !memcmp(text, "lbr", 3))
        *kind = PERFDATA_CALL_GRAPH_LBR;
    else if (length == 5 && !memcmp(text, "dwarf", 5))
        *kind = PERFDATA_CALL_GRAPH_DWARF;
    else
        return false;
    if (text[length] && *kind == PERFDATA_CALL_GRAPH_DWARF) {
        char *end;
        unsigned long wanted = strtoul(text + length + 1, &end, 0);
        if (*end || !wanted || wanted > PD_CALL_GRAPH_MOST_STACK)
            return false;
        size = (uint32_t)(wanted + 7) & ~7u;
    } else if (text[length]) {
        return false;
    }
    if (stack)
        *stack = size;
    return true;
}
