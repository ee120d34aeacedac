#!/bin/bash
# Makes ready what the tests need beside Go: a C compiler (for the race
# detector), PostgreSQL's and MariaDB's server programs, redis-server, rabbitmq-server, a browser, Python with venv, and in
# build/venv the real OpenStack clients. Missing programs are installed on Debian and
# Ubuntu by root or with passwordless sudo; elsewhere, and with
# KEYSTONE_GO_NO_INSTALL=1, they are only named. With the argument "interop"
# memcached, HAProxy and socat belong to them, with "interop-full" Debian's own
# Keystone too, with "galera" Galera.
set -euo pipefail
suite=${1:-}
cd "$(dirname "$0")/.."

compiles() { echo '#include <stdlib.h>' | "${CC:-cc}" -x c -c - -o /dev/null 2>/dev/null; }

postgres() {
  [ -n "${KEYSTONE_GO_TEST_POSTGRES:-}" ] && return
  for dir in ${PATH//:/ } /usr/lib/postgresql/*/bin; do
    [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ] && return
  done
  return 1
}

mariadb() {
  [ -n "${KEYSTONE_GO_TEST_MARIADB:-}" ] || { program mariadbd && program mariadb-install-db; }
}

# python prints the first Python that the clients run on and that can make a
# virtual environment.
python() {
  for p in python3 /usr/bin/python3 python3.{14,13,12,11}; do
    if "$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$p"
      return
    fi
  done
  return 1
}

missing() {
  compiles || echo "gcc libc6-dev"
  postgres || echo "postgresql"
  mariadb || echo "mariadb-server"
  program redis-server || echo "redis-server"
  program rabbitmq-server || echo "rabbitmq-server"
  program chromium || program google-chrome || echo "chromium fonts-dejavu-core"
  python >/dev/null || echo "python3 python3-venv"
  [ -n "$suite" ] || return 0
  if [ "$suite" = galera ]; then
    [ -n "$(compgen -G '/usr/lib*/galera*/libgalera_smm.so')" ] || echo "galera-4"
    program rsync || echo "rsync"
    return 0
  fi
  for p in memcached haproxy socat curl; do program "$p" || echo "$p"; done
  [ "$suite" = interop-full ] || return 0
  # Debian's own Keystone, as an older peer.
  /usr/bin/python3 -c 'import keystone, psycopg2, memcache' 2>/dev/null || echo "python3-keystone python3-psycopg2 python3-memcache"
}

# program tells whether there is a program, an administrator's one too.
program() { PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null; }

command -v go >/dev/null || { echo "The tests need Go 1.26 or newer." >&2; exit 1; }

packages=$(missing)
packages=${packages//$'\n'/ }
if [ -n "$packages" ]; then
  install="apt-get install -y --no-install-recommends $packages"
  as=""
  [ "$(id -u)" = 0 ] || as="sudo "
  if ! command -v apt-get >/dev/null; then
    echo "The tests need a C compiler, PostgreSQL's server programs (initdb and postgres), mariadb-server, redis-server, rabbitmq-server, chromium and Python 3.11 or newer with venv. Missing here, by Debian's names: $packages" >&2
    exit 1
  fi
  if [ "${KEYSTONE_GO_NO_INSTALL:-}" = 1 ] || { [ -n "$as" ] && ! sudo -n true 2>/dev/null; }; then
    echo "The tests need packages that are not installed. Install them, then run this again:" >&2
    echo "  $as$install" >&2
    exit 1
  fi
  echo "Installing what the tests need: $packages"
  mkdir -p build
  if ! { ${as:+sudo -n} apt-get update -q && ${as:+sudo -n} env DEBIAN_FRONTEND=noninteractive $install; } > build/install.log 2>&1; then
    tail -20 build/install.log >&2
    exit 1
  fi
  packages=$(missing)
  [ -z "$packages" ] || { echo "Still missing after the installation: $packages" >&2; exit 1; }
fi

want=$( (cat test/clients/requirements.txt; "$(python)" --version) | sha256sum | cut -c1-16)
if [ "$(cat build/venv/.made-of 2>/dev/null)" != "$want" ]; then
  echo "Making build/venv with the OpenStack clients"
  rm -rf build/venv
  "$(python)" -m venv build/venv
  if ! build/venv/bin/pip install -q --disable-pip-version-check -r test/clients/requirements.txt > build/pip.log 2>&1; then
    tail -5 build/pip.log >&2
    echo "The tests need the OpenStack clients from PyPI (or from an index that pip is configured for), and could not get them: see build/pip.log" >&2
    exit 1
  fi
  echo "$want" > build/venv/.made-of
fi
