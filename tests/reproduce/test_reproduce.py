"""Every script of reproduce/ runs on an invented file of the right form and prints what the library computes."""

from __future__ import annotations

import importlib
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, ttest_ind

import radgauge as rg
from radgauge.io.judgments import Judgments
from radgauge.stats.coefficients import merge_ties

pytestmark = pytest.mark.long

FOLDER = Path(__file__).parents[2] / "reproduce"
SCRIPTS = {
    "rexval_alignment": ("rexval", 12),
    "rexval_per_radiologist": ("rexval", 48),
    "rexval_radcliq": ("rexval", 7),
    "rexval_errors": ("rexval", 56),
    "rexval_failure_modes": ("rexval", 48),
    "ratescore_table3": ("rexval", 5),
    "vlscore_table1": ("rexval", 9),
    "vlscore_table4": ("rexval", 4),
    "vlscore_table5": ("rexval", 5),
    "comet_table3": ("rexval", 14),
    "comet_table4": ("radevalx", 22),
    "comet_figure3": ("rexval", 8),
    "ratescore_table4": ("rate_eval", 32),
    "ratescore_figure3": ("rate_eval", 8),
    "ratescore_table5": ("rate_ner", 28),
    "ratescore_table6": ("rate_ner", 6),
    "comet_appendix_e": ("radevalx", 19),
    "prior_models": ("generators", 14),
}


def lines(script: str, place: Path) -> dict[str, tuple[float, float, str]]:
    common = importlib.import_module("side_by_side")
    made = importlib.import_module(script).make(common.Settings(place, resamples=10))
    return {line.name: (line.published, line.ours, line.note) for line in made}


def test_every_script_is_tested_and_listed() -> None:
    scripts = {path.stem for path in FOLDER.glob("*.py") if "__main__" in path.read_text()}
    assert set(SCRIPTS) <= scripts
    tests = "\n".join(path.read_text() for path in Path(__file__).parents[1].rglob("test_*.py"))
    assert [name for name in sorted(scripts) if not re.search(rf"\b{name}\b", tests)] == []
    readme = (FOLDER / "README.md").read_text()
    assert [name for name in sorted(scripts) if f"reproduce/{name}.py" not in readme] == []


@pytest.mark.parametrize("script", SCRIPTS)
def test_it_runs_and_explains_every_gap(script: str, request: pytest.FixtureRequest) -> None:
    place, count = SCRIPTS[script]
    found = lines(script, request.getfixturevalue(place))
    assert len(found) == count
    for name, (published, ours, note) in found.items():
        assert not math.isnan(published) or not math.isnan(ours), name
        assert not math.isnan(ours) or note, f"{name}: no number and no reason"


def test_a_coefficient_is_that_of_scipy(rexval: Path) -> None:
    judgments = rg.read_judgments(rexval)
    scores = rg.score(judgments.cases, ["bleu:variant=cxr"])["bleu"]
    rater = judgments.errors["3"].column("errors_significant")
    expected = kendalltau(merge_ties(scores.headline, 1e-6), -rater, nan_policy="omit").statistic
    found = lines("rexval_per_radiologist", rexval)["BLEU, significant errors, radiologist 4"]
    assert found[1] == pytest.approx(expected)
    assert found[0] == 0.433


def test_the_regression_of_radcliq_is_least_squares(rexval: Path) -> None:
    judgments = rg.read_judgments(rexval)
    scores = [
        next(iter(rg.score(judgments.cases, [spec]).judges.values())).headline
        for spec in ("bleu:variant=cxr", "radgraph")
    ]
    errors = judgments.mean_errors().column("errors_total")
    used = ~np.isnan([*scores, errors]).any(axis=0)
    columns = [(values[used] - values[used].mean()) / values[used].std() for values in scores]
    design = np.stack([*columns, np.ones(used.sum())], axis=1)
    weights, residuals, *_ = np.linalg.lstsq(design, errors[used], rcond=None)
    found = {name: ours for name, (_, ours, _) in lines("rexval_radcliq", rexval).items()}
    r2 = 1 - residuals[0] / ((errors[used] - errors[used].mean()) ** 2).sum()
    fitted = ("R2", "coefficient of BLEU", "coefficient of RadGraph F1", "intercept")
    assert [found[name] for name in fitted] == pytest.approx([r2, *weights])


def test_metric_oracles_are_the_best_of_the_training_reports(generators: Path) -> None:
    common = importlib.import_module("side_by_side")
    settings = common.Settings(generators, resamples=10, reports=generators)
    made = {line.name: line.ours for line in importlib.import_module("prior_models").make(settings)}
    oracles = [made[f"metric-oracle model, {name}"] for name in ("BLEU", "BERTScore", "CheXbert", "RadGraph F1")]
    assert oracles == pytest.approx([1, 1, 1, 1])  # the test reports themselves are in this training set


def test_checkpoints_are_fetched_with_consent_alone(
    rexval: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RADGAUGE_MODELS", "XDG_CACHE_HOME", "HF_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setattr("radgauge.encoders.checkpoints.hub.fetch", lambda *_, **__: pytest.fail("fetched"))
    monkeypatch.delenv("RADGAUGE_OFFLINE", raising=False)
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    common = importlib.import_module("side_by_side")
    settings = common.Settings(rexval, resamples=10, models="published")
    notes = [line.note for line in importlib.import_module("rexval_radcliq").make(settings)]
    assert all("433 MB" in note and "--yes" in note for note in notes[:5])


def test_a_table_is_written_to_a_file(rexval: Path, tmp_path: Path) -> None:
    common, script = (importlib.import_module(name) for name in ("side_by_side", "rexval_per_radiologist"))
    path = tmp_path / "s1.csv"
    common.run(
        script.make, title="S1", needs="-", arguments=[str(rexval), "--resamples", "10", "--output", str(path)]
    )
    rows = path.read_text().splitlines()
    assert len(rows) == 49
    assert rows[1].startswith('"BERTScore, total errors, radiologist 1",0.439,')


def test_means_and_p_values_are_those_of_the_counts(rexval: Path) -> None:
    judgments = rg.read_judgments(rexval)
    own = {
        group: np.concatenate([r.of_system(group).column("errors_location") for r in judgments.errors.values()])
        for group in ("bleu", "s_emb")
    }
    means = lines("rexval_errors", rexval)
    assert means["BLEU oracle, all errors, error 3"][1] == pytest.approx(own["bleu"].mean())
    modes = lines("rexval_failure_modes", rexval)
    expected = ttest_ind(own["bleu"], own["s_emb"], alternative="less").pvalue
    assert modes["3(c) locations: BLEU < CheXbert"][1] == pytest.approx(expected)


def taus(judgments: Judgments, spec: str, column: str | None = None, target: str = "total") -> float:
    """Kendall tau-b by scipy of an output with the mean radiologist."""
    (scores,) = rg.score(judgments.cases, [spec]).judges.values()
    values = merge_ties(scores.oriented(column or scores.columns[0]), scores.precision)
    human = judgments.mean_errors().column(f"errors_{target}")
    return float(kendalltau(values, -human, nan_policy="omit").statistic)


def test_figure_3_is_scipys_coefficient_of_each_metric_and_target(rexval: Path) -> None:
    judgments, found = rg.read_judgments(rexval), lines("rexval_alignment", rexval)
    specs = {"BLEU": "bleu:variant=cxr", "BERTScore": "bertscore", "CheXbert": "chexbert_similarity"}
    for name, spec in {**specs, "RadGraph F1": "radgraph"}.items():
        for target in ("total", "significant"):
            ours = found[f"{name}, {target} errors (preprint)"][1]
            assert ours == pytest.approx(taus(judgments, spec, target=target)), (name, target)
        assert found[f"{name}, total errors (journal)"][1] == found[f"{name}, total errors (preprint)"][1]
    assert found["BERTScore, total errors (preprint)"][0] == 0.500


def test_table_3_of_ratescore_is_scipys_coefficient(rexval: Path) -> None:
    judgments, found = rg.read_judgments(rexval), lines("ratescore_table3", rexval)
    assert found["RaTEScore"][:2] == (0.527, pytest.approx(taus(judgments, "ratescore:weights=long")))
    assert found["BLEU"][:2] == (0.462, pytest.approx(taus(judgments, "bleu:variant=cxr")))


def test_table_1_of_vlscore_takes_the_output_it_names(rexval: Path) -> None:
    judgments, found = rg.read_judgments(rexval), lines("vlscore_table1", rexval)
    assert found["BLEU-1"][1] == pytest.approx(taus(judgments, "bleu", "bleu_1"))
    assert found["BLEU-4"][1] == pytest.approx(taus(judgments, "bleu", "bleu_4"))
    assert found["ROUGE-L"][1] == pytest.approx(taus(judgments, "rouge", "rouge_l"))
    (scores,) = rg.score(judgments.cases[:1], ["bertscore"]).judges.values()
    f1 = next(name for name in scores.columns if name.startswith("bertscore_f1"))
    assert found["BERTScore"][1] == pytest.approx(taus(judgments, "bertscore", f1))
    assert found["CheXbert"][1] == pytest.approx(taus(judgments, "chexbert_similarity"))
    assert found["RadGraph F1"][1] == pytest.approx(taus(judgments, "radgraph"))
    assert math.isnan(found["VLScore"][1])
    assert "needs --images" in found["VLScore"][2]


@pytest.fixture
def drawn(rexval: Path, tmp_path: Path) -> Path:
    """A picture for every study but the last, in folders named after them."""
    image = pytest.importorskip("PIL.Image", reason="the extra 'image' is not installed")
    rng = np.random.default_rng(0)
    for study in list(dict.fromkeys(case.id for case in rg.read_judgments(rexval).cases))[:-1]:
        (tmp_path / "files" / study).mkdir(parents=True)
        image.fromarray(rng.integers(0, 255, (40, 30), dtype=np.uint8)).save(tmp_path / "files" / study / "a.png")
    return tmp_path / "files"


def with_pictures(script: str, rexval: Path, drawn: Path, **more: object) -> dict[str, tuple[float, float, str]]:
    common = importlib.import_module("side_by_side")
    settings = common.Settings(rexval, resamples=10, images=drawn, **more)
    made = importlib.import_module(script).make(settings)
    return {line.name: (line.published, line.ours, line.note) for line in made}


@pytest.fixture
def any_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn pictures are no chest radiographs: here they count as such."""
    monkeypatch.setattr("radgauge.encoders.image.picture_side.PictureSide.objection", lambda self, signs: "")


@pytest.mark.usefixtures("any_picture")
def test_vlscore_itself_with_images(rexval: Path, drawn: Path) -> None:
    from radgauge.io.judgments.images import with_images

    judgments = with_images(rg.read_judgments(rexval), drawn)
    assert judgments.notes[-1] == "no image for 1 of 50 studies, first 'p49'"
    expected = taus(judgments, "vlscore")
    assert with_pictures("vlscore_table1", rexval, drawn)["VLScore"][:2] == (0.718, pytest.approx(expected))
    fourth = with_pictures("vlscore_table4", rexval, drawn)
    assert fourth["area of the triangle (VLScore)"][:2] == (0.718, pytest.approx(expected))
    cosine = taus(judgments, "vlscore:similarity=cosine")
    assert fourth["cosine similarity of the reports"][:2] == (0.555, pytest.approx(cosine))
    fifth = with_pictures("vlscore_table5", rexval, drawn)
    area = taus(judgments, "vlscore:constant=1", "vlscore_area_demo")
    assert fifth["embedded"][1] == pytest.approx(area)
    assert fifth["GLoRIA"][2] == "no such --encoder was given"


def test_the_row_of_chexpert_is_our_labels(rexval: Path) -> None:
    found = lines("vlscore_table1", rexval)["CheXpert"]
    expected = taus(rg.read_judgments(rexval), "chexbert")
    assert found == (0.463, pytest.approx(expected), "our reader's labels, not the CheXpert labeler's")


def test_the_authors_control_files(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="the extra 'image' is not installed")
    findings = {
        "1": "Small left effusion. The heart is normal. Comparison is made with the prior.",
        "2": "The lungs are clear. No effusion.",
    }
    (tmp_path / "sectioned.csv").write_text(
        "study,impression,findings\n" + "".join(f's{n},,"{text}"\n' for n, text in findings.items())
    )
    controls = tmp_path / "perturbed_data"
    controls.mkdir()
    (controls / "location.csv").write_text("study_id,original,new\n1,left,right\n2,left,right\n")
    (controls / "pathology.csv").write_text("study,sentence\ns1,0\n")
    (controls / "Insignificant.csv").write_text("study,sentence\ns1,2\n9,0\n")
    (controls / "noninformative.csv").write_text("study,word\n2,The\n")
    (controls / "constantdata.csv").write_text('study,report\n2,"Normal chest."\n')
    common = importlib.import_module("side_by_side")
    script = importlib.import_module("vlscore_tables23")
    settings = common.Settings(controls, reports=tmp_path / "sectioned.csv")
    found = {line.name: line for line in script.make(settings)}
    assert len(found) == 60
    assert [found[f"triplets, {file}"].ours for file in script.MEANS] == [1, 1, 1, 1, 0, 1]
    assert found["triplets, location"].note == "1 instructions could not be followed"
    made = {case.system: case.candidate for case in script.read_controls(controls, settings.reports).cases}
    assert made == {
        "change_location": "Small right effusion. The heart is normal. Comparison is made with the prior.",
        "remove_pathology": "The heart is normal. Comparison is made with the prior.",
        "remove_insignificant": "Small left effusion. The heart is normal.",
        "unknown_word": "[UNK] lungs are clear. No effusion.",
        "normal_report": "Normal chest.",
    }
    expected = rg.score([rg.Case("1", made["remove_pathology"], (findings["1"],))], ["rouge"])["rouge"].headline[0]
    assert found["ROUGE-L, pathology"].ours == pytest.approx(float(expected))
    (controls / "severity.csv").write_text("study,strange\n1,x\n")
    from radgauge.core.errors import InputError

    with pytest.raises(InputError, match=r"severity\.csv"):
        script.make(settings)


def test_figure_2_is_drawn(tmp_path: Path) -> None:
    script = importlib.import_module("vlscore_tables23")
    values = {name: np.linspace(0, 1, 12) for name in script.METRICS}
    written = script.draw(tmp_path / "figures", values, np.arange(12) < 8)
    assert [path.name for path in written] == [
        f"figure2_{name}.svg" for name in ("bleu-4", "radgraph_f1", "bertscore", "chexpert")
    ]
    assert written[0].read_text().count("<circle") >= 8


def test_table_4_is_scipys_coefficient_of_all_and_of_noisy_reports(radevalx: Path) -> None:
    from scipy.stats import spearmanr

    judgments, found = rg.read_judgments(radevalx), lines("comet_table4", radevalx)
    (scores,) = rg.score(judgments.cases, ["bleu:variant=cxr"]).judges.values()
    errors = judgments.mean_errors()
    for subset, keep in (
        ("all", errors.column("errors_total") >= 0),
        ("noisy", errors.column("errors_total") > 3),
    ):
        for target in ("total", "significant"):
            human = -errors.column(f"errors_{target}")[keep]
            expected = spearmanr(scores.headline[keep], human, nan_policy="omit").statistic
            assert found[f"{subset} reports, BLEU, {target} errors"][1] == pytest.approx(expected), subset


def test_the_published_cocor_values_come_out(rexval: Path) -> None:
    found = lines("comet_table3", rexval)
    for name, (published, ours, _) in found.items():
        if "with r between" in name:
            assert ours == pytest.approx(published, abs=5e-5)


def test_every_metric_of_the_generators_is_its_headline(generators: Path) -> None:
    found = lines("prior_models", generators)
    cases = rg.read_cases(generators, candidate_columns=["random", "r2gen"]).cases
    specs = ("bleu:variant=cxr", "bertscore", "chexbert_similarity", "radgraph", "radcliq:version=preprint")
    names = ("BLEU", "BERTScore", "CheXbert", "RadGraph F1", "RadCliQ (predicted errors)")
    for name, spec in zip(names, specs, strict=True):
        (scores,) = rg.score(cases, [spec]).judges.values()
        own = scores.of_system("r2gen")
        expected = own.metric.corpus_score(own.rows) if own.metric else math.nan
        assert found[f"r2gen, {name}"][1] == pytest.approx(expected), name


def test_table_3_tests_the_estimator_against_the_preprints_radcliq(rexval: Path) -> None:
    from scipy.stats import spearmanr

    judgments = rg.read_judgments(rexval)
    results = rg.score(judgments.cases, ["radcliq:version=preprint", "comet"])
    here = [place for place, case in enumerate(judgments.cases) if case.system == "s_emb"]
    errors = judgments.mean_errors().column("errors_total")[here]
    found = lines("comet_table3", rexval)
    for name, judge in (("RadCliQ", "radcliq"), ("embedded", "comet")):
        expected = spearmanr(results[judge].oriented(results[judge].columns[0])[here], -errors).statistic
        assert found[f"s_emb oracle, human and {name}"][1] == pytest.approx(expected), name


def test_table_4_names_estimators_as_the_paper_does(radevalx: Path) -> None:
    common = importlib.import_module("side_by_side")
    settings = common.Settings(radevalx, resamples=10, estimators={"Match XLM-R RadCliQ": "embedded"})
    made = {line.name: line for line in importlib.import_module("comet_table4").make(settings)}
    own = made["noisy reports, Match XLM-R RadCliQ, total errors"]
    assert own.published == 0.3448
    assert not math.isnan(own.ours)
    assert made["noisy reports, Top Clinic RadCliQ, total errors"].note == "no such --estimator was given"
    plain = lines("comet_table4", radevalx)
    assert plain["noisy reports, embedded, total errors"][1] == own.ours


def test_figure_3_of_comet_puts_checkpoints_side_by_side(rexval: Path, tmp_path: Path) -> None:
    from scipy.stats import spearmanr

    common, script = importlib.import_module("side_by_side"), importlib.import_module("comet_figure3")
    estimators = {"Top Clinic RadGraph": "embedded", "mine": "embedded"}
    settings = common.Settings(rexval, resamples=10, estimators=estimators)
    made = script.make(settings)
    found = {line.name: line for line in made}
    assert len(found) == 12
    judgments = rg.read_judgments(rexval)
    scores = rg.score(judgments.cases, ["comet"])["comet"]
    here = [place for place, case in enumerate(judgments.cases) if case.system == "bertscore"]
    errors = judgments.mean_errors().column("errors_total")[here]
    expected = spearmanr(scores.oriented(scores.columns[0])[here], -errors).statistic
    assert found["BERTScore oracle, mine"].ours == pytest.approx(expected)
    assert found["BERTScore oracle, Top Clinic RadGraph"].published == 0.786
    assert found["BERTScore oracle, RadCliQ"].published == 0.682
    assert math.isnan(found["BERTScore oracle, mine"].published)
    drawn = script.figure(made, settings).file()
    assert f"{expected:.2f}" in drawn
    assert "CheXbert oracle" in drawn


def test_table_4_of_ratescore_is_scipys_coefficients_and_the_accuracy(rate_eval: Path) -> None:
    from scipy.stats import pearsonr, spearmanr

    from radgauge.analysis.triple_accuracy import triple_accuracy
    from radgauge.io.judgments.rate_eval import read_triples

    found = lines("ratescore_table4", rate_eval)
    judgments = rg.read_judgments(rate_eval, format="rate_eval")
    human = judgments.mean_ratings().column("rating")
    for name, spec in (("BLEU", "bleu"), ("ROUGE-L", "rouge"), ("RaTEScore", "ratescore:weights=long")):
        (scores,) = rg.score(judgments.cases, [spec]).judges.values()
        own = scores.oriented(scores.columns[0])
        assert found[f"{name}: paragraphs, pearson"][1] == pytest.approx(pearsonr(own, human).statistic)
        assert found[f"{name}: paragraphs, spearman"][1] == pytest.approx(spearmanr(own, human).statistic)
        assert found[f"{name}: paragraphs, kendall_b"][1] == pytest.approx(kendalltau(own, human).statistic)
        [right] = triple_accuracy(read_triples(rate_eval), [spec])
        assert found[f"{name}: synthetic, accuracy"][1] == right.accuracy
    assert found["RaTEScore: paragraphs, pearson"][0] == 0.653
    assert found["SPICE: synthetic, accuracy"][2] == "needs --spice FOLDER with the jars of CoreNLP 3.6.0"


def test_figure_3_of_ratescore_is_pearsons_on_sentences(rate_eval: Path) -> None:
    from scipy.stats import pearsonr

    found = lines("ratescore_figure3", rate_eval)
    judgments = rg.read_judgments(rate_eval, format="rate_eval_sentence")
    (scores,) = rg.score(judgments.cases, ["ratescore:weights=short"]).judges.values()
    human = judgments.mean_ratings().column("rating")
    expected = pearsonr(scores.oriented(scores.columns[0]), human).statistic
    assert found["RaTEScore, Pearson"][:2] == (0.54, pytest.approx(expected))
    assert "published" in found["RaTEScore with MedCPT, Pearson"][2]
    common, script = importlib.import_module("side_by_side"), importlib.import_module("ratescore_figure3")
    settings = common.Settings(rate_eval, resamples=10)
    drawn = script.figure(script.make(settings), settings).file()
    assert f"Pearson r = {expected:.2f}, n = {len(judgments.cases)}" in drawn


@pytest.mark.models
@pytest.mark.filterwarnings("ignore:`torch.jit.script:DeprecationWarning")
def test_tables_5_and_6_score_the_taggers_that_are_named(rate_ner: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from parity_scripts import parity_script

    from radgauge.lab.training.ner import evaluate_tagger
    from radgauge.lab.training.ner_files import read_ner

    folder = parity_script("ratescore/checkpoints").build_ner(
        tmp_path / "tagger", words=["no", "pleural", "effusion", "mild", "cardiomegaly", "heart", "of", "the"]
    )
    common = importlib.import_module("side_by_side")
    taggers = {"DeBERTa_v3": str(folder), "R.+M.": str(folder), "R.": str(folder), "mine": str(folder)}
    settings = common.Settings(rate_ner, taggers=taggers)
    every = evaluate_tagger(str(folder), read_ner(rate_ner))[0]
    made = {line.name: line for line in importlib.import_module("ratescore_table5").make(settings)}
    assert made["DeBERTa_v3, F1"].published == 0.571
    assert made["DeBERTa_v3, recall"].ours == made["mine, recall"].ours == every.recall
    assert made["mine, accuracy"].ours == every.accuracy > 0
    assert made["BlueBERT, F1"].note == "no such --tagger was given"
    made = {line.name: line for line in importlib.import_module("ratescore_table6").make(settings)}
    assert made["gain of both sources, accuracy"].ours == 0.0  # one and the same tagger
    assert made["R.+M., F1"].ours == every.f1
    missing = importlib.import_module("ratescore_table6").make(common.Settings(rate_ner))[-1]
    assert missing.note == "needs the tagger R.+M. and one of R. and M."


def test_appendix_e_counts_the_noisy_reports(radevalx: Path) -> None:
    found = lines("comet_appendix_e", radevalx)
    errors = rg.read_judgments(radevalx).mean_errors()
    noisy = errors.column("errors_total") > 3
    assert found["noisy reports"][:2] == (30, noisy.sum())
    serious = errors.column("errors_omission_significant")[noisy].sum()
    assert found["(2) omitted finding, significant"][:2] == (64, serious)
    every = sum(found[f"total, {what}"][1] for what in ("significant", "insignificant"))
    assert every == pytest.approx(errors.column("errors_total")[noisy].sum())
    assert sum(found[f"total, {what}"][0] for what in ("significant", "insignificant")) == 154


def test_noisy_reports_are_fewer(radevalx: Path) -> None:
    found = lines("comet_table4", radevalx)
    name = "reports, BLEU, total errors"
    assert found[f"all {name}"][1] != found[f"noisy {name}"][1]


def test_the_command_line(rexval: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-W", "error", str(FOLDER / "rexval_errors.py"), *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={"PYTHONPATH": str(FOLDER.parent / "src")},
        )

    done = run(str(rexval), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["published"] == 0.807
    done = run(str(rexval))
    assert "supplementary table 2" in done.stdout
    done = run(str(tmp_path))
    assert done.returncode == 1
    assert "50_samples_gt_and_candidates.csv" in done.stderr


@pytest.mark.parametrize("script", ["ratescore_table3", "ratescore_table4", "ratescore_figure3"])
def test_ratescore_has_the_penalty_of_its_paper(script: str) -> None:
    specs = [spec for spec in importlib.import_module(script).SPECS.values() if spec.startswith("ratescore")]
    assert specs
    for spec in specs:
        assert "|p:0.3612|" in rg.load(spec.partition(",encoder")[0].partition(" as ")[0]).signature()
        assert "preset=2024" in spec  # with checkpoints the default is the release's
