"""`config set`: change one value in the text, and nothing else.

Comments, order, anchors and line ends stay (place.py does the surgery). Every edit is proved
before it is handed back: the new text is read again, and must give the wanted value, all other
values as they were, and no new problem. What cannot be proved is refused and left to an editor.
"""

from __future__ import annotations

from trayagent.config import schema
from trayagent.config.nodes import Mapping, Node, compose
from trayagent.config.parse import Parsed, parse
from trayagent.config.place import EditRefused, Placer, key_text, quoted
from trayagent.config.problems import did_you_mean

__all__ = ["EditRefused", "get_value", "set_value"]


def set_value(text: str, path: str, value: str) -> str:
    """The text with `path` set to `value` (written as in YAML). Raises EditRefused."""
    before = parse(text)
    if before.errors:
        first = before.errors[0]
        raise EditRefused(f"line {first.line}: {first.text}; mend that first: trayagent config edit")
    root, _ = compose(text)
    path = _full_path(path, root)
    names = tuple(path.split("."))
    if path in schema.BY_PATH or path in schema.GROUP_BY_PATH:
        pass
    elif (key := _open_key(path)) is not None:
        names = (*key.path.split("."), *_below(key, path))
    else:
        near = did_you_mean(path, schema.BY_PATH)
        raise EditRefused(f"{path} is not known{near}; all keys: trayagent config schema")
    wanted = _alone(names, value)
    refused = EditRefused(f"{path} cannot be set without changing more than it; use: trayagent config edit")
    for written in dict.fromkeys((value.strip(), quoted(value))):
        for below_comment in (True, False):
            if not written or "\n" in written:
                continue
            after = Placer(text, names, written, below_comment).placed(root)
            if _proved(before, after, names, wanted):
                return after
    raise refused


def _full_path(path: str, root: Node | None) -> str:
    """`quiet_hours` means its spans, unless the file has it in the short form."""
    group = schema.GROUP_BY_PATH.get(path)
    if group is None or group.short is None or group.short[1] == path:
        return path
    entry = root.own(path) if isinstance(root, Mapping) else None
    if entry is None or isinstance(entry[1], Mapping) or getattr(entry[1], "empty", False):
        return group.short[1]
    return path


def _open_key(path: str) -> schema.Key | None:
    return next((key for key in schema.KEYS if key.type.open and path.startswith(f"{key.path}.")), None)


def _below(key: schema.Key, path: str) -> tuple[str, ...]:
    """The names below a mapping of the user's own: a name (a project's may hold dots), and a switch."""
    rest = path[len(key.path) + 1 :]
    name, dot, last = rest.rpartition(".")
    return (name, last) if dot and last in ("blocked", "error", "done") and name else (rest,)


def _alone(names: tuple[str, ...], value: str) -> Parsed:
    """The value in a file of its own, as it is or quoted; raises EditRefused with the schema's words."""
    refused = None
    head = "\n".join(f"{'  ' * depth}{key_text(name)}:" for depth, name in enumerate(names))
    for written in (value.strip(), quoted(value)):
        parsed = parse(f"{head} {written}\n")
        problem = next((problem for problem in parsed.problems if problem.error or problem.kind), None)
        if problem is None:
            return parsed
        refused = refused or problem
    assert refused is not None
    raise EditRefused(f"{refused.key or '.'.join(names)}: {refused.text}")


def _proved(before: Parsed, text: str, names: tuple[str, ...], wanted: Parsed) -> bool:
    """The new text has no new problem, the wanted value, and every other value as before."""
    after = parse(text)
    if after.settings is None or before.settings is None or wanted.settings is None:
        return False
    known = {(problem.key, problem.text) for problem in (*before.problems, *wanted.problems)}
    if any((problem.key, problem.text) not in known for problem in after.problems):
        return False
    path = ".".join(names)
    for key in schema.KEYS:
        old, new, now = (schema.get(parsed.settings, key.target) for parsed in (before, wanted, after))
        if key.type.open and path.startswith(f"{key.path}."):
            name = names[key.path.count(".") + 1]
            same = _only_changed(dict(old), dict(new), dict(now), name, len(names) > key.path.count(".") + 2)
        else:
            same = now == (new if path == key.path or key.path.startswith(f"{path}.") else old)
        if not same:
            return False
    return True


def _only_changed(
    old: dict[str, object], new: dict[str, object], now: dict[str, object], name: str, inner: bool
) -> bool:
    """Of a mapping with the user's own names, only `name` changed; `inner`: a part of its value."""
    others = {other: value for other, value in old.items() if other != name}
    found = {other: value for other, value in now.items() if other != name}
    return others == found and name in now and (inner or now[name] == new.get(name))


def get_value(parsed: Parsed, path: str) -> str | None:
    """The value in force at a key, as YAML would write it; None for an unknown key."""
    key = schema.BY_PATH.get(path)
    if key is None or parsed.settings is None:
        return None
    return key.type.example(schema.get(parsed.settings, key.target))
