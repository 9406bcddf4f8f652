"""What tests of several rooms share: a stage for matches of real processes, of which none may be left."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.table.keep.orphans import children
from tests.table.hosting import Stage, marked, orphanage, strays


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A stage whose processes carry its path in their environment; none of them is left at the end."""
    if sys.platform != "linux":
        pytest.skip("looks into /proc")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = children(os.getpid())
    with orphanage():
        yield Stage(tmp_path)
        assert not marked(str(tmp_path))
        assert not strays(before)
