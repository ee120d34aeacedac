"""Writes the keys and tokens beside it, with Python Keystone itself.

    pip install keystone==30.0.0 && python make.py

Each run makes new keys. tokens.json holds, for every algorithm, the arguments
of each token and the token that Keystone made of them.
"""
import datetime
import json
import os
import shutil

from keystone.common import jwt_utils
import keystone.conf
from keystone.token.providers.jws import core
from oslo_utils import timeutils

HERE = os.path.dirname(os.path.abspath(__file__))
CONF = keystone.conf.CONF
USER = '1a2b3c4d5e6f40718293a4b5c6d7e8f9'
SCOPE = '00112233445566778899aabbccddeeff'
OTHER = 'ffeeddccbbaa99887766554433221100'
OWN, PARENT = 'AAECAwQFBgcICQoLDA0ODw', 'EBESExQVFhcYGRobHB0eHw'
ISSUED = datetime.datetime(2026, 11, 30, 0, 53, 20, 123456)
EXPIRES = '2026-12-01T00:00:00.000000Z'
GROUPS = [{'id': SCOPE}, {'id': 'grp-x'}]
FEDERATED = {'federated_group_ids': GROUPS, 'identity_provider_id': 'myidp', 'protocol_id': 'mapped'}

CASES = {
    'unscoped': {},
    'rescoped': {'methods': ['token', 'password'], 'audit_ids': [OWN, PARENT]},
    'project': {'project_id': SCOPE},
    'domain': {'domain_id': 'default'},
    'system': {'system': 'all'},
    'trust': {'project_id': SCOPE, 'trust_id': OTHER},
    'federated': dict(FEDERATED, methods=['mapped']),
    'federated-project': dict(FEDERATED, methods=['mapped', 'token'], project_id=SCOPE),
    'no-groups': dict(FEDERATED, methods=['openid'], federated_group_ids=[]),
    'oauth1': {'methods': ['oauth1'], 'project_id': SCOPE, 'access_token_id': OTHER},
    'appcred': {'methods': ['application_credential'], 'project_id': SCOPE, 'app_cred_id': OTHER},
    'ec2': {'methods': ['ec2credential'], 'project_id': SCOPE},
    'oauth2': {'methods': ['oauth2_credential'], 'project_id': SCOPE, 'thumbprint': 'dGVzdA=='},
    'not-ascii': {'user_id': 'Zoë <&> "q" \\ \u2028 \U0001f511'},
}


def main():
    keystone.conf.configure()
    CONF([], project='keystone', default_config_files=[])
    timeutils.set_time_override(ISSUED)
    out = {}
    for alg in ('ES256', 'ES384', 'ES512', 'EdDSA'):
        where = os.path.join(HERE, alg)
        shutil.rmtree(where, ignore_errors=True)
        for name in ('private', 'public'):
            os.makedirs(os.path.join(where, name))
        private, public = (os.path.join(where, name, name + '.pem') for name in ('private', 'public'))
        jwt_utils.create_jws_keypair(private, public, alg)
        CONF.set_override('jws_algorithm', alg, group='jwt_tokens')
        CONF.set_override('jws_accepted_algorithms', [alg], group='jwt_tokens')
        CONF.set_override('jws_private_key_repository', os.path.dirname(private), group='jwt_tokens')
        CONF.set_override('jws_public_key_repository', os.path.dirname(public), group='jwt_tokens')
        formatter = core.JWSFormatter()
        rows = []
        for name, given in CASES.items():
            args = {'user_id': USER, 'expires_at': EXPIRES, 'audit_ids': [OWN], 'methods': ['password'], **given}
            token, issued_at = formatter.create_token(**args)
            rows.append({'name': name, 'args': args, 'issued_at': issued_at, 'token': token})
        out[alg] = rows
    with open(os.path.join(HERE, 'tokens.json'), 'w') as f:
        json.dump(out, f, indent=1)
        f.write('\n')


main()
