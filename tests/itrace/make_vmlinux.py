#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_vmlinux.py FROM ADDRESS TO: FROM's code and functions linked to another address, with a
source line for each three bytes of code, of a file that is named by a folder below the one that it
was made in."""
import os
import subprocess
import sys


def section(path, name):
    """Its address, place in the file and size, and its number."""
    for line in subprocess.check_output(['readelf', '-SW', path], text=True).splitlines():
        fields = line.replace('[', ' ').replace(']', ' ').split()
        if len(fields) > 6 and fields[1] == name:
            return int(fields[3], 16), int(fields[4], 16), int(fields[5], 16), fields[0]
    raise SystemExit(f'{path} has no {name}')


def functions(path, base, number):
    found = {}
    for line in subprocess.check_output(['readelf', '-sW', path], text=True).splitlines():
        fields = line.split()
        if len(fields) == 8 and fields[3] in ('FUNC', 'NOTYPE') and fields[6] == number:
            found.setdefault(int(fields[1], 16) - base,
                             []).append((fields[7], fields[2], fields[4]))
    return found


def main(source, address, to):
    base, offset, size, number = section(source, '.text')
    with open(source, 'rb') as file:
        file.seek(offset)
        code = file.read(size)
    names = functions(source, base, number)
    lines = ['.file 1 "kernel/made.c"', '.text']
    for at, byte in enumerate(code):
        for name, length, binding in names.get(at, []):
            if binding == 'GLOBAL':
                lines.append(f'.globl {name}')
            lines += [f'.type {name},@function', f'.size {name},{length}', f'{name}:']
        lines += [f'.loc 1 {1 + at // 3}', f'.byte {byte}']
    made = os.path.splitext(to)[0] + '.o'
    subprocess.run(['as', '-o', made, '-'], input='\n'.join(lines) + '\n', text=True, check=True)
    subprocess.check_call(['ld', '-o', to, '-Ttext=' + address, '-e', '0', '--build-id', made])


main(*sys.argv[1:])
