# SPDX-License-Identifier: MIT
"""Scripts made for perf: how they are run, and the modules that they import."""
