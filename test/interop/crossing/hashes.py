"""Hashes passwords with Keystone's own code: JSON {"schemes": [{"algorithm",
"rounds"}], "passwords": [...]} comes in, a list of hashes for each scheme goes
out."""

import json
import sys

from keystone.common import password_hashing
import keystone.conf


def main():
    keystone.conf.configure()
    conf = keystone.conf.CONF
    conf([], project='keystone', default_config_files=[], default_config_dirs=[])
    asked = json.load(sys.stdin)
    out = []
    for scheme in asked['schemes']:
        conf.set_override('password_hash_algorithm', scheme['algorithm'], 'identity')
        conf.set_override('password_hash_rounds', scheme['rounds'], 'identity')
        out.append([password_hashing.hash_password(p) for p in asked['passwords']])
    json.dump(out, sys.stdout)


main()
