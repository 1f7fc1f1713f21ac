/* SPDX-License-Identifier: MIT */
/* <perfdata/recording.h>: events. */
#include "container/handle.h"

size_t perfdata_recording_event_count(const perfdata_recording *recording)
{
    return recording->recording.event_count;
}

const perfdata_event *perfdata_recording_event(const perfdata_recording *recording, size_t index)
{
    const struct pd_recording *inner = &recording->recording;
    return index < inner->event_count ? pd_public_event(inner->events[index]) : NULL;
}

const perfdata_event *perfdata_recording_event_by_id(const perfdata_recording *recording,
                                                     uint64_t id)
{
    const struct pd_recording *inner = &recording->recording;
    uint32_t index = pd_map64_get(&inner->ids.by_id, id);
    return index == PD_MAP64_NONE ? NULL : pd_public_event(inner->events[index]);
}

const char *perfdata_event_name(const perfdata_event *event)
{
    return pd_private_event(event)->name;
}

size_t perfdata_event_index(const perfdata_event *event)
{
    return pd_private_event(event)->index;
}

uint32_t perfdata_event_type(const perfdata_event *event)
{
    return pd_private_event(event)->attr.type;
}

uint64_t perfdata_event_config(const perfdata_event *event)
{
    return pd_private_event(event)->attr.config;
}

uint64_t perfdata_event_sample_type(const perfdata_event *event)
{
    return pd_private_event(event)->attr.sample_type;
}

perfdata_status perfdata_event_attr(const perfdata_event *event, const char *field, uint64_t *value)
{
    const struct pd_attr *attr = &pd_private_event(event)->attr;
    if (!strcmp(field, "precise_ip")) { /* two flags, one number */
        *value = attr->flags >> PD_ATTR_PRECISE_IP & 3;
        return PERFDATA_OK;
    }
#define ATTR_FIELD(offset, kind, name, ...)                                                        \
    if (!strcmp(field, #name)) {                                                                   \
        *value = (uint64_t)attr->name;                                                             \
        return PERFDATA_OK;                                                                        \
    }
#define ATTR_FLAG(number, NAME, name)                                                              \
    if (!strcmp(field, #name)) {                                                                   \
        *value = pd_attr_flag(attr, number);                                                       \
        return PERFDATA_OK;                                                                        \
    }
#include "format/attr.def"
#undef ATTR_FIELD
#undef ATTR_FLAG
    return PERFDATA_ERROR_NOT_FOUND;
}

void perfdata_event_attr_bytes(const perfdata_event *event, void *out, size_t size)
{
    pd_attr_encode(&pd_private_event(event)->attr, false, out, size);
}

const uint64_t *perfdata_event_ids(const perfdata_event *event, size_t *count)
{
    *count = pd_private_event(event)->id_count;
    return pd_private_event(event)->ids;
}

size_t perfdata_event_leader(const perfdata_event *event)
{
    return pd_private_event(event)->leader;
}

size_t perfdata_event_member_count(const perfdata_event *event)
{
    return pd_private_event(event)->member_count;
}

const char *perfdata_event_group_name(const perfdata_event *event)
{
    return pd_private_event(event)->group_name;
}
