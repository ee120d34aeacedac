"""Reads configuration files with the real oslo.config and Keystone's options.

With the argument "tsv" it prints a table of the options that a running Keystone
knows, in the order of section and name. With "read FILE" it takes from each line
of its input a JSON object {"files": [...], "dirs": [...], "env": {...}} and
prints a line of JSON for it: {"fatal": why} if the files cannot be read at all,
else {"values": {"section/option": {"value": v} or {"error": why}}}. FILE is a
table of options and older names that earlier releases had; they are registered
as well, so that it can be seen how oslo.config read them.
"""

import csv
import importlib.metadata
import json
import logging
import os
import sys

import keystone.conf
from keystone.common import sql
from oslo_config import cfg
from oslo_config import types

# What oslo-config-generator is asked for to make Keystone's sample file.
NAMESPACES = ('keystone', 'oslo.cache', 'oslo.db', 'oslo.log', 'oslo.messaging',
              'oslo.middleware', 'oslo.policy', 'osprofiler')

# oslo.config's own, for the command line.
COMMAND_LINE = ('config_dir', 'config_file', 'config_source', 'shell_completion')

# Their defaults are taken from the machine.
OF_THE_MACHINE = ('hostname', 'processname')

COLUMNS = ('section', 'name', 'type', 'default', 'min', 'max', 'choices', 'any_case', 'older', 'removal', 'secret',
           'dashed')


def entry_points(group):
    for name in NAMESPACES:
        for point in importlib.metadata.entry_points(group=group, name=name):
            yield point.load()


def options():
    """Gives {(section, name): option}: what the program has registered once it
    has started, and what its libraries register when they are used."""
    keystone.conf.configure()
    sql.initialize()
    for set_defaults in entry_points('oslo.config.opts.defaults'):
        set_defaults()
    keystone.conf.set_config_defaults()
    keystone.conf.CONF([], project='keystone', default_config_files=[], default_config_dirs=[])
    found = dict(registered(keystone.conf.CONF))
    for list_options in entry_points('oslo.config.opts'):
        for group, listed in list_options():
            section = getattr(group, 'name', group) or 'DEFAULT'
            for option in listed:
                found.setdefault((section, option.dest), option)
    for (_, name), option in found.items():
        option.required = False  # of those that Keystone does not use
        if name in OF_THE_MACHINE:
            option.default = None
    return found


def registered(conf):
    for name, entry in conf._opts.items():
        if name not in COMMAND_LINE:
            yield ('DEFAULT', name), entry['opt']
    for group in conf._groups.values():
        for name, entry in group._opts.items():
            yield (group.name, name), entry['opt']


def kind(option):
    if isinstance(option, (cfg.MultiOpt, cfg.MultiStrOpt)):
        return 'MultiString'
    if isinstance(option.type, types.List):
        return f'List<{type(option.type.item_type).__name__}>'
    if isinstance(option.type, types.Dict) and isinstance(option.type.value_type, types.List):
        return 'Dict<List>'
    return type(option.type).__name__


def default_text(default):
    if default is None:
        return '(none)'
    if isinstance(default, (list, tuple)):
        return ','.join(str(item) for item in default) or '[]'
    return str(default) or "''"


def bound(option, name):
    value = getattr(option.type, name, None)
    if name == 'max' and value is None:
        value = getattr(option.type, 'max_length', None) or None
    return '' if value is None else str(value)


def choices(option):
    of = getattr(option.type, 'item_type', option.type)
    listed = getattr(of, 'choices', None) or getattr(of, 'schemes', None) or ()
    return ','.join(str(choice) for choice in listed)


def row(section, option):
    removal = ''
    if option.deprecated_for_removal:
        removal = f'since {option.deprecated_since}' if option.deprecated_since else 'yes'
    older = (f'{old.group or section}/{old.name or option.dest}' for old in option.deprecated_opts)
    return (section, option.dest, kind(option), default_text(option.default),
            bound(option, 'min'), bound(option, 'max'),
            choices(option),
            'yes' if getattr(option.type, 'ignore_case', False) else '',
            ','.join(older), removal, 'yes' if option.secret else '',
            'yes' if '-' in option.name else '')


def add_retired(known, table):
    """Adds the options and older names of the table to the known ones."""
    with open(table, newline='') as file:
        for r in csv.DictReader(file, delimiter='\t', quoting=csv.QUOTE_NONE):
            older = []
            for name in filter(None, r['older'].split(',')):
                section, name = name.split('/')
                older.append(cfg.DeprecatedOpt(name, group=section))
            key = r['section'], r['name']
            if r['type']:
                known[key] = retired(r, older)
            else:
                known[key].deprecated_opts = list(known[key].deprecated_opts) + older


def retired(r, older):
    default = None if r['default'] == '(none)' else r['default'].replace("''", '')
    number = {'Integer': int, 'Float': float}.get(r['type'])
    if r['type'] == 'MultiString':
        return cfg.MultiStrOpt(r['name'], default=default.split(','), deprecated_opts=older)
    if number:
        low, high = (number(r[b]) if r[b] else None for b in ('min', 'max'))
        of = (types.Integer if number is int else types.Float)(min=low, max=high)
        default = None if default is None else number(default)
    elif r['type'] == 'Boolean':
        of, default = types.Boolean(), default == 'True'
    else:
        of = types.String()
    return cfg.Opt(r['name'], type=of, default=default, deprecated_opts=older)


def plain(value):
    """Makes a value of JSON's; numbers that JSON has not become their text."""
    if isinstance(value, float) and (value != value or value in (float('inf'), float('-inf'))):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 53:
        return str(value)
    return value


def read(known, job):
    conf = cfg.ConfigOpts()
    for (section, _), option in known.items():
        conf.register_opt(option, group=None if section == 'DEFAULT' else section)
    before = dict(os.environ)
    os.environ.update(job.get('env') or {})
    try:
        return read_with(conf, known, job)
    finally:
        os.environ.clear()
        os.environ.update(before)


def read_with(conf, known, job):
    try:
        conf(args=[], project='keystone', default_config_files=job['files'], default_config_dirs=job.get('dirs') or [])
    except Exception as why:
        return {'fatal': f'{type(why).__name__}: {why}'}
    values = {}
    for section, name in known:
        try:
            value = conf[name] if section == 'DEFAULT' else conf[section][name]
            values[f'{section}/{name}'] = {'value': plain(value)}
        except RecursionError:
            values[f'{section}/{name}'] = {'error': 'recursion'}
        except Exception as why:
            values[f'{section}/{name}'] = {'error': f'{type(why).__name__}: {why}'}
    return {'values': values}


def main():
    logging.disable(logging.CRITICAL)
    known = options()
    if sys.argv[1] == 'tsv':
        print('\t'.join(COLUMNS))
        for (section, _), option in sorted(known.items(), key=lambda item: item[0]):
            print('\t'.join(row(section, option)))
        return
    add_retired(known, sys.argv[2])
    for line in sys.stdin:
        print(json.dumps(read(known, json.loads(line))), flush=True)


if __name__ == '__main__':
    main()
