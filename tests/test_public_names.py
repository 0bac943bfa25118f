"""What `import radgauge` offers: changing it is a decision, not an accident."""

from __future__ import annotations

import radgauge

NAMES = """
__version__
Case read_cases write_cases read_report
Reader Readings Progress Cache
Metric Explanation Note load metric_names
Scores Results score explain read_scores write_scores summarise compare oracle agree failure_modes read_judgments
fit_errors fit_radcliq fit_ratescore fit_vlscore register_encoder
build_report write_report
RadgaugeError InputError UsageError ModelError MissingExtra
"""


def test_public_names() -> None:
    assert sorted(radgauge.__all__) == sorted(NAMES.split())


def test_every_public_name_exists() -> None:
    for name in radgauge.__all__:
        assert getattr(radgauge, name) is not None
    assert dir(radgauge) == sorted(radgauge.__all__)


def test_modules_do_not_hide_the_functions_of_their_name() -> None:
    import radgauge.analysis.agreement
    import radgauge.analysis.compare
    import radgauge.analysis.oracle
    import radgauge.run.explain

    assert all(callable(getattr(radgauge, name)) for name in ("agree", "compare", "explain", "oracle"))
