"""The files of deploy/: they parse, name what exists, and keep the promises of docs/deploy.md."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"


def test_the_container_runs_without_rights_and_network() -> None:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    instructions = re.findall(r"^([A-Z]+) ", text, re.MULTILINE)
    assert set(instructions) <= {"FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "EXPOSE", "ENTRYPOINT", "CMD"}
    assert instructions.index("USER") < instructions.index("ENTRYPOINT")
    assert "RADGAUGE_OFFLINE=1" in text
    extras = set(re.findall(r"\[([\w,]+)\]", text)[0].split(","))
    assert extras <= set(
        re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    )


@pytest.mark.process
def test_manifests_are_yaml_and_their_options_exist() -> None:
    yaml = pytest.importorskip("yaml")
    deployment, service = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8"))
    pod = deployment["spec"]["template"]["spec"]["containers"][0]
    options = [each for each in pod["args"] if each.startswith("--")]
    usage = subprocess.run([sys.executable, "-m", "radgauge", "serve", "--help"], capture_output=True, check=True)
    assert all(option in usage.stdout.decode() for option in options)
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
    assert yaml.safe_load((DEPLOY / "ray.yaml").read_text(encoding="utf-8"))["head_node_type"] == "head"


@pytest.mark.process
def test_the_job_is_a_shell_script() -> None:
    shell = shutil.which("bash")
    if shell is None:
        pytest.skip("no bash")
    subprocess.run([shell, "-n", str(DEPLOY / "score.sbatch")], check=True)


@pytest.mark.nightly
def test_the_image_builds_and_runs() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True, check=False).returncode:
        pytest.skip("no docker that runs")
    subprocess.run(
        [docker, "build", "-q", "-f", "deploy/Dockerfile", "-t", "radgauge-test", "."], cwd=ROOT, check=True
    )
    run = [docker, "run", "--rm", "--network", "none", "radgauge-test", "demo"]
    assert subprocess.run(run, capture_output=True, check=False).returncode == 0
