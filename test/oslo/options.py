"""The options of Python Keystone, as it registers them itself.

    options.py tsv            prints them as a table
    options.py read TABLE...  does what read.py does, with these options and
                              with those that the tables add
"""

import importlib.metadata
import sys

import keystone.conf
from keystone.common import sql
from oslo_config import cfg
from oslo_config import types

import read

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


def main():
    known = options()
    if sys.argv[1] == 'tsv':
        print('\t'.join(COLUMNS))
        for (section, _), option in sorted(known.items(), key=lambda item: item[0]):
            print('\t'.join(row(section, option)))
        return
    read.answer(read.add(known, sys.argv[2:]))


if __name__ == '__main__':
    main()
