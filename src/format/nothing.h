/* SPDX-License-Identifier: MIT */
/* Empty definitions of the macros of records.def and features.def that the includer has not
 * defined, and, included a second time with PD_FORGET, their end. No include guard on purpose. */
#ifdef PD_FORGET
#undef PD_FORGET
#undef RECORD
#undef FEATURE
#undef PART
#undef FIELD
#undef OPTIONAL
#undef LIST
#undef WINDOW
#undef END
#else
#ifndef RECORD
#define RECORD(number, NAME, name)
#endif
#ifndef FEATURE
#define FEATURE(number, NAME, name)
#endif
#ifndef PART
#define PART(name)
#endif
#ifndef FIELD
#define FIELD(kind, name, ...)
#endif
#ifndef OPTIONAL
#define OPTIONAL(kind, name, ...)
#endif
#ifndef LIST
#define LIST(part, name, ...)
#endif
#ifndef WINDOW
#define WINDOW(part, name, ...)
#endif
#ifndef END
#define END(name)
#endif
#endif
