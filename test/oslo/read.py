"""Reads configuration files with the real oslo.config.

    read.py TABLE...

registers the options of the tables, each a file of tab-separated columns, and
takes from each line of its input a JSON object {"files": [...], "dirs": [...],
"env": {...}}. For it it prints a line of JSON: {"fatal": why} if the files
cannot be read at all, else {"values": {"section/option": {"value": v} or
{"error": why}}}. A row without a type adds older names to an option.
"""

import csv
import json
import logging
import os
import sys

from oslo_config import cfg
from oslo_config import types


def rows(tables):
    for table in tables:
        with open(table, newline='') as file:
            yield from csv.DictReader(file, delimiter='\t', quoting=csv.QUOTE_NONE)


def add(known, tables):
    """Adds the options and older names of the tables to {(section, name): option}."""
    for row in rows(tables):
        older = []
        for name in filter(None, row['older'].split(',')):
            section, name = name.split('/')
            older.append(cfg.DeprecatedOpt(name, group=section))
        key = row['section'], row['name']
        if row['type']:
            known[key] = option(row, older)
        else:
            known[key].deprecated_opts = list(known[key].deprecated_opts) + older
    return known


def number(row, column, kind):
    return kind(row[column]) if row[column] else None


def option(row, older):
    default = None if row['default'] == '(none)' else row['default']
    choices = row['choices'].split(',') if row['choices'] else None
    if row['type'] == 'MultiString':
        default = default.split(',') if default not in (None, '[]') else default and []
        return cfg.MultiStrOpt(row['name'], default=default, deprecated_opts=older)
    if row['type'] in ('Integer', 'Float'):
        kind = int if row['type'] == 'Integer' else float
        make = types.Integer if kind is int else types.Float
        of = make(min=number(row, 'min', kind), max=number(row, 'max', kind))
        default = None if default is None else kind(default)
    elif row['type'] == 'Boolean':
        of = types.Boolean()
        default = None if default is None else default == 'True'
    elif row['type'] == 'List<String>':
        of = types.List(types.String(choices=choices))
        if default is not None:
            default = [] if default in ('[]', "''") else default.split(',')
    elif row['type'].startswith('Dict'):
        of = types.Dict(types.List(bounds=True) if row['type'] == 'Dict<List>' else types.String())
        default = None if default is None else {}
    elif row['type'] == 'URI':
        of = types.URI(max_length=number(row, 'max', int), schemes=choices)
    else:
        of = types.String(choices=choices, ignore_case=bool(row['any_case']))
        default = '' if default == "''" else default
    name = row['name'].replace('_', '-') if row['dashed'] else row['name']
    return cfg.Opt(name, type=of, default=default, deprecated_opts=older)


def plain(value):
    """Makes a value of JSON's; numbers that JSON has not become their text."""
    if isinstance(value, float) and (value != value or value in (float('inf'), float('-inf'))):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 53:
        return str(value)
    return value


def read(known, job):
    conf = cfg.ConfigOpts()
    for (section, _), opt in known.items():
        conf.register_opt(opt, group=None if section == 'DEFAULT' else section)
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


def answer(known):
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        print(json.dumps(read(known, json.loads(line))), flush=True)


if __name__ == '__main__':
    answer(add({}, sys.argv[1:]))
