#!/bin/sh
# Prepares what the tests need, then runs every check: linters, types, import contracts, tests.
#
#   sh tests/run.sh [--long] [--no-system-packages] [--no-checks] [pytest arguments...]
#
# Python packages go into .venv-test (TRAYAGENT_TEST_VENV names another place), anew when
# pyproject.toml changes. As root, missing Debian packages are installed with apt; otherwise the
# tests that need them are skipped, and it says which packages those are. The tests see no tmux
# server, configuration or state of yours.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
venv=${TRAYAGENT_TEST_VENV:-$root/.venv-test}
long='' system=yes checks=yes
while [ $# -gt 0 ]; do
    case $1 in
        --long) long=--long ;;
        --no-system-packages) system=no ;;
        --no-checks) checks=no ;;
        *) break ;;
    esac
    shift
done

say() { printf 'tests/run.sh: %s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }

# -- system packages -----------------------------------------------------------------------

# program:package, for what the tests start; then packages that only come along.
programs='tmux:tmux bash:bash git:git gcc:gcc Xvfb:xvfb xprop:x11-utils xset:x11-xserver-utils xdotool:xdotool
openbox:openbox xterm:xterm xfce4-panel:xfce4-panel dunst:dunst dbus-daemon:dbus dbus-send:dbus-bin
xclip:xclip import:imagemagick pulseaudio:pulseaudio pactl:pulseaudio-utils sox:sox
trayer:trayer zsh:zsh fish:fish'
along='libc6-dev fonts-dejavu-core adwaita-icon-theme hicolor-icon-theme librsvg2-common libasound2-plugins
xfce4-notifyd tzdata python3-gi gir1.2-gtk-3.0'

missing_packages() {
    for pair in $programs; do
        have "${pair%%:*}" || printf '%s ' "${pair#*:}"
    done
}

apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null
}

apt_update() {
    for wait in 5 15 30 0; do
        apt update -q >/dev/null && return 0
        [ "$wait" = 0 ] || { say "apt-get update failed; again in $wait s"; sleep "$wait"; }
    done
    say 'apt-get update failed; going on with the lists that are there'
}

apt_install() {
    apt install -q -y --no-install-recommends "$@" >/dev/null && return 0
    say 'not all packages at once; one by one'
    for package in "$@"; do
        apt install -q -y --no-install-recommends "$package" >/dev/null 2>&1 || say "no package $package here"
    done
}

may_install() { [ "$system" = yes ] && [ "$(id -u)" = 0 ] && have apt-get; }

missing=$(missing_packages)
if [ -n "$missing" ]; then
    if may_install; then
        say "installing: $missing"
        apt_update
        # shellcheck disable=SC2086  # lists of package names
        apt_install $missing $along
        missing=$(missing_packages)
    fi
    [ -z "$missing" ] || say "missing here, so that tests are skipped: $missing(as root: apt-get install $missing)"
fi

# -- Python --------------------------------------------------------------------------------

find_python() {
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if have "$name" && "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
        then
            printf '%s' "$name"
            return
        fi
    done
}

python=$(find_python)
if [ -z "$python" ] && may_install; then
    say 'installing Python'
    apt_update
    apt_install python3 python3-venv
    python=$(find_python)
fi
if [ -z "$python" ]; then
    say 'Python 3.11 or newer with its venv module is missing (Debian: apt-get install python3 python3-venv)' >&2
    exit 2
fi

stamp=$("$python" -c 'import hashlib, pathlib, sys
print(sys.version.split()[0], hashlib.sha256(pathlib.Path("pyproject.toml").read_bytes()).hexdigest())')
if [ "$(cat "$venv/stamp" 2>/dev/null)" != "$stamp" ] || ! "$venv/bin/python" -c 'import pytest' 2>/dev/null; then
    say "preparing $venv with $("$python" --version)"
    rm -rf "$venv"
    "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --retries 8 --timeout 60 -e '.[test]'
    printf '%s\n' "$stamp" >"$venv/stamp"
fi

# -- a world of its own --------------------------------------------------------------------

world=$(mktemp -d "${TMPDIR:-/tmp}/ta-XXXXXX")
trap 'rm -rf "$world"' EXIT
trap 'exit 130' INT TERM
mkdir -m 700 "$world/run" "$world/tmux"
unset TMUX TMUX_PANE DISPLAY WAYLAND_DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS SESSION_MANAGER
export TMUX_TMPDIR="$world/tmux" XDG_RUNTIME_DIR="$world/run" XDG_CONFIG_HOME="$world/config"
export XDG_STATE_HOME="$world/state" XDG_DATA_HOME="$world/data" XDG_CACHE_HOME="$world/cache"
export PATH="$venv/bin:$PATH" PYTHONUNBUFFERED=1

# -- checks --------------------------------------------------------------------------------

failed=''
check() {
    name=$1
    shift
    if "$@" >"$world/output" 2>&1; then
        say "$name: fine"
    else
        say "$name: FAILED"
        cat "$world/output"
        failed="$failed $name"
    fi
}

if [ "$checks" = yes ]; then
    check ruff ruff check .
    check format ruff format --check .
    check types mypy
    check contracts lint-imports
    if have shellcheck; then check shellcheck shellcheck tests/run.sh installers/start.sh .ci/run; fi
fi

status=0
python -m pytest -q --color=no ${long:+"$long"} "$@" || status=$?
# Real desktops on a busy machine: a test that fails alone gets a second chance, and is named for it.
# Many failures, or one that fails again, are a failure.
again=$(python -c 'import json, pathlib
print(len(json.loads(pathlib.Path(".pytest_cache/v/cache/lastfailed").read_text())))' 2>/dev/null || echo 0)
if [ "$status" = 1 ] && [ "$again" -le 5 ]; then
    say "$again failed; once more, these alone"
    status=0
    python -m pytest -q --color=no --last-failed --last-failed-no-failures=none ${long:+"$long"} "$@" || status=$?
    [ "$status" != 0 ] || say "UNSTEADY: passed only the second time; to be mended"
fi
if [ -n "$failed" ]; then
    say "failed before the tests:$failed" >&2
    [ "$status" != 0 ] || status=1
fi
exit "$status"
