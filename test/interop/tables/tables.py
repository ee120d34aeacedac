"""Prints as JSON what the installed Keystone says about itself: its routes,
its policy rules, the heads of its migrations, the order of its login methods.
"""

import importlib.metadata
import json
import os
import re
import sys

from keystone.auth.plugins import core as plugins
from keystone.common import policies
from keystone.common.sql import upgrades
from keystone.server.flask import application
import keystone.conf
import keystone.server


def routes(app):
    """Gives [method, path], paths in the form /v3/users/{user_id}. Flask adds
    OPTIONS to every path, and a path for static files, of which
    there are none."""
    for rule in app.url_map.iter_rules():
        if rule.endpoint == 'static':
            continue
        path = re.sub(r'<(?:[^:<>]+:)?([^<>]+)>', r'{\1}', str(rule))
        for method in rule.methods - {'OPTIONS'}:
            yield [method, path]


def rules():
    for rule in policies.list_rules():
        old = rule.deprecated_rule
        yield {
            'name': rule.name,
            'check': rule.check_str,
            'scope_types': rule.scope_types or [],
            'deprecated_name': old.name if old else '',
            'deprecated_check': old.check_str if old else '',
            'removal': bool(rule.deprecated_for_removal),
            'operations': [
                [method, operation['path']]
                for operation in getattr(rule, 'operations', None) or []
                for method in ([operation['method']] if isinstance(operation['method'], str) else operation['method'])
            ],
        }


def heads():
    folder = os.path.join(os.path.dirname(upgrades.__file__), 'migrations', 'versions')
    with open(os.path.join(folder, 'EXPAND_HEAD')) as expand, open(os.path.join(folder, 'CONTRACT_HEAD')) as contract:
        return {'expand': expand.read().strip(), 'contract': contract.read().strip()}


def methods():
    """Gives {method: its bit in a token's payload} as the loaded code has it."""
    return {name: plugins.convert_method_list_to_integer([name]) for name in keystone.conf.CONF.auth.methods}


def main():
    keystone.conf.configure()
    keystone.conf.CONF([], project='keystone', default_config_files=sys.argv[1:], default_config_dirs=[])
    keystone.conf.set_external_opts_defaults()
    app = application.application_factory()
    json.dump({
        'release': importlib.metadata.version('keystone'),
        'routes': sorted(routes(app)),
        'rules': list(rules()),
        'heads': heads(),
        'methods': methods(),
    }, sys.stdout, indent=1)


main()
