"""Clustering by terms, and the pictures of it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from radgauge.core.errors import InputError, UsageError
from radgauge.lab.training.clusters import Clusters, cluster_terms, usable_terms
from radgauge.lab.training.pair_files import curves_svg, plane_svg

pytestmark = pytest.mark.long

GROUPS = [("normal",)] * 6 + [("lung/hypoinflation",)] * 4 + [("spine/degenerative", "aorta/tortuous")] * 2


def test_unusable_terms_are_dropped() -> None:
    assert usable_terms(["No Indexing", "Technical Quality of Image  Unsatisfactory", "Normal"]) == ("normal",)


def test_equal_terms_share_a_cluster_and_clusters_are_numbered_by_size() -> None:
    found = cluster_terms(GROUPS, k=3)
    assert found.labels.tolist() == [0] * 6 + [1] * 4 + [2] * 2
    assert found.sizes == [6, 4, 2]
    assert found.prominent[2] == (("spine/degenerative aorta/tortuous", 2),)


def test_the_number_of_clusters_is_chosen_and_the_choice_repeats(clusters: Clusters, reports) -> None:
    terms = [report.terms for report in reports]
    first, second = (cluster_terms(terms, k_range=(2, 6), seed=3) for _ in range(2))
    assert first.k in range(3, 6)  # the ends of the range cannot be an elbow
    assert [trial.k for trial in first.trials] == [2, 3, 4, 5, 6]
    np.testing.assert_array_equal(first.labels, second.labels)


def test_one_cluster_is_possible() -> None:
    one = cluster_terms(GROUPS, k=1)
    assert one.sizes == [12]
    assert "silhouette: not defined" not in curves_svg(one)  # other numbers of clusters are drawn beside it
    alike = cluster_terms([("normal",)] * 4)
    assert alike.sizes == [4]
    assert "silhouette: not defined" in curves_svg(alike)


def test_curves_are_drawn_for_a_number_that_was_given() -> None:
    found = cluster_terms([*GROUPS, ("cardiomegaly",), ("aorta",)], k=3)
    assert [trial.k for trial in found.trials] == [2, 3, 4, 5]
    assert found.k == 3


def test_a_report_per_cluster_has_no_silhouette_and_is_not_chosen() -> None:
    terms = [("normal",), ("cardiomegaly",), ("aorta/tortuous",)]
    assert np.isnan(cluster_terms(terms, k=3).trials[-1].silhouette)
    assert cluster_terms(terms).k == 2


def test_too_many_clusters_are_refused() -> None:
    with pytest.raises(InputError, match="4 clusters need at least 4"):
        cluster_terms(GROUPS, k=4)
    with pytest.raises(UsageError, match="the range must rise, got 5 to 3"):
        cluster_terms(GROUPS, k_range=(5, 3))


def test_terms_without_words_are_refused() -> None:
    with pytest.raises(InputError, match="the terms must hold words"):
        cluster_terms([("/",), ("-",)], k=2)


def test_pictures_are_valid_and_escaped(clusters: Clusters) -> None:
    odd = Clusters(clusters.labels, clusters.trials, clusters.plane, clusters.explained, ((("<b> & x", 1),),) * 3)
    for picture in (curves_svg(clusters), plane_svg(odd)):
        root = ElementTree.fromstring(picture)
        assert root.tag.endswith("svg")
    marks = [each for each in ElementTree.fromstring(plane_svg(odd)) if "dot" in each.get("class", "")]
    assert len(marks) == len(clusters.labels)
