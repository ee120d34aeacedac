"""oslo.limit as Nova, Glance and Cinder use it: a flat limit on a project,
enforced by a service user. Prints one line of JSON a step."""

import json
import os
import traceback

from keystoneauth1 import loading
from oslo_config import cfg
from oslo_limit import exception, limit

PROJECT = os.environ["PROJECT_ID"]


def configure(conf):
    from oslo_limit import opts
    opts.register_opts(conf)
    conf.register_opts(loading.get_auth_plugin_conf_options("password"), "oslo_limit")
    for key, value in {
        "auth_url": os.environ["OS_AUTH_URL"], "auth_type": "password", "username": "admin",
        "password": os.environ["OS_PASSWORD"], "user_domain_id": "default", "system_scope": "all",
        "endpoint_id": os.environ["ENDPOINT_ID"],
    }.items():
        conf.set_override(key, value, group="oslo_limit")
    conf([])


def below():
    limit.Enforcer(lambda project, names: {n: 1 for n in names}).enforce(PROJECT, {"widgets": 1})


def over():
    try:
        limit.Enforcer(lambda project, names: {n: 5 for n in names}).enforce(PROJECT, {"widgets": 1})
    except exception.ProjectOverLimit:
        return
    raise AssertionError("over the limit, and let through")


def usage():
    got = limit.Enforcer(lambda project, names: {n: 2 for n in names}).calculate_usage(PROJECT, ["widgets"])
    assert got["widgets"].limit == 5 and got["widgets"].usage == 2, got


def main():
    configure(cfg.CONF)
    for step in (below, over, usage):
        try:
            step()
            outcome, detail = "pass", ""
        except Exception:
            outcome, detail = "fail", traceback.format_exc()[-400:]
        print(json.dumps({"id": step.__name__, "outcome": outcome, "detail": detail}), flush=True)


main()
