"""Writes oslo_log.json: what oslo.log and Python's logging write, for the test of this package.

Run with a Python that has oslo.log: python record.py
"""
import io, json, logging, logging.config, os, sys, tempfile, time

os.environ["TZ"] = "Europe/Berlin"
time.tzset()

from oslo_config import cfg
from oslo_context import context
from oslo_log import formatters, log

DEFAULT = {
    "logging_context_format_string": None, "logging_default_format_string": None,
    "logging_user_identity_format": None, "logging_debug_format_suffix": None,
    "logging_exception_prefix": None, "log_date_format": None,
}
SETTINGS = {
    "default": {},
    "devstack": {
        "logging_exception_prefix": "ERROR %(name)s %(instance)s",
        "logging_default_format_string": "%(color)s%(levelname)s %(name)s [-%(color)s] %(instance)s%(color)s%(message)s",
        "logging_context_format_string": "%(color)s%(levelname)s %(name)s [%(request_id)s %(user_identity)s] %(instance)s%(color)s%(message)s",
        "logging_debug_format_suffix": "{{(pid=%(process)d) %(funcName)s %(pathname)s:%(lineno)d}}",
    },
    "sap": {
        "logging_context_format_string": "%(process)d %(levelname)s %(name)s [%(request_id)s g%(global_request_id)s %(user_identity)s] %(instance)s%(message)s",
        "logging_user_identity_format": "usr %(user)s prj %(project)s dom %(domain)s usr-dom %(user_domain)s prj-dom %(project_domain)s",
    },
    "widths": {
        "logging_default_format_string": "%(levelname)-9s|%(levelname)9s|%(lineno)05d|%(lineno)-5d|%(msecs)06.1f|%(name).8s|%% %(levelno)d %(filename)s %(module)s %(funcName)s",
        "logging_context_format_string": "%(user_name)s %(project_name)s %(user)s/%(project)s/%(domain)s/%(system_scope)s %(user_domain_name)s %(project_domain_name)s %(message)10.4s|",
        "logging_debug_format_suffix": "",
    },
    "iso": {"logging_default_format_string": "%(isotime)s %(message)s", "logging_context_format_string": "%(isotime)s %(user_identity)s"},
    "date": {"log_date_format": "%d/%b/%Y:%H:%M:%S %z %Z %a %A %B %j %y %I%p %e %s %F %T %R %D %C %u %w %G %g %V %U %W %% %h"},
}
CONTEXTS = {
    "none": None,
    "anonymous": {"request_id": "req-1"},
    "scoped": {
        "request_id": "req-1", "global_request_id": "req-2", "user_id": "u1", "user_name": "ana", "project_id": "p1",
        "project_name": "web", "user_domain_id": "d1", "user_domain_name": "Acme", "project_domain_id": "d2",
        "project_domain_name": "Beta",
    },
    "system": {"request_id": "req-1", "user_id": "u1", "user_domain_id": "d1", "system_scope": "all"},
    "domain": {"request_id": "req-1", "user_id": "u1", "user_domain_id": "d1", "domain_id": "d1", "domain_name": "Acme"},
}
TIMES = [1774000000.007, 1798675199.999, 1767225600.5]


def record(level, created, ctx):
    r = logging.LogRecord("keystone.auth", level, "/src/keystone/auth/core.py", 42, "hello 100% wörld", (), None, "login")
    r.created, r.msecs, r.process = created, round((created - int(created)) * 1000, 3), 4711
    if ctx:
        r.context = context.RequestContext(**ctx)
        context._request_store.context = None  # the constructor makes it everybody's
    return r


def lines():
    out = []
    for name, settings in SETTINGS.items():
        conf = cfg.ConfigOpts()
        log.register_options(conf)
        conf([], project="keystone", default_config_files=[])
        for k, v in settings.items():
            conf.set_override(k, v)
        form = formatters.ContextFormatter(project="keystone", version="unknown", datefmt=conf.log_date_format, config=conf)
        for who, ctx in CONTEXTS.items():
            for level in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL):
                for at in TIMES if level == logging.INFO else TIMES[:1]:
                    out.append({"settings": settings, "context": ctx, "level": level, "created": at,
                                "line": form.format(record(level, at, ctx))})
    return out


def jsons():
    form, out = formatters.JSONFormatter(datefmt="%Y-%m-%d %H:%M:%S"), []
    for who, ctx in CONTEXTS.items():
        out.append({"context": ctx, "line": json.loads(form.format(record(logging.INFO, TIMES[0], ctx)))})
    return out


def ini(path):
    """What every handler of a logging.conf writes."""
    place = tempfile.mkdtemp()
    text = open(path).read().replace("@DIR@", place)
    open(place + "/logging.conf", "w").write(text)
    stdout, stderr = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
    try:
        error = None
        for name in list(logging.root.manager.loggerDict):
            del logging.root.manager.loggerDict[name]
        try:
            logging.config.fileConfig(place + "/logging.conf", disable_existing_loggers=False)
        except Exception as e:
            error = type(e).__name__
        else:
            for name in ("keystone", "keystone.auth", "keystone.access", "keystone.auth.method"):
                for level in (10, 20, 30, 40, 50):
                    logging.getLogger(name).log(level, "m%d" % level)
        out = {"stdout": sys.stdout.getvalue(), "stderr": sys.stderr.getvalue()}
    finally:
        sys.stdout, sys.stderr = stdout, stderr
    logging.shutdown()
    for name in sorted(os.listdir(place)):
        if name != "logging.conf":
            out[name] = open(os.path.join(place, name)).read()
    return {"file": os.path.basename(path), "error": bool(error), "out": out}


here = os.path.dirname(os.path.abspath(__file__))
inis = [ini(os.path.join(here, "ini", n)) for n in sorted(os.listdir(os.path.join(here, "ini")))]
with open(os.path.join(here, "oslo_log.json"), "w") as f:
    json.dump({"lines": lines(), "json": jsons(), "ini": inis}, f, indent=1, ensure_ascii=False)
    f.write("\n")
