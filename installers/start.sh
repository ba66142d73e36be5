#!/bin/sh
# Installs trayagent for this user and starts it in the foreground.
#
#   sh installers/start.sh [--no-start] [--install-system-packages] [trayagent's own options...]
#
# Everything goes into a private environment, ${XDG_DATA_HOME:-~/.local/share}/trayagent/venv, and
# one link, ~/.local/bin/trayagent. Run it again at any time: it installs anew only when this
# checkout or Python has changed. Nothing is installed system-wide unless you say
# --install-system-packages (apt, with sudo where needed). To remove it all: delete both places.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
home=${XDG_DATA_HOME:-$HOME/.local/share}/trayagent
venv=$home/venv
link=$HOME/.local/bin/trayagent
start=yes system=no
while [ $# -gt 0 ]; do
    case $1 in
        --no-start) start=no ;;
        --install-system-packages) system=yes ;;
        -h | --help)
            sed -n '2,/^set -eu$/s/^# \{0,1\}//p' "$0"
            exit 0
            ;;
        --)
            shift
            break
            ;;
        *) break ;;
    esac
    shift
done

say() { printf '%s\n' "trayagent: $*" >&2; }
fail() {
    say "$*"
    exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# -- Python --------------------------------------------------------------------------------

recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
is_whole() { "$1" -c 'import venv, ensurepip' 2>/dev/null; }

# The first Python that is recent enough and has venv and pip, else the first recent one.
find_python() {
    found=''
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if have "$name" && recent "$name"; then
            if is_whole "$name"; then
                printf '%s' "$name"
                return
            fi
            found=${found:-$name}
        fi
    done
    printf '%s' "$found"
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif have sudo; then
        sudo "$@"
    else
        fail "this needs root and there is no sudo: $*"
    fi
}

apt_install() {
    have apt-get || fail '--install-system-packages works with apt only; see above for the packages'
    as_root apt-get update -q || say 'apt-get update failed; going on with the lists that are there'
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# How to get Python on this system: what is missing, in the words of its package manager.
remedy() {
    if have apt-get; then
        case $1 in
            venv) printf 'sudo apt-get install %s-venv' "$2" ;;
            *) printf 'sudo apt-get install python3 python3-venv' ;;
        esac
    elif have dnf; then
        printf 'sudo dnf install python3.12'
    elif have pacman; then
        printf 'sudo pacman -S python'
    elif have zypper; then
        printf 'sudo zypper install python312'
    elif have apk; then
        printf 'sudo apk add python3 py3-pip'
    elif have brew; then
        printf 'brew install python@3.12'
    else
        printf 'install it from https://www.python.org/downloads/'
    fi
}

# The package that holds venv for this very Python: Debian names it by version, but for its default.
venv_package() {
    if [ "$1" = python3 ]; then printf 'python3'; else printf '%s' "$1"; fi
}

require_python() {
    python=$(find_python)
    if [ -z "$python" ] && [ "$system" = yes ]; then
        apt_install python3 python3-venv
        python=$(find_python)
    fi
    if [ -z "$python" ]; then
        if have python3; then
            say "Python 3.11 or newer is missing (python3 here is $(python3 -c 'import platform
print(platform.python_version())'))."
        else
            say 'Python 3.11 or newer is missing.'
        fi
        fail "Get it with:  $(remedy python)"
    fi
    if ! is_whole "$python" && [ "$system" = yes ]; then
        apt_install "$(venv_package "$python")-venv"
    fi
    is_whole "$python" || fail "$python lacks its venv and pip modules. Get them with:  $(remedy venv "$(venv_package "$python")")
(or run this again with --install-system-packages)"
}

# -- installation --------------------------------------------------------------------------

# One line that changes with the checkout and with the Python that runs it.
fingerprint() {
    "$python" - "$root" <<'END'
import hashlib, pathlib, sys

root = pathlib.Path(sys.argv[1])
digest = hashlib.sha256(sys.version.encode())
for name in ("pyproject.toml", "trayagent", "manifests", "icons", "sounds"):
    place = root / name
    for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"{path.relative_to(root)}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
print(digest.hexdigest())
END
}

install() {
    wanted=$(fingerprint)
    if [ "$(cat "$home/installed" 2>/dev/null)" = "$wanted" ] && "$venv/bin/trayagent" version >/dev/null 2>&1; then
        return
    fi
    say "installing into $venv"
    mkdir -p "$home"
    rm -f "$home/installed"
    "$venv/bin/python" -c 'import pip' 2>/dev/null || {
        rm -rf "$venv"
        "$python" -m venv "$venv"
    }
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-input --retries 5 "$root" ||
        fail 'pip could not install; its message is above. Is the network there?'
    "$venv/bin/trayagent" version >/dev/null || fail 'the installation does not start; its message is above'
    printf '%s\n' "$wanted" >"$home/installed"
}

make_link() {
    if [ -e "$link" ] && [ ! -L "$link" ]; then
        say "$link is something else; the command is $venv/bin/trayagent"
        return
    fi
    if [ "$(readlink "$link" 2>/dev/null)" != "$venv/bin/trayagent" ]; then
        mkdir -p "$(dirname "$link")"
        ln -sf "$venv/bin/trayagent" "$link"
    fi
    case :$PATH: in
        *:"$(dirname "$link")":*) ;;
        *) say "the command is $link, whose folder is not in your PATH" ;;
    esac
}

require_python
install
make_link
have tmux || say 'no tmux found yet; its panes are watched once it runs'
if [ "$start" = no ]; then
    say "installed; start it with:  $venv/bin/trayagent"
    exit 0
fi
exec "$venv/bin/trayagent" "$@"
