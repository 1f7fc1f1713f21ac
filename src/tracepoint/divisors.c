/* SPDX-License-Identifier: MIT */
/* Where libtraceevent would divide by zero while it prints: what a format divides by is found once,
 * and looked up in each payload before it is printed. */
#include "tracepoint/program.h"
#include <stdlib.h>

typedef PD_VEC(const struct tep_print_arg *) arg_vec;

static bool add(arg_vec *args, const struct tep_print_arg *arg)
{
    return !arg || pd_vec_push(args, arg);
}

static bool divides(const struct tep_print_arg *arg)
{
    return arg->op.op && (!strcmp(arg->op.op, "/") || !strcmp(arg->op.op, "%"));
}

/* False: no memory. */
static bool take_divisor(struct pd_trace_format *format, const struct tep_print_arg *arg)
{
    if (arg && arg->type == TEP_PRINT_ATOM && strtoull(arg->atom.atom, NULL, 0))
        return true;
    const struct pd_trace_field *field = arg && arg->type == TEP_PRINT_FIELD
                                             ? pd_trace_field(format, arg->field.name)
                                             : NULL;
    return pd_vec_push(&format->divisors, field);
}

/* Takes the parts of an expression that is made of others. */
static bool add_parts(struct pd_trace_format *format, arg_vec *args,
                      const struct tep_print_arg *arg)
{
    switch (arg->type) {
    case TEP_PRINT_FLAGS: return add(args, arg->flags.field);
    case TEP_PRINT_SYMBOL: return add(args, arg->symbol.field);
    case TEP_PRINT_HEX:
    case TEP_PRINT_HEX_STR: return add(args, arg->hex.field) && add(args, arg->hex.size);
    case TEP_PRINT_INT_ARRAY:
        return add(args, arg->int_array.field) && add(args, arg->int_array.count) &&
               add(args, arg->int_array.el_size);
    case TEP_PRINT_TYPE: return add(args, arg->typecast.item);
    case TEP_PRINT_DYNAMIC_ARRAY: return add(args, arg->dynarray.index);
    case TEP_PRINT_FUNC: return add(args, arg->func.args);
    case TEP_PRINT_OP:
        return add(args, arg->op.left) && add(args, arg->op.right) &&
               (!divides(arg) || take_divisor(format, arg->op.right));
    default: return true;
    }
}

bool pd_trace_find_divisors(struct pd_trace_format *format)
{
    arg_vec args = { 0 };
    bool ok = add(&args, format->event->print_fmt.args);
    while (ok && args.count) {
        const struct tep_print_arg *arg = args.data[--args.count];
        ok = add(&args, arg->next) && add_parts(format, &args, arg);
    }
    pd_vec_free(&args);
    return ok;
}

bool pd_trace_divides_by_zero(const struct pd_trace_format *format, const uint8_t *data,
                              size_t size)
{
    for (size_t i = 0; i < format->divisors.count; i++) {
        const struct pd_trace_field *field = format->divisors.data[i];
        uint64_t number;
        if (!field || !pd_trace_number(format, field, data, size, &number) || !number)
            return true;
    }
    return false;
}
