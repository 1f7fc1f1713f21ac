/* SPDX-License-Identifier: MIT */
/* Reading and writing bytes of a file, all of them, even if signals interrupt. */
#ifndef PD_IO_AT_H
#define PD_IO_AT_H
#include "base/base.h"

/* 0, or the system's error. *got: how many there were, less than asked at the file's end or with an
 * error. */
int pd_read_at(int fd, uint64_t offset, void *to, size_t size, size_t *got);
/* False: not all could be written, errno says why. */
bool pd_write_at(int fd, uint64_t offset, const void *from, size_t size);
/* The same at the descriptor's current position. */
bool pd_write_all(int fd, const void *from, size_t size);

#endif
