"""Runs the tests of the named modules, or lists them with --list.

Prints one line of JSON a test: {"id": ..., "outcome": "pass"|"fail"|"skip",
"detail": last line of what went wrong}. A class whose set-up fails has all its
tests fail; a module that cannot be imported is a test of its own.
"""

import json
import re
import sys
import unittest


def flat(suite):
    for t in suite:
        if isinstance(t, unittest.TestSuite):
            yield from flat(t)
        else:
            yield t


def name(test):
    # tempest adds tags in brackets.
    return re.sub(r"\[.*\]$", "", test.id())


class Lines(unittest.TestResult):
    def __init__(self, classes):
        super().__init__()
        self.classes = classes
        self.told = set()

    def say(self, test, outcome, detail=""):
        m = re.match(r"(?:setUpClass|tearDownClass) \((.*)\)$", test.id())
        ids = self.classes.get(m.group(1), []) if m else [name(test)]
        for i in ids:
            if i not in self.told:
                self.told.add(i)
                print(json.dumps({"id": i, "outcome": outcome, "detail": detail}), flush=True)

    def why(self, err):
        lines = [l for l in self._exc_info_to_string(err, _Quiet()).splitlines() if l.strip()]
        return lines[-1][:300] if lines else ""

    def addSuccess(self, test):
        self.say(test, "pass")

    def addError(self, test, err=None, details=None):
        self.say(test, "fail", self.why(err) if err else text(details))

    def addFailure(self, test, err=None, details=None):
        self.say(test, "fail", self.why(err) if err else text(details))

    def addSkip(self, test, reason=None, details=None):
        self.say(test, "skip", str(reason or text(details))[:300])

    def addExpectedFailure(self, test, err=None, details=None):
        self.say(test, "pass")

    def addUnexpectedSuccess(self, test, details=None):
        self.say(test, "fail", "unexpected success")


class _Quiet(unittest.TestCase):
    failureException = AssertionError


def text(details):
    """The last line of what testtools attached."""
    for key in ("traceback", "reason"):
        if details and key in details:
            lines = [l for l in details[key].as_text().splitlines() if l.strip()]
            return lines[-1][:300] if lines else ""
    return ""


def main(args):
    listing = "--list" in args
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromNames(
        [a for a in args if a != "--list"]))
    classes = {}
    for t in flat(suite):
        classes.setdefault(f"{type(t).__module__}.{type(t).__qualname__}", []).append(name(t))
    if listing:
        for ids in classes.values():
            for i in ids:
                print(json.dumps({"id": i, "outcome": "listed", "detail": ""}))
        return
    suite.run(Lines(classes))


if __name__ == "__main__":
    main(sys.argv[1:])
