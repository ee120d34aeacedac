"""Runs programs of Python Keystone one after another, each in a process of its
own that is forked from one in which everything is imported already: that takes
most of the time of a call.

Takes from each line of its input a JSON object {"program": path, "args": [...],
"env": {...}, "dir": path, "out": path, "err": path} and prints the exit code.
"""

import json
import os
import runpy
import sys

import keystone.cmd.cli  # noqa: F401


def become(job):
    os.chdir(job['dir'])
    os.environ.clear()
    os.environ.update(job['env'])
    for fd, path in ((0, os.devnull), (1, job['out']), (2, job['err'])):
        new = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(new, fd)
        os.close(new)
    os.umask(0o022)
    sys.argv = [job['program'], *job['args']]


for line in iter(sys.stdin.readline, ''):
    job = json.loads(line)
    child = os.fork()
    if child == 0:
        sys.stdin = open(os.devnull)
        become(job)
        runpy.run_path(job['program'], run_name='__main__')
        sys.exit(0)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
