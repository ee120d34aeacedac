"""The program openstack, forked instead of started.

Loads openstackclient once, then reads a line of JSON for each command: its
arguments, and the files that its output and its errors go to. A fork that has
run nothing before runs the program's own main and ends as the program does; its
exit status is the line that is answered. What a command sees is what a program
of its own sees, the time to import apart.
"""

import importlib.metadata
import json
import os
import shutil
import sys

# Its name is taken from here when it is imported.
program = sys.argv[0] = shutil.which("openstack")

from openstackclient import shell  # noqa: E402

# What the commands load when they run.
points = importlib.metadata.entry_points()
for group in points.groups:
    if not group.startswith(("openstack.", "cliff.formatter.", "keystoneauth1.plugin")):
        continue
    for point in points.select(group=group):
        try:
            command = point.load()
        except ImportError:
            continue  # what is optional and not there is not there for a program either
        if (group, point.name) == ("openstack.identity.v3", "region_list"):
            # Has cliff read, and remember, which package each module is of.
            command(None, None).get_parser("region list")


def become(args, out, err):
    """Has the fork look like the program."""
    for number, file in ((0, os.devnull), (1, out), (2, err)):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY
        os.dup2(os.open(file, flags), number)
    sys.argv[:] = [program, *args]


def end(main):
    """Ends the fork as sys.exit(main()) does, without taking apart what is loaded:
    that takes longer than most commands."""
    try:
        status = main()
    except SystemExit as e:
        status = e.code
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status or 0)


for line in sys.stdin:
    child = os.fork()
    if child == 0:
        become(*json.loads(line))
        end(shell.main)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
