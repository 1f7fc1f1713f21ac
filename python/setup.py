# SPDX-License-Identifier: MIT
"""The package runs on an installed libperfdata. Where there is none, or PERFDATA_BUNDLE is set (for
wheels that are to run elsewhere), the library is built from the sources beside and lies in the
wheel."""
import ctypes
import os
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

SONAME = "libperfdata.so.1"
SOURCE = Path(__file__).resolve().parent.parent


def is_installed() -> bool:
    try:
        ctypes.CDLL(SONAME)
    except OSError:
        return False
    return True


BUNDLE = bool(os.environ.get("PERFDATA_BUNDLE")) or not is_installed()


class Build(build_py):
    def run(self):
        super().run()
        if BUNDLE:
            self.add_library()

    def add_library(self):
        if not (SOURCE / "meson.build").exists():
            raise SystemExit(f"{SONAME} is not installed, and perfdata's sources are not beside "
                             "this package")
        if not shutil.which("meson"):
            raise SystemExit("meson is needed to build libperfdata (./dev setup in perfdata's "
                             "sources installs it)")
        folder = Path(self.get_finalized_command("build").build_temp).resolve() / "libperfdata"
        if not (folder / "build.ninja").exists():
            subprocess.run(["meson", "setup", str(folder), str(SOURCE), "--buildtype=release"],
                           check=True)
        subprocess.run(["meson", "compile", "-C", str(folder), "perfdata:shared_library"],
                       check=True)
        target = Path(self.build_lib) / "perfdata" / "lib"
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / SONAME, target / SONAME)


class Binary(Distribution):
    """A wheel with the library is of one machine, but of any Python."""

    def has_ext_modules(self):
        return BUNDLE


try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel


class Wheel(bdist_wheel):
    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


setup(cmdclass={"build_py": Build, "bdist_wheel": Wheel}, distclass=Binary)
