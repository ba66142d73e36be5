"""The schema as text: a file with everything in it (`config init`), a reference (`config schema`)."""

from __future__ import annotations

from typing import Any

from trayagent.config import schema

_HEAD = """\
# trayagent's configuration. It is read again whenever it is saved.
#
# Everything below is the default. To change something, remove the `# ` in front of its key,
# or say: trayagent config set KEY VALUE. `trayagent config check` tells what is wrong, and
# `trayagent config schema` what may be written.
"""


def example() -> str:
    """A file with every section, and every key in a comment with its default."""
    lines = [_HEAD]
    for name in schema.children(""):
        lines += [*_group(name, 0), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _group(path: str, depth: int) -> list[str]:
    indent, inner = "  " * depth, "  " * (depth + 1)
    lines = [f"{indent}# {schema.GROUP_BY_PATH[path].doc}", f"{indent}{path.rpartition('.')[2]}:"]
    for name in schema.children(path):
        below = f"{path}.{name}"
        if below in schema.GROUP_BY_PATH:
            lines += _group(below, depth + 1)
        else:
            key = schema.BY_PATH[below]
            lines += [f"{inner}# {key.doc}", f"{inner}# {name}: {key.type.example(key.default)}"]
    return lines


def reference() -> list[dict[str, Any]]:
    """Each key with its form, default (as it would be written) and doc, in the file's order."""
    return [
        {"key": key.path, "form": key.type.form, "default": key.type.example(key.default), "doc": key.doc}
        for key in schema.KEYS
    ]
