"""Decides with the real oslo.policy.

Each line of the input is a JSON object {"rules": {name: rule}, "default": name
or null, "creds": {...}, "target": {...}, "asked": [rule, ...]}, where a rule is
a text or a list. For it a line is printed: {"answers": [...], "texts": [...]},
an answer being "T", "F", or "E" for an exception, a text what the library makes
of the rule.
"""

import json
import logging
import sys
import warnings

from oslo_config import cfg
from oslo_policy import _parser
from oslo_policy import policy


def decide(enforcer, world, rule):
    try:
        enforcer.rules['asked'] = check = _parser.parse_rule(rule)
    except Exception:
        return 'E', None
    try:
        allowed = enforcer.enforce('asked', world['target'], dict(world['creds']))
    except Exception:
        return 'E', str(check)
    return 'T' if allowed else 'F', str(check)


def main():
    logging.disable(logging.CRITICAL)
    warnings.simplefilter('ignore')
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[])
    enforcer = policy.Enforcer(conf, use_conf=False)
    for line in sys.stdin:
        world = json.loads(line)
        enforcer.default_rule = world['default']
        enforcer.set_rules(policy.Rules.from_dict(world['rules']), use_conf=False)
        answers, texts = zip(*(decide(enforcer, world, rule) for rule in world['asked']))
        print(json.dumps({'answers': answers, 'texts': texts}))


main()
