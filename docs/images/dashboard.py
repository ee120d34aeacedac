"""Draws etc/grafana-dashboard.json from the answers of a Prometheus, without Grafana.

    python dashboard.py http://localhost:9090 MINUTES [END]     needs matplotlib; END is a time in seconds
"""
import json
import os
import re
import sys
import time
import urllib.parse
import urllib.request

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

server, minutes = sys.argv[1], float(sys.argv[2])
here = os.path.dirname(os.path.abspath(__file__))
board = json.load(open(os.path.join(here, "../../etc/grafana-dashboard.json")))
end = float(sys.argv[3]) if len(sys.argv) > 3 else time.time()
start = end - 60 * minutes
step = max((end - start) / 240, 1)


def ask(path, **query):
    with urllib.request.urlopen(f"{server}/api/v1/{path}?{urllib.parse.urlencode(query)}") as answer:
        return json.load(answer)["data"]["result"]


def fill(expr):
    return expr.replace("$__rate_interval", "20s").replace("$instance", ".*")


def legend(form, labels):
    return re.sub(r"{{(\w+)}}", lambda m: labels.get(m[1], ""), form)


def shown(value, unit):
    if value != value:
        return "no data"
    if unit == "percentunit":
        return f"{100 * value:.1f} %"
    if unit == "s":
        for size, name in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "µs")):
            if abs(value) >= size:
                return f"{value / size:.3g} {name}"
        return "0"
    if unit == "bool_yes_no":
        return "good" if value else "failed"
    return f"{value:.3g}" + ("/s" if unit in ("reqps", "ops") else "")


def color(value, field):
    found = "#73bf69"
    for s in field.get("thresholds", {}).get("steps", []):
        if s["value"] is None or value >= s["value"]:
            found = {"green": "#73bf69", "orange": "#ff9830", "red": "#f2495c"}[s["color"]]
    return found


plt.style.use("dark_background")
plt.rcParams.update({"font.size": 7, "axes.titlesize": 8, "axes.facecolor": "#181b1f", "figure.facecolor": "#111217", "axes.edgecolor": "#33353a"})
panels = [p for p in board["panels"] if p["type"] != "row"]
bottom = max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in board["panels"])
figure = plt.figure(figsize=(15, bottom * 0.36), dpi=100)


def place(p, left=0.0, low=0.0, high=0.0):
    g = p["gridPos"]
    return [(g["x"] + 0.35 + left) / 24, 1 - (g["y"] + g["h"] - 0.3 - low) / bottom, (g["w"] - 0.7 - left) / 24, (g["h"] - 0.6 - low - high) / bottom]


for p in board["panels"]:
    field = p.get("fieldConfig", {}).get("defaults", {})
    if p["type"] == "row":
        figure.text(0.35 / 24, 1 - (p["gridPos"]["y"] + 0.75) / bottom, p["title"], fontsize=10, weight="bold", color="#ccccdc")
    elif p["type"] == "stat":
        found = ask("query", query=fill(p["targets"][0]["expr"]), time=end)
        value = float(found[0]["value"][1]) if found else float("nan")
        axes = figure.add_axes(place(p))
        axes.set_xticks([]), axes.set_yticks([])
        axes.text(0.5, 0.4, shown(value, field["unit"]), ha="center", va="center", fontsize=15, color=color(value, field))
        axes.text(0.5, 0.85, p["title"], ha="center", va="center", fontsize=7.5, color="#ccccdc")
    else:
        axes = figure.add_axes(place(p, left=1.0, low=1.9, high=0.7))
        axes.set_title(p["title"], loc="left", color="#ccccdc")
        lines = []
        for t in p["targets"]:
            for s in ask("query_range", query=fill(t["expr"]), start=start, end=end, step=step):
                points = {float(x): float(y) for x, y in s["values"]}
                lines.append((legend(t["legendFormat"], s["metric"]), points))
        stacked = field["custom"]["stacking"]["mode"] == "normal"
        times = sorted({x for _, points in lines for x in points})
        minutes_of = [(x - start) / 60 for x in times]
        base = [0.0] * len(times)
        for name, points in lines:
            values = [points.get(x, float("nan")) for x in times]
            if stacked:
                top = [b + (0 if v != v else v) for b, v in zip(base, values)]
                axes.fill_between(minutes_of, base, top, alpha=0.5, linewidth=0.6, label=name)
                base = top
            else:
                axes.plot(minutes_of, values, linewidth=0.9, label=name)
        axes.set_xlim(0, minutes), axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _, unit=field["unit"]: shown(v, unit)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:.0f} min"))
        axes.grid(color="#25272b", linewidth=0.5)
        if lines:
            axes.legend(loc="upper left", bbox_to_anchor=(-0.12, -0.14), ncol=3, fontsize=5, frameon=False, columnspacing=1, handlelength=1)
        else:
            axes.text(0.5, 0.5, "no data", ha="center", va="center", transform=axes.transAxes, color="#888888")
figure.savefig(os.path.join(here, "dashboard.png"))
