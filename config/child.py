"""Run a module that dies with its parent: python -m config.child PARENT NICE MODULE ARGUMENT ..."""

import ctypes
import os
import runpy
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it died before the call above
        sys.exit(1)


if __name__ == "__main__":
    die_with(int(sys.argv[1]))
    os.nice(int(sys.argv[2]))
    sys.argv = sys.argv[3:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
