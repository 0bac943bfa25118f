"""A structure that shows no finding: the finding is denied, and it is that of the structure."""

from __future__ import annotations

import pytest

from radgauge.reader import read_report


@pytest.mark.parametrize("verb", ["show", "have", "demonstrate", "reveal"])
def test_what_a_structure_does_not_show_is_its_own(verb: str) -> None:
    (found,) = [m for m in read_report(f"The lungs {verb} no edema.").mentions if m.kind != "anatomy"]
    assert (found.concept, found.assertion) == ("pulmonary_edema", "absent")
