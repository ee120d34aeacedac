#!/bin/bash
# Makes ready what make interop needs: what test/setup.sh installs, memcached,
# HAProxy, and the programs of requirements.txt in a virtual environment that
# is kept outside of the checkout, so that a fresh clone does not download them
# again. build/interop/venv leads to it. With the argument "full", what the long
# suites need as well.
set -euo pipefail
cd "$(dirname "$0")/../.."
test/setup.sh "interop${1:+-$1}"

python() {
  for p in python3 /usr/bin/python3 python3.{14,13,12,11}; do
    if "$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$p"
      return
    fi
  done
  return 1
}

requirements=test/interop/requirements.txt
want=$( (cat $requirements; "$(python)" --version) | sha256sum | cut -c1-16)
cache=${XDG_CACHE_HOME:-${HOME:-}/.cache}/keystone-go
mkdir -p "$cache" 2>/dev/null || true
[ -w "$cache" ] || cache=$PWD/build/interop
mkdir -p "$cache" build/interop
venv=$cache/interop-$want

exec 9>"$cache/interop.lock"
flock 9
if [ ! -e "$venv/.made" ]; then
  echo "Making $venv with $(grep '^keystone==' $requirements) and its clients"
  rm -rf "$venv"
  "$(python)" -m venv "$venv"
  if ! "$venv/bin/pip" install -q --disable-pip-version-check -r $requirements > build/interop/pip.log 2>&1; then
    tail -5 build/interop/pip.log >&2
    echo "make interop needs Python Keystone from PyPI (or from an index that pip is configured for), and could not get it: see build/interop/pip.log" >&2
    rm -rf "$venv"
    exit 1
  fi
  touch "$venv/.made"
fi
ln -sfn "$venv" build/interop/venv
