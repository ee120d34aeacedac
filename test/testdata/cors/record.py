"""Writes recorded.json: what Python Keystone answers to cross-origin requests, and which links it makes of what proxies say.

Run with a Python that has keystone: python record.py
Every configuration needs a process of its own, since oslo.config is global.
"""
import json, os, subprocess, sys, tempfile

CONFS = {
    "off": "",
    "one": "[cors]\nallowed_origin = http://dashboard.example\n",
    "two": "[cors]\nallowed_origin = http://dashboard.example,https://other.example:8443\nallow_credentials = false\nmax_age = 60\n"
           "expose_headers = X-Subject-Token\nallow_methods = GET,POST\nallow_headers = X-Auth-Token,X-Custom\n",
    "any": "[cors]\nallowed_origin = *\nmax_age = 0\nexpose_headers =\n",
    "both": "[cors]\nallowed_origin = http://dashboard.example,*\nallow_methods = GET\n",
    "proxy": "[oslo_middleware]\nenable_proxy_headers_parsing = true\n",
    "noproxy": "[oslo_middleware]\nenable_proxy_headers_parsing = false\n",
    "endpoint": "[DEFAULT]\npublic_endpoint = https://id.example/base\n[oslo_middleware]\nenable_proxy_headers_parsing = true\n",
}
D = "http://dashboard.example"
ORIGINS = [None, D, "https://other.example:8443", "http://evil.example", D + "/", "HTTP://DASHBOARD.EXAMPLE", "", "null", D + "," + D]
PREFLIGHT = [
    {}, {"Access-Control-Request-Method": "POST"}, {"Access-Control-Request-Method": "post"}, {"Access-Control-Request-Method": "OPTIONS"},
    {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "x-auth-token"},
    {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "X-Auth-Token, content-type ,ACCEPT"},
    {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "X-Auth-Token,X-Evil"},
    {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": ",, ,"},
    {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "X-Custom"},
    {"Access-Control-Request-Method": ""}, {"Access-Control-Request-Headers": "X-Auth-Token"},
]
PATHS = ["/v3", "/", "/v3/auth/tokens", "/v3/nothing", "/healthcheck", "/v3/regions/none"]


def cross_origin():
    for path in PATHS:
        for origin in ORIGINS:
            head = {} if origin is None else {"Origin": origin}
            yield "GET", path, head
            for more in {"/v3/auth/tokens": PREFLIGHT, "/v3/nothing": PREFLIGHT[:5:2]}.get(path, PREFLIGHT[1:2]):
                yield "OPTIONS", path, {**head, **more}
    for method, path in (("HEAD", "/v3"), ("POST", "/v3/auth/tokens"), ("DELETE", "/v3/auth/tokens"), ("PUT", "/v3"), ("POST", "/v3")):
        yield method, path, {"Origin": D}


def proxied():
    heads = [
        {}, {"X-Forwarded-Proto": "https"}, {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "api.example"},
        {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "api.example:8443", "X-Forwarded-Prefix": "/identity"},
        {"X-Forwarded-Host": "api.example"}, {"X-Forwarded-Prefix": "/identity"}, {"X-Forwarded-Prefix": "/identity/"},
        {"X-Forwarded-Proto": "http", "X-Forwarded-Host": "api.example:80"}, {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "api.example:443"},
        {"X-Forwarded-Proto": "https, http"}, {"X-Forwarded-Proto": "http,https"}, {"X-Forwarded-Host": "a.example, b.example"},
        {"Forwarded": "proto=https"}, {"Forwarded": "for=192.0.2.60;proto=https;host=api.example;by=203.0.113.43"},
        {"Forwarded": "Proto=https;Host=api.example"}, {"Forwarded": "host=first.example;proto=https, host=second.example;proto=http"},
        {"Forwarded": "for=192.0.2.60, host=second.example"}, {"Forwarded": "host=api.example", "X-Forwarded-Host": "other.example"},
        {"Forwarded": "host=api.example", "X-Forwarded-Proto": "https"}, {"Forwarded": "for=192.0.2.60", "X-Forwarded-Host": "other.example", "X-Forwarded-Proto": "https"},
        {"Forwarded": "proto=https;host=api.example", "X-Forwarded-Prefix": "/identity"}, {"Forwarded": ""}, {"Forwarded": "nonsense"},
        {"Forwarded": " proto = https ; host = api.example "}, {"Forwarded": 'proto="https";host="api.example:8443"'},
        {"X-Forwarded-Port": "8443"}, {"X-Forwarded-Server": "s.example"}, {"X-Forwarded-Proto": ""}, {"X-Forwarded-Host": ""},
    ]
    for head in heads:
        yield "GET", "/v3", head


def child(name, into):
    sys.argv[1:] = []  # Keystone would read them
    from keystone.server import wsgi
    import io

    app = wsgi.initialize_public_application()
    out = []
    for method, path, headers in proxied() if name in ("proxy", "noproxy", "endpoint") else cross_origin():
        env = {
            "REQUEST_METHOD": method, "SCRIPT_NAME": "", "PATH_INFO": path, "QUERY_STRING": "", "SERVER_NAME": "keystone.test", "SERVER_PORT": "5000",
            "HTTP_HOST": "keystone.test:5000", "SERVER_PROTOCOL": "HTTP/1.1", "REMOTE_ADDR": "192.0.2.1", "wsgi.version": (1, 0), "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(b""), "wsgi.errors": sys.stderr, "wsgi.multithread": False, "wsgi.multiprocess": False, "wsgi.run_once": False,
        }
        for k, v in headers.items():
            env["HTTP_" + k.upper().replace("-", "_")] = v
        got = {}

        def start(status, head, exc_info=None):
            got["status"], got["headers"] = int(status.split()[0]), [[k, v] for k, v in head]

        body = b"".join(app(env, start)).decode()
        keep = {k.title(): v for k, v in got["headers"]}
        for k in ("Allow", "Location", "Www-Authenticate") + (() if method == "OPTIONS" else ("Content-Length", "Content-Type", "X-Openstack-Request-Id")):
            keep.pop(k, None)
        if "X-Openstack-Request-Id" in keep:
            keep["X-Openstack-Request-Id"] = "req-*"
        answer = {"conf": name, "method": method, "path": path, "request": headers, "status": got["status"], "headers": keep}
        if path == "/v3" and method == "GET":
            answer["href"] = json.loads(body)["version"]["links"][0]["href"]
        out.append(answer)
    json.dump(out, open(into, "w"))


if len(sys.argv) > 2:
    child(sys.argv[2], sys.argv[3])
else:
    here, everything = os.path.dirname(os.path.abspath(__file__)), []
    for name, text in CONFS.items():
        with tempfile.TemporaryDirectory() as d:
            for keys in ("fernet-keys", "credential-keys"):
                os.mkdir(d + "/" + keys)
                for n in "01":
                    with open(f"{d}/{keys}/{n}", "w") as f:
                        f.write("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
            with open(d + "/keystone.conf", "w") as f:
                f.write(text + f"[database]\nconnection = sqlite:///{d}/x.db\n[fernet_tokens]\nkey_repository = {d}/fernet-keys\n[fernet_receipts]\nkey_repository = {d}/fernet-keys\n"
                        f"[credential]\nkey_repository = {d}/credential-keys\n")
            # The CORS filter reads the configuration by itself, and from the standard places alone.
            os.symlink(d, d + "/.keystone")
            env = {**os.environ, "HOME": d, "OS_KEYSTONE_CONFIG_FILES": d + "/keystone.conf"}
            subprocess.run([sys.executable, __file__, "child", name, d + "/out"], check=True, env=env, cwd=d, stdout=subprocess.DEVNULL)
            everything += json.load(open(d + "/out"))
    with open(here + "/recorded.json", "w") as f:
        f.write(json.dumps({"confs": CONFS})[:-1] + ', "answers": [\n' + ",\n".join(json.dumps(a) for a in everything) + "\n]}\n")
