"""What identity knows about programs that are not agents: the interpreters that run them, the
package runners that fetch them, and the launchers that stay in front while they run.

Everything here is a table over base names (lower case, without extension, see argv.base_name).
"""

from __future__ import annotations

from dataclasses import dataclass

# Dropped from a base name once; `.exe` and its kin come from Windows paths.
EXTENSIONS = (".exe", ".cmd", ".bat", ".ps1", ".js", ".mjs", ".cjs", ".ts", ".py")


def _set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Runtime:
    """How an interpreter's own options are told from the script that it runs.

    words: subcommands in front of the script. values: options that take the next argument.
    inline: options that carry code instead of a script. module: options that name a module.
    command: options whose value is a command line of which the first word is run.
    clusters: boolean one-letter options that may stand before another one (`-Im`).
    """

    words: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    inline: frozenset[str] = frozenset()
    module: frozenset[str] = frozenset()
    command: frozenset[str] = frozenset()
    clusters: str = ""
    shell: bool = False


_POSIX_SHELL = Runtime(
    values=frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"}),
    inline=frozenset({"-c"}),
    clusters="abefhiklmnprstuvxBCDEHPT",
    shell=True,
)

RUNTIMES: dict[str, Runtime] = {
    "node": Runtime(
        words=frozenset({"inspect"}),
        values=_set(
            "-r --require --loader --import --experimental-loader --inspect-port -C --conditions "
            "--title --env-file --env-file-if-exists --icu-data-dir --openssl-config"
        ),
        inline=frozenset({"-e", "--eval", "-p", "--print", "-pe"}),
    ),
    "bun": Runtime(
        words=frozenset({"run"}),
        values=_set(
            "-r --preload --require --import --cwd -c --config --env-file -d --define -l --loader "
            "-F --filter --inspect-port"
        ),
        inline=frozenset({"-e", "--eval", "-p", "--print"}),
    ),
    "deno": Runtime(
        words=frozenset({"run"}),
        values=frozenset({"-c", "--config", "--import-map", "--lock", "--cert", "--env-file", "--ext"}),
        inline=frozenset({"eval"}),
    ),
    "tsx": Runtime(
        words=frozenset({"watch"}),
        values=frozenset({"--tsconfig", "-r", "--require", "--import"}),
        inline=frozenset({"-e", "--eval", "-p", "--print"}),
    ),
    "python": Runtime(
        values=frozenset({"-W", "-X", "--check-hash-based-pycs"}),
        inline=frozenset({"-c"}),
        module=frozenset({"-m"}),
        clusters="bBdEhiIOPqRsSuvVx",
    ),
    "sh": _POSIX_SHELL,
    "fish": Runtime(
        values=frozenset(
            {"-C", "--init-command", "-d", "--debug", "-o", "--debug-output", "-f", "--features"}
        ),
        inline=frozenset({"-c", "--command"}),
        clusters="ilnNPv",
        shell=True,
    ),
    "powershell": Runtime(
        words=frozenset({"-file", "-f"}),
        values=frozenset({"-executionpolicy", "-ep", "-version", "-workingdirectory", "-windowstyle"}),
        inline=frozenset({"-encodedcommand", "-e", "-ec"}),
        command=frozenset({"-command", "-c"}),
        shell=True,
    ),
    "cmd": Runtime(command=frozenset({"/c", "/k"}), shell=True),
}

# Other names of the same interpreters; `python3.12` and `node22` are folded by argv.family.
FAMILIES: dict[str, str] = {
    **{name: name for name in RUNTIMES},
    "nodejs": "node",
    "ts-node": "tsx",
    "pypy": "python",
    **dict.fromkeys(("bash", "zsh", "dash", "ash", "ksh", "mksh", "oksh", "yash", "busybox"), "sh"),
    **dict.fromkeys(("tcsh", "csh", "nu", "elvish", "xonsh"), "sh"),
    "pwsh": "powershell",
}


@dataclass(frozen=True, slots=True)
class Runner:
    """A program that fetches a package and runs its command.

    words: the subcommands one of which must come first; empty: none is needed. values: options
    that take the next argument. packages: options that name the package of which the
    first plain argument is a command. inline: options that carry a shell command.
    """

    words: frozenset[tuple[str, ...]] = frozenset()
    values: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    inline: frozenset[str] = frozenset()


_NPM_VALUES = _set(
    "--prefix --registry --cache --userconfig --loglevel -w --workspace --script-shell --node-options"
)
_NPM_EXEC = Runner(
    values=_NPM_VALUES, packages=frozenset({"-p", "--package"}), inline=frozenset({"-c", "--call"})
)
_UV_VALUES = _set(
    "--with --with-editable --with-requirements -p --python --index-url -i --index --default-index "
    "--extra-index-url --cache-dir --directory --project --env-file --refresh-package -P -c --constraints "
    "--color --config-file --extra --group"
)

RUNNERS: dict[str, Runner] = {
    "npx": _NPM_EXEC,
    "npx-cli": _NPM_EXEC,
    "pnpx": _NPM_EXEC,
    "npm": Runner(frozenset({("exec",), ("x",)}), _NPM_VALUES, _NPM_EXEC.packages, _NPM_EXEC.inline),
    "npm-cli": Runner(frozenset({("exec",), ("x",)}), _NPM_VALUES, _NPM_EXEC.packages, _NPM_EXEC.inline),
    "pnpm": Runner(
        frozenset({("dlx",), ("exec",)}),
        _NPM_VALUES | {"-C", "--dir", "--filter", "-F"},
        frozenset({"--package"}),
        frozenset({"-c", "--shell-mode"}),
    ),
    "yarn": Runner(frozenset({("dlx",), ("exec",)}), frozenset({"--cwd"}), frozenset({"-p", "--package"})),
    "bunx": Runner(packages=frozenset({"-p", "--package"})),
    "bun": Runner(frozenset({("x",)}), frozenset({"--cwd"}), frozenset({"-p", "--package"})),
    "uvx": Runner(values=_UV_VALUES, packages=frozenset({"--from"})),
    "uv": Runner(
        frozenset({("tool", "run"), ("run",)}),
        _UV_VALUES,
        frozenset({"--from"}),
        frozenset({"-m", "--module"}),
    ),
    "pipx": Runner(
        frozenset({("run",)}),
        frozenset({"--python", "--index-url", "-i", "--pip-args", "--with"}),
        frozenset({"--spec"}),
    ),
}

# Programs that run another and stay in front of it; its children are looked at.
LAUNCHERS = _set(
    "timeout sudo doas su runuser nohup nice setsid env script stdbuf unbuffer expect chrt ionice taskset "
    "numactl prlimit time strace ltrace setarch linux64 systemd-run systemd-inhibit gnome-session-inhibit "
    "dbus-run-session xvfb-run proxychains proxychains4 torsocks faketime rlwrap caffeinate entr watchexec "
    "flock unshare nsenter bwrap firejail chroot fakeroot "
    "npm npx pnpm pnpx yarn bunx uv uvx corepack pipx poetry pdm hatch rye pixi conda micromamba "
    "mise asdf volta fnm nvm rtx nix nix-shell direnv devbox devenv guix "
    "op doppler infisical aws-vault chamber dotenv dotenvx make just task mask trayagent"
)

# Launchers that give their child a terminal of its own: the child is in front of that one.
OWN_TERMINAL = frozenset({"sudo", "doas", "su", "runuser", "script", "unbuffer", "expect", "trayagent"})

# Subcommands with which an agent's binary is a service for other programs, not a pane's agent.
SERVICES = frozenset({"mcp", "mcp-server", "app-server", "acp", "lsp", "serve"})

# Scripts of a package that build or install it; and folders that hold such.
BUILD_SCRIPTS = _set(
    "install preinstall postinstall prepare prepack build setup test bundle release publish check lint"
)
BUILD_FOLDERS = frozenset(
    {"scripts", "script", "test", "tests", "spec", "build", "ci", ".github", "examples"}
)

# Folders directly below which a component names a package.
PACKAGE_FOLDERS = frozenset({"node_modules", "site-packages", "dist-packages"})

# Environment variables by which a user says whose pane this is, strongest first.
HINTS = ("TRAYAGENT_AGENT", "HERDR_AGENT", "TUIOS_AGENT")

# How far below a launcher is looked, as the peers do it: enough for sudo -> timeout -> npx -> sh.
MAX_LEVELS = 4
MAX_PROCESSES = 24
