#!/bin/sh
# SPDX-License-Identifier: MIT
# Each public header compiles alone as C99 and C++11.
exec sh "$SOURCE/scripts/check-headers"
