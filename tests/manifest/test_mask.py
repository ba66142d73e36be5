"""Secrets are masked; what a person must read to decide is not."""

from __future__ import annotations

import pytest

from trayagent.manifest.mask import MASK, mask


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('curl -H "Authorization: Bearer abc.DEF-123" x', f'curl -H "Authorization: Bearer {MASK}" x'),
        ("curl -H 'authorization: token abc' x", f"curl -H 'authorization: token {MASK}' x"),
        ("send bearer abcdef123456", f"send bearer {MASK}"),
        ("git clone https://me:hunter2@host/x.git", f"git clone https://me:{MASK}@host/x.git"),
        ("psql postgres://app:p%40ss@db:5432/x", f"psql postgres://app:{MASK}@db:5432/x"),
        ("export OPENAI_API_KEY=abc && ls", f"export OPENAI_API_KEY={MASK} && ls"),
        ('DB_PASSWORD="a b c" make', f"DB_PASSWORD={MASK} make"),
        ("mysql --password hunter2 -u root", f"mysql --password {MASK} -u root"),
        ("tool --auth-token=abc go", f"tool --auth-token={MASK} go"),
        ('{"client_secret": "abc", "x": 1}', f'{{"client_secret": {MASK}, "x": 1}}'),
        ("url: https://x.y/?api_key=12345&page=1", f"url: https://x.y/?api_key={MASK}&page=1"),
        ("curl -u me:secret https://x", f"curl -u me:{MASK} https://x"),
        ("echo sk-proj-abcdefghijkl1234", f"echo sk-proj-{MASK}"),
        ("echo ghp_abcdefghijklmnop12", f"echo ghp_{MASK}"),
        ("echo AKIAIOSFODNN7EXAMPLE", f"echo AKIA{MASK}"),
        ("echo eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.abcdef", f"echo eyJ{MASK}"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc", MASK),
        ("echo q8Zx1LmN0pRt2VwX4yZa6BcD8eFgH1jK", f"echo {MASK}"),
    ],
)
def test_a_secret_is_masked(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf build && mkdir -p build/out",
        "Which database should the service use?",
        "Which token should the parser skip?",
        "Do you want to make this edit to password_form.py?",
        "git checkout 3abbc5e1234567890abcdef1234567890abcdef1",
        "docker pull app@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "cat /home/dev/Projects/SomeVeryLongFolderName2/AnotherOne3/File4",
        "pytest tests/test_tokens.py::test_secret_is_kept",
        "ssh-keygen -t ed25519",
        "550e8400-e29b-41d4-a716-446655440000",
        "⠹ naïve … ❯",
        "",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert mask(text) == text


def test_masking_again_changes_nothing() -> None:
    once = mask("export TOKEN=abc https://u:p@h --password x")
    assert mask(once) == once
