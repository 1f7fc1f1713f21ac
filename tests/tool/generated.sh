#!/bin/sh
# SPDX-License-Identifier: MIT
# What is generated from the option tables is what lies in the tree.
exec sh "$SOURCE/scripts/update-generated" --check "$PERFDATA"
