"""unittest_lines for openstackclient's functional tests.

They start the program thousands of times, and nearly all of their time is that
of its imports: a second and a half each. openstack_forks.py runs the commands
instead.
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import unittest_lines
from openstackclient.tests.functional import base
from tempest.lib import exceptions

server = subprocess.Popen(
    [sys.executable, pathlib.Path(__file__).with_name("openstack_forks.py")],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    # The tests' own execute leaves these out too: a command has its --os-cloud.
    env={k: v for k, v in os.environ.items() if not k.startswith("OS_")},
)


def execute(cmd, *, fail_ok=False):
    program, *args = shlex.split(cmd)
    assert program == "openstack", cmd
    with tempfile.NamedTemporaryFile("r") as out, tempfile.NamedTemporaryFile("r") as err:
        print(json.dumps([args, out.name, err.name]), file=server.stdin, flush=True)
        code = int(server.stdout.readline())
        output, errors = out.read(), err.read()
    if code != 0 and not fail_ok:
        raise exceptions.CommandFailed(code, cmd, output, errors)
    return output


base.execute = execute
unittest_lines.main(sys.argv[1:])
server.stdin.close()
server.wait()
