/* SPDX-License-Identifier: MIT */
/* Compresses what a form writes on its way to the caller. */
#ifndef PD_CONVERT_GZIP_H
#define PD_CONVERT_GZIP_H
#include "convert/convert.h"

struct pd_gzip;

struct pd_gzip *pd_gzip_new(void); /* NULL: no memory */
/* In place of pd_convert_flush(). `all`: it is the end. */
perfdata_status pd_gzip_flush(struct pd_gzip *gzip, struct pd_convert *x, bool all);
void pd_gzip_free(struct pd_gzip *gzip);

#endif
