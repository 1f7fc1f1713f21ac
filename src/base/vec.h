/* SPDX-License-Identifier: MIT */
/* Growing arrays of any type: struct { T *data; size_t count, capacity; } declared by PD_VEC(T). */
#ifndef PD_VEC_H
#define PD_VEC_H
#include "base/memory.h"
#include <stdlib.h>

#define PD_VEC(type)                                                                               \
    struct {                                                                                       \
        type *data;                                                                                \
        size_t count, capacity;                                                                    \
    }

/* Room for one more element of `size` bytes; false when the system has no memory. */
static inline bool pd_vec_grow(void **data, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return true;
    /* Small ones double: they are copied when they grow, large ones mostly move by their pages. */
    enum { SMALL = 128 << 10 };
    const size_t more = *capacity <= SMALL / size ? *capacity : *capacity / 2;
    size_t want = *capacity ? *capacity + more + 1 : 8, bytes;
    if (want < need)
        want = need;
    if (pd_mul_overflows(want, size, &bytes))
        return false;
    void *grown = realloc(*data, bytes);
    if (!grown) {
        pd_memory_note();
        return false;
    }
    *data = grown;
    *capacity = want;
    return true;
}

#define pd_vec_reserve(vec, need)                                                                  \
    pd_vec_grow((void **)&(vec)->data, &(vec)->capacity, (need), sizeof *(vec)->data)

/* True when `value` was appended. */
#define pd_vec_push(vec, ...)                                                                      \
    (pd_vec_reserve((vec), (vec)->count + 1) ? ((vec)->data[(vec)->count++] = (__VA_ARGS__), true) \
                                             : false)

/* At least `need` elements, new ones all zero; false when the system has no memory. */
static inline bool pd_vec_widen(void **data, size_t *count, size_t *capacity, size_t need,
                                size_t size)
{
    if (need <= *count)
        return true;
    if (!pd_vec_grow(data, capacity, need, size))
        return false;
    memset((char *)*data + *count * size, 0, (need - *count) * size);
    *count = need;
    return true;
}

#define pd_vec_widen_to(vec, need)                                                                 \
    pd_vec_widen((void **)&(vec)->data, &(vec)->count, &(vec)->capacity, (need),                   \
                 sizeof *(vec)->data)

static inline size_t pd_count_upto(const uint64_t *first, size_t stride, size_t count, uint64_t key)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const uint64_t *)(const void *)((const char *)first + middle * stride) <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How many elements of an array in ascending order of `member`, a uint64_t, are not above `key`. */
#define pd_upto(array, count, member, key)                                                         \
    ((count) ? pd_count_upto(&(array)->member, sizeof *(array), (count), (key)) : 0)

#define pd_vec_free(vec) (free((vec)->data), memset((vec), 0, sizeof *(vec)))

#endif
