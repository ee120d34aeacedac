"""Runs openstacksdk against the server that the OS_* variables name.

Each step prints one line of JSON: {"step": name, "error": text or null}.
"""

import json
import os
import sys
import traceback

import openstack
from keystoneauth1 import exceptions as ksa

REGION = "sdk-region"


def connect(**kwargs):
    return openstack.connect(load_yaml_config=False, load_envvars=True, **kwargs)


def authorize(conn):
    assert conn.authorize(), "no token"
    assert conn.current_user_id and conn.current_project_id
    access = conn.session.auth.get_access(conn.session)
    assert access.username == os.environ["OS_USERNAME"], access.username
    assert access.project_name == os.environ["OS_PROJECT_NAME"], access.project_name
    assert "admin" in access.role_names, access.role_names
    assert access.expires > access.issued, (access.issued, access.expires)
    assert len(access.audit_id) == 22, access.audit_id


def endpoint(conn):
    found = conn.session.get_endpoint(service_type="identity", interface="public")
    assert found.startswith(os.environ["OS_AUTH_URL"].removesuffix("/v3")), found


def list_regions(conn):
    ids = [r.id for r in conn.identity.regions()]
    assert os.environ["OS_REGION_NAME"] in ids, ids


def create_region(conn):
    made = conn.identity.create_region(id=REGION, description="made by openstacksdk")
    assert (made.id, made.description, made.parent_region_id) == (
        REGION, "made by openstacksdk", None), made
    try:
        conn.identity.create_region(id=REGION)
    except openstack.exceptions.ConflictException:
        return
    raise AssertionError("the same region was created twice")


def find_region(conn):
    assert conn.identity.find_region(REGION, ignore_missing=False).id == REGION
    assert conn.identity.find_region("no-such-region") is None


def update_region(conn):
    parent = os.environ["OS_REGION_NAME"]
    conn.identity.update_region(REGION, description="changed", parent_region_id=parent)
    got = conn.identity.get_region(REGION)
    assert (got.description, got.parent_region_id) == ("changed", parent), got
    below = [r.id for r in conn.identity.regions(parent_region_id=parent)]
    assert REGION in below, below


def delete_region(conn):
    conn.identity.delete_region(REGION, ignore_missing=False)
    try:
        conn.identity.get_region(REGION)
    except openstack.exceptions.NotFoundException:
        return
    raise AssertionError("the region is still there")


def wrong_password(conn):
    try:
        connect(password="not the password").authorize()
    except (openstack.exceptions.HttpException, openstack.exceptions.SDKException, ksa.Unauthorized) as e:
        assert "401" in str(e), str(e)
        return
    raise AssertionError("logged in")


def main():
    steps = [authorize, endpoint, list_regions, create_region, find_region,
             update_region, delete_region, wrong_password]
    conn = connect()
    for step in steps:
        try:
            step(conn)
            error = None
        except Exception:
            error = traceback.format_exc()
        print(json.dumps({"step": step.__name__, "error": error}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
