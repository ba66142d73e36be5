"""`manifests`: what is in use and why, what is wrong in files of any dialect, export, updates."""

from __future__ import annotations

import hashlib
import http.server
import json
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Result
from tests.manifest.foreign import JACKIN, TUIOS
from trayagent import resources

Run = Callable[..., Result]

RULE = '[[rules]]\nid = "{0}"\nstate = "idle"\ncontains = ["x"]\n'


def rows(run: Run) -> dict[str, dict[str, object]]:
    return {row["id"]: row for row in json.loads(run("manifests", "list", "--json").out)}


@pytest.fixture
def tools(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder in which other tools keep their rules; two of them are imported."""
    monkeypatch.setenv("HOME", str(home))
    harnesses = home / ".config" / "tuios" / "harnesses"
    harnesses.mkdir(parents=True)
    (harnesses / "cc.toml").write_text(
        TUIOS.replace('"demo"', '"claude-code"')
        + '[screen]\nenabled = true\n[[screen.rule]]\nstate = "needs_input"\nall = ["Ship it?"]\n'
    )
    packs = home / ".jackin" / "agent-status" / "packs"
    packs.mkdir(parents=True)
    rule = '[[rule]]\nid = "r"\nstate = "idle"\npriority = 1\nregion = "bottom:9"\n'
    (packs / "codex.toml").write_text(JACKIN.replace('"demo"', '"codex"') + rule + "forbids_any = ['x']\n")
    config = home / "config" / "trayagent"
    config.mkdir(parents=True)
    (config / "config.yaml").write_text("manifests: {import: [tuios, jackin]}\n")
    return home


def test_list_tells_where_rules_come_from_and_what_they_stand_before(run: Run, tools: Path) -> None:
    found = rows(run)
    assert (found["claude"]["source"], found["claude"]["dialect"]) == ("tuios", "tuios")
    assert (found["codex"]["source"], found["codex"]["dialect"]) == ("jackin", "jackin")
    (shadowed,) = found["claude"]["shadows"]  # type: ignore[misc]
    assert (shadowed["source"], Path(shadowed["path"]).name) == ("bundled", "claude.toml")  # type: ignore[index]
    assert found["opencode"]["source"] == "bundled"
    text = run("manifests", "list")
    assert "not in use:" in text.out
    assert "forbids_any" in text.err


def test_show_tells_the_rules_in_force_in_the_order_in_which_they_are_asked(run: Run, tools: Path) -> None:
    text = run("manifests", "show", "claude-code").out
    assert "contains 'Ship it?' (this case)" in text
    assert "source   tuios" in text
    assert "no opinion  where no rule matches" in text
    data = json.loads(run("manifests", "show", "opencode", "--json").out)
    priorities = [rule["priority"] for rule in data["rules"]]
    assert priorities == sorted(priorities, reverse=True)
    assert "opencode" in data["detect"]["names"]


def test_check_names_file_rule_key_and_line_in_every_dialect(run: Run, home: Path) -> None:
    files = {
        "native.toml": ('id = "x"\n[[rules]]\nid = "r"\ncontans = ["x"]\n', ("rule 'r'", "contans", ":4")),
        "native.yaml": ("id: x\nrules:\n  - id: r\n    priority: high\n", ("rule 'r'", "priority", ":4")),
        "tuios.toml": (
            f"{TUIOS}[screen]\nenabled = true\n[[screen.rule]]\nstate = 'busy'\nall = ['x']\n",
            ("rule 'screen.1'", "state", ":8"),
        ),
        "jackin.toml": (
            f"{JACKIN}[[rule]]\nid = 'asks'\nstate = 'blocked'\npriority = 1\nregion = 'top:3'\n",
            ("rule 'asks'", "region", ":9"),
        ),
        "ide.json": (
            '{"id": "x", "commands": ["x"],\n "states": {\n"blocked": {"any": [\n{"regex": "a(?=b)"}]}}}',
            ("rule 'blocked'", "regex", ":4", "look-ahead"),
        ),
    }
    for name, (text, words) in files.items():
        path = home / name
        path.write_text(text)
        result = run("manifests", "check", str(path))
        assert result.code == 1
        assert all(word in result.out for word in (str(path), *words)), result.out


def test_check_tells_what_is_merely_odd_and_accepts_the_file(run: Run, tools: Path) -> None:
    result = run("manifests", "check")
    assert result.code == 0
    assert "forbids_any: unknown key" in result.out
    assert "(not fatal)" in result.out
    (problem,) = json.loads(run("manifests", "check", "--json").out)
    assert (problem["rule"], problem["key"], problem["line"]) == ("r", "forbids_any", 10)


def test_check_tells_that_two_files_claim_one_process(run: Run, home: Path) -> None:
    own = home / "config" / "trayagent" / "manifests"
    own.mkdir(parents=True)
    (own / "zz.toml").write_text('id = "zz"\n[detect]\nnames = ["codex"]\n' + RULE.format("r"))
    result = run("manifests", "check")
    assert (result.code, "'codex' of zz belongs to codex already" in result.out) == (0, True)


def test_check_reads_a_folder_of_herdrs_newest_layout(run: Run, home: Path) -> None:
    folder = home / "demo"
    folder.mkdir()
    (folder / "detection.toml").write_text('id = "demo"\n' + RULE.format("r"))
    (folder / "process.toml").write_text('names = "demo"\n')
    result = run("manifests", "check", str(folder))
    assert result.code == 1
    assert f"{folder / 'process.toml'}:1: names: must be a list" in result.out


def test_check_of_a_file_that_is_not_there_or_no_manifest(run: Run, home: Path) -> None:
    (home / "notes.md").write_text("x")
    assert "cannot be read" in run("manifests", "check", str(home / "none.toml")).out
    assert "must end in .toml" in run("manifests", "check", str(home / "notes.md")).out


def test_export_writes_rules_for_herdr_and_tells_what_is_left_out(run: Run, home: Path) -> None:
    out = home / "claude.toml"
    result = run("manifests", "export", "claude", "--herdr", "--out", str(out))
    assert (result.code, result.out) == (0, "")
    assert "errors here, idle there" in result.err
    assert run("manifests", "check", str(out)).out == "All in order.\n"
    assert run("manifests", "export", "claude", "--herdr").out == out.read_text()
    assert run("manifests", "export", "claude").code == 2


def test_a_foreign_file_is_not_exported(run: Run, tools: Path) -> None:
    result = run("manifests", "export", "claude", "--herdr")
    assert result.code == 1
    assert "format of tuios" in result.err


# -- updates -------------------------------------------------------------------------------------


class Source:
    """A folder with an index, as somebody would publish it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.entries: list[str] = []
        folder.mkdir(exist_ok=True)

    def add(self, agent: str, version: str, rule: str = "update", **changes: object) -> None:
        text = f'id = "{agent}"\nversion = "{version}"\nmin_engine_version = 3\n{RULE.format(rule)}'
        text += '[hooks]\nfields = ["evil"]\n'
        (self.folder / f"{agent}.toml").write_text(text)
        values = {"id": agent, "path": f"{agent}.toml", "version": version, "min_engine_version": 3,
                  "sha256": hashlib.sha256(text.encode()).hexdigest(), **changes}  # fmt: skip
        self.entries.append(
            "\n".join(["[[agents]]", *(f"{key} = {value!r}" for key, value in values.items())])
        )
        (self.folder / "index.toml").write_text("\n".join(["schema_version = 1", *self.entries]))


@pytest.fixture
def source(home: Path) -> Source:
    return Source(home / "published")


def update(run: Run, source: Source, *args: str) -> Result:
    return run("manifests", "update", "--from", str(source.folder), *args)


def test_an_update_serves_at_once_without_hooks_and_rollback_undoes_it(
    run: Run, source: Source, home: Path
) -> None:
    source.add("claude", "9999.1")
    result = update(run, source)
    assert result.code == 0
    assert "claude: " in result.out
    row = rows(run)["claude"]
    assert (row["source"], row["version"], row["rules"]) == ("updated", "9999.1", 1)
    hooks = json.loads(run("manifests", "show", "claude", "--json").out)["hooks"]
    bundled = json.loads(run("manifests", "show", "claude", "--json").out)
    assert "evil" not in json.dumps(bundled)
    assert run("manifests", "rollback").out == "What came with the program is in force.\n"
    assert rows(run)["claude"]["source"] == "bundled"
    assert json.loads(run("manifests", "show", "claude", "--json").out)["hooks"] == hooks
    assert run("manifests", "rollback").code == 1


def test_versions_are_kept_and_rolled_back_one_by_one(run: Run, source: Source) -> None:
    for number in range(1, 8):
        source.entries.clear()
        source.add("claude", f"9999.{number}")
        assert update(run, source).code == 0
    assert rows(run)["claude"]["version"] == "9999.7"
    for number in (6, 5, 4, 3):
        assert run("manifests", "rollback").out == f"Version {number} is in force.\n"
        assert rows(run)["claude"]["version"] == f"9999.{number}"
    assert run("manifests", "rollback").out == "What came with the program is in force.\n"


def test_one_bad_file_and_nothing_is_taken(run: Run, source: Source, home: Path) -> None:
    source.add("claude", "9999.1")
    source.add("codex", "9999.1", sha256="0" * 64)
    result = update(run, source)
    assert result.code == 1
    assert "codex.toml" in result.err
    assert "nothing was taken" in result.err
    assert rows(run)["claude"]["source"] == "bundled"
    assert not (home / "state" / "trayagent" / "manifests").exists()


def test_what_is_older_is_passed_over(run: Run, source: Source) -> None:
    source.add("claude", "1.0")
    result = update(run, source)
    assert (result.code, "older than the bundled" in result.out) == (0, True)
    assert "Nothing newer." in result.out
    source.entries.clear()
    source.add("claude", "9999.2", "second")
    update(run, source)
    source.entries.clear()
    source.add("claude", "9999.1", "first")
    source.add("codex", "9999.1")
    assert "older than the update in force" in update(run, source).out
    found = rows(run)
    assert (found["claude"]["version"], found["codex"]["version"]) == ("9999.2", "9999.1")


def test_the_same_again_is_nothing_newer(run: Run, source: Source) -> None:
    source.add("claude", "9999.1")
    update(run, source)
    assert update(run, source).out == "Nothing newer.\n"


def test_a_dry_run_changes_nothing(run: Run, source: Source) -> None:
    source.add("claude", "9999.1")
    assert "Nothing was changed." in update(run, source, "--dry-run").out
    assert rows(run)["claude"]["source"] == "bundled"


def test_the_users_own_file_stays_in_force(run: Run, source: Source, home: Path) -> None:
    own = home / "config" / "trayagent" / "manifests"
    own.mkdir(parents=True)
    (own / "claude.toml").write_text('id = "claude"\n' + RULE.format("mine"))
    source.add("claude", "9999.1")
    update(run, source)
    assert rows(run)["claude"]["source"] == "user"


def test_no_place_is_known_unless_the_user_names_one(run: Run, source: Source, home: Path) -> None:
    result = run("manifests", "update")
    assert result.code == 2
    assert "manifests.update_url" in result.err
    source.add("claude", "9999.1")
    run("config", "set", "manifests.update_url", str(source.folder / "index.toml"))
    assert run("manifests", "update").code == 0
    assert rows(run)["claude"]["source"] == "updated"


def test_a_place_that_is_not_there_or_not_https_is_refused_in_words(run: Run, home: Path) -> None:
    for place in (str(home / "none"), "http://127.0.0.1/index.toml", "file:///etc/passwd"):
        result = run("manifests", "update", "--from", place)
        assert result.code == 1
        assert "Traceback" not in result.err
    assert "only https" in result.err


@pytest.fixture
def https(source: Source, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The source over https, by a server whose certificate is trusted here; `/plain` redirects to http."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here to make a certificate with")
    key, certificate = home / "key.pem", home / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out",
         str(certificate), "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True,
    )  # fmt: skip

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: object, **kwargs: object) -> None:
            super().__init__(*args, directory=str(source.folder), **kwargs)  # type: ignore[arg-type]

        def do_GET(self) -> None:
            if self.path == "/plain/index.toml":
                self.send_response(302)
                self.send_header("Location", "http://localhost/index.toml")
                self.end_headers()
            else:
                super().do_GET()

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("localhost", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setenv("no_proxy", "localhost")
    yield f"https://localhost:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_index_is_read_over_https(run: Run, source: Source, https: str) -> None:
    source.add("claude", "9999.1")
    assert run("manifests", "update", "--from", f"{https}/").code == 0
    assert rows(run)["claude"]["source"] == "updated"


def test_over_https_what_is_missing_or_leads_elsewhere_is_refused(
    run: Run, source: Source, https: str
) -> None:
    missing = run("manifests", "update", "--from", f"{https}/none.toml")
    assert (missing.code, "404" in missing.err) == (1, True)
    plain = run("manifests", "update", "--from", f"{https}/plain/index.toml")
    assert (plain.code, "not https" in plain.err) == (1, True)


def test_a_server_that_nobody_vouches_for_is_refused(
    run: Run, source: Source, https: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.add("claude", "9999.1")
    monkeypatch.delenv("SSL_CERT_FILE")
    result = run("manifests", "update", "--from", f"{https}/index.toml")
    assert (result.code, "certificate" in result.err.lower()) == (1, True)


def test_every_bundled_file_could_be_published_as_an_update_of_itself(run: Run, home: Path) -> None:
    folder = home / "all"
    folder.mkdir()
    lines = ["schema_version = 1"]
    for path in sorted(resources.folder("manifests").glob("*.toml")):
        text = path.read_text().replace('version = "', 'version = "9', 1)
        (folder / path.name).write_text(text)
        if "[[rules]]" not in text:
            continue
        row = json.loads(run("manifests", "show", path.stem, "--json").out)
        digest = hashlib.sha256(text.encode()).hexdigest()
        lines += ["[[agents]]", f'id = "{path.stem}"', f'path = "{path.name}"', f'sha256 = "{digest}"']
        lines += [f'version = "9{row["version"]}"', "min_engine_version = 3"]
    (folder / "index.toml").write_text("\n".join(lines))
    result = run("manifests", "update", "--from", str(folder))
    assert result.code == 0, result.err
