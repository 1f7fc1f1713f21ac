/* SPDX-License-Identifier: MIT */
/* All of libperfdata. Each of these headers also stands alone. */
#ifndef PERFDATA_PERFDATA_H
#define PERFDATA_PERFDATA_H
#include <perfdata/annotate.h>
#include <perfdata/arrow.h>
#include <perfdata/build_id_cache.h>
#include <perfdata/config.h>
#include <perfdata/diff.h>
#include <perfdata/dump.h>
#include <perfdata/event_switch.h>
#include <perfdata/export.h>
#include <perfdata/itrace.h>
#include <perfdata/kmem.h>
#include <perfdata/kwork.h>
#include <perfdata/lock.h>
#include <perfdata/machine_events.h>
#include <perfdata/memory.h>
#include <perfdata/page.h>
#include <perfdata/profile.h>
#include <perfdata/recorder.h>
#include <perfdata/recording.h>
#include <perfdata/records.h>
#include <perfdata/report.h>
#include <perfdata/report_rows.h>
#include <perfdata/rewrite.h>
#include <perfdata/sched.h>
#include <perfdata/stat.h>
#include <perfdata/script.h>
#include <perfdata/status.h>
#include <perfdata/symbol_search.h>
#include <perfdata/syscalls.h>
#include <perfdata/text.h>
#include <perfdata/text_recording.h>
#include <perfdata/types.h>
#include <perfdata/words.h>
#include <perfdata/writer.h>
#endif
