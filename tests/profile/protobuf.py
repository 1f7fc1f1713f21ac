# SPDX-License-Identifier: MIT
"""Reads protobuf messages without their descriptions."""

def varint(data, at):
    """The number, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at

def fields(data, fixed=False):
    """Field number and value (a number, or bytes) of each field of a message; `fixed`: there may be
    some of eight bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            assert tag & 7 == 2 or fixed and tag & 7 == 1, "wire type %d" % (tag & 7)
            size, at = (8, at) if tag & 7 == 1 else varint(data, at)
            value, at = data[at:at + size], at + size
            assert at <= len(data), "a field ends behind its message"
        yield tag >> 3, value

def packed(data):
    """The numbers of a packed list."""
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value
