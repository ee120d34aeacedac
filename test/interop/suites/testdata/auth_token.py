"""A small WSGI program behind keystonemiddleware's auth_token, asked as its
users ask it. The variables OS_* name the server; MEMCACHED, USER_TOKEN,
EXPIRED_TOKEN, SERVICE_TOKEN, REVOKED_TOKEN and REVOKE_TOKEN come from the test.

Prints one line of JSON a step: {"id": ..., "outcome": ..., "detail": ...}.
"""

import json
import os
import traceback
import urllib.request

import webob
from keystonemiddleware import auth_token
from oslo_config import cfg

URL = os.environ["OS_AUTH_URL"]
HEADERS = [
    "X-Identity-Status", "X-User-Id", "X-User-Name", "X-User-Domain-Id", "X-User-Domain-Name", "X-Project-Id",
    "X-Project-Name", "X-Project-Domain-Id", "X-Project-Domain-Name", "X-Roles", "X-Service-Catalog",
    "X-Is-Admin-Project", "X-Role",
]


@webob.dec.wsgify
def echo(req):
    return webob.Response(json_body={k: v for k, v in req.headers.items() if k.startswith("X-")})


def middleware(**changes):
    conf = {
        "www_authenticate_uri": URL, "auth_url": URL, "auth_type": "password", "username": "admin",
        "password": os.environ["OS_PASSWORD"], "project_name": "admin", "user_domain_id": "default",
        "project_domain_id": "default", "service_token_roles": "service", "service_token_roles_required": True,
        "token_cache_time": -1, "delay_auth_decision": False,
    }
    conf.update(changes)
    conf["oslo_config_config"] = cfg.ConfigOpts()
    conf["oslo_config_config"]([])
    return auth_token.AuthProtocol(echo, conf)


def ask(app, token=None, service=None):
    req = webob.Request.blank("/")
    if token:
        req.headers["X-Auth-Token"] = token
    if service:
        req.headers["X-Service-Token"] = service
    return req.get_response(app)


def valid(app):
    r = ask(app, os.environ["USER_TOKEN"])
    assert r.status_int == 200, (r.status_int, r.text)
    missing = [h for h in HEADERS if h not in r.json]
    assert not missing, missing
    assert r.json["X-Identity-Status"] == "Confirmed"
    assert r.json["X-User-Name"] == "admin" and r.json["X-Project-Name"] == "admin", r.json
    assert "admin" in r.json["X-Roles"].split(","), r.json["X-Roles"]
    assert [s["type"] for s in json.loads(r.json["X-Service-Catalog"])] == ["identity"]


def again(app):
    valid(app)
    valid(app)


def no_token(app):
    r = ask(app)
    assert r.status_int == 401, r.status_int
    assert r.headers["WWW-Authenticate"] == f'Keystone uri="{URL}"', r.headers["WWW-Authenticate"]


def rubbish(app):
    for token in ("xyzzy", "gAAAAABpAAAAAAAAAAAAAAAA", "a.b.c"):
        assert ask(app, token).status_int == 401


def revoked(app):
    assert ask(app, os.environ["REVOKED_TOKEN"]).status_int == 401


def service_token(app):
    r = ask(app, os.environ["USER_TOKEN"], os.environ["SERVICE_TOKEN"])
    assert r.status_int == 200, r.status_int
    assert r.json["X-Service-Identity-Status"] == "Confirmed", r.json
    assert "service" in r.json["X-Service-Roles"].split(","), r.json


def service_token_of_a_user(app):
    r = ask(app, os.environ["USER_TOKEN"], os.environ["USER_TOKEN"])
    assert r.status_int == 401, r.status_int


def expired(app):
    assert ask(app, os.environ["EXPIRED_TOKEN"]).status_int == 401


def allow_expired(app):
    r = ask(app, os.environ["EXPIRED_TOKEN"], os.environ["SERVICE_TOKEN"])
    assert r.status_int == 200, r.status_int
    assert r.json["X-Identity-Status"] == "Confirmed"


def revoked_later(app):
    token = os.environ["REVOKE_TOKEN"]
    assert ask(app, token).status_int == 200
    req = urllib.request.Request(URL + "/auth/tokens", method="DELETE",
                                 headers={"X-Auth-Token": os.environ["USER_TOKEN"], "X-Subject-Token": token})
    assert urllib.request.urlopen(req).status == 204
    assert ask(app, token).status_int == 401


def wrong_password(_app):
    # Of another user: wrong passwords lock.
    r = ask(middleware(username="demo", password="wrong"), os.environ["USER_TOKEN"])
    assert r.status_int in (500, 503), r.status_int


STEPS = [valid, again, no_token, rubbish, revoked, service_token, service_token_of_a_user, expired,
         allow_expired, wrong_password, revoked_later]


def main():
    caches = {"plain": {}, "memcached": {"memcached_servers": os.environ["MEMCACHED"], "token_cache_time": 300}}
    for cache, changes in caches.items():
        app = middleware(**changes)
        for step in STEPS:
            if step is revoked_later and cache != "plain":
                continue  # a cached validation is good until it ages, as its operators know
            try:
                step(app)
                outcome, detail = "pass", ""
            except Exception:
                outcome, detail = "fail", traceback.format_exc()[-400:]
            print(json.dumps({"id": f"{cache}.{step.__name__}", "outcome": outcome, "detail": detail}), flush=True)


main()
