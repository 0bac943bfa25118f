"""Sample reports: what `radgauge demo` and the examples run on.

NOTICE. Every text here was written for this project. The studies, patients and systems are invented; none of
the sentences comes from a patient's report or from a published data set.

`reports.csv` holds one row per study and system (id, reference, candidate, system, section, modality, age, sex,
indication). Four systems answer every study:

- `careful` says the same in other words and makes a small mistake now and then;
- `hasty` leaves findings out, confuses sides and degrees, and turns negations round;
- `confabulator` adds devices, findings and comparisons that are not there;
- `template` gives the same normal report for every study of a kind.

Two candidates are empty. `defects.csv` (id, system, kind, note) says what was planted where: one row per defect,
or one row of kind `faithful`.

`rewrites.tsv` holds statements of all body regions, each said in other words and turned into its opposite: a judge
that reads gives the rewrite more than the opposite.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def sample_reports_path() -> Path:
    """The CSV file of the sample reports.

    >>> sample_reports_path().name
    'reports.csv'
    """
    return Path(str(files(__name__) / "reports.csv"))


def sample_defects_path() -> Path:
    """The CSV file that names the defects planted in the sample reports.

    >>> sample_defects_path().name
    'defects.csv'
    """
    return Path(str(files(__name__) / "defects.csv"))


def sample_rewrites_path() -> Path:
    """The TSV file of statements, rewrites and opposites.

    >>> sample_rewrites_path().name
    'rewrites.tsv'
    """
    return Path(str(files(__name__) / "rewrites.tsv"))
