"""Names of tmux panes on the command line."""

from __future__ import annotations

import pytest

from trayagent.model.keys import PaneKey, ServerKey
from trayagent.sources.tmux import names

HOME = ServerKey("tmux", "/tmp/tmux-0/default", 10, 100)
WORK = ServerKey("tmux", "/tmp/tmux-0/work", 20, 200)
TWIN = ServerKey("tmux", "/srv/x y:%3/work", 30, 300)
PANES = [PaneKey(HOME, "%1"), PaneKey(HOME, "%2"), PaneKey(WORK, "%2"), PaneKey(WORK, "%7")]


def test_a_pane_is_called_by_its_sockets_base_name_and_its_id():
    assert names.text(PANES[0], {HOME, WORK}) == "default:%1"


def test_servers_that_share_a_base_name_are_called_by_their_path():
    assert names.text(PaneKey(TWIN, "%2"), {WORK, TWIN}) == "/srv/x y:%3/work:%2"
    assert names.text(PANES[0], {HOME, WORK, TWIN}) == "default:%1"


def test_every_pane_is_found_by_its_own_name():
    panes = [*PANES, PaneKey(TWIN, "%2"), PaneKey(TWIN, "%7")]
    known = {pane.server for pane in panes}
    assert [names.parse(names.text(pane, known), panes) for pane in panes] == panes


def test_an_id_alone_is_enough_where_it_is_unique():
    assert names.parse("%7", PANES) == PaneKey(WORK, "%7")


def test_a_name_of_several_panes_names_them_all():
    with pytest.raises(LookupError, match="%2 is one of default:%2, work:%2"):
        names.parse("%2", PANES)
    twins = [PaneKey(WORK, "%2"), PaneKey(TWIN, "%2")]
    with pytest.raises(LookupError, match=r"/srv/x y:%3/work:%2, /tmp/tmux-0/work:%2"):
        names.parse("work:%2", twins)


def test_a_name_of_nobody_says_so():
    for name in ("%9", "default:%7", "elsewhere:%1"):
        with pytest.raises(LookupError, match="there is no pane"):
            names.parse(name, PANES)


@pytest.mark.parametrize("name", ["", "5", "%", "%x", "/dev/pts/3", "default", "default:5", "%1 ", "%١"])
def test_what_is_no_pane_name_is_told_from_a_missing_pane(name):
    with pytest.raises(ValueError, match="is not a tmux pane"):
        names.parse(name, PANES)


def test_panes_of_other_sources_are_never_meant():
    with pytest.raises(LookupError):
        names.parse("%1", [PaneKey(ServerKey("bare", "/dev/pts/1", 1, 1), "%1")])
