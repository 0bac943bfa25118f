"""The result of a RaTEScore fit as one self-contained HTML page with the matrix as a heat map."""

from __future__ import annotations

from html import escape

from radgauge.metrics.ratescore.weights import TYPES, Affinity
from radgauge.training.fit_ratescore import RateFit

_CELL = 64
_LEFT, _TOP = 150, 40


def heat_map(learned: Affinity, *, title: str) -> str:
    """A matrix of weights as SVG: rows are the anchor's type, columns the type of its match."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + 5 * _CELL + 10}" '
        f'height="{_TOP + 5 * _CELL + 50}" font-family="sans-serif" font-size="12" role="img">',
        f"<title>{escape(title)}</title>",
        f'<text x="{_LEFT}" y="16" font-weight="bold">{escape(title)} (p = {learned.penalty:.3f})</text>',
    ]
    for i, row in enumerate(TYPES):
        y = _TOP + i * _CELL
        parts.append(f'<text x="{_LEFT - 8}" y="{y + _CELL / 2 + 4}" text-anchor="end">{row.lower()}</text>')
        x = _LEFT + i * _CELL + _CELL / 2
        below = _TOP + 5 * _CELL + (16 if i % 2 == 0 else 32)  # in turn, so that long names do not touch
        parts.append(f'<text x="{x}" y="{below}" text-anchor="middle">{row.lower()}</text>')
        for j in range(len(TYPES)):
            weight = float(learned.weights[i, j])
            shade = round(255 - 175 * min(weight, 1.0))
            ink = "#fff" if weight > 0.6 else "#000"
            parts.append(
                f'<rect x="{_LEFT + j * _CELL}" y="{y}" width="{_CELL}" height="{_CELL}" '
                f'fill="rgb({shade},{shade},255)" stroke="#fff"/>'
                f'<text x="{_LEFT + j * _CELL + _CELL / 2}" y="{y + _CELL / 2 + 4}" text-anchor="middle" '
                f'fill="{ink}">{weight:.2f}</text>'
            )
    return "".join(parts) + "</svg>"


def fit_page(found: RateFit) -> str:
    """The page: agreement before and after with intervals, the heat map, the weights to copy."""
    rows = "".join(
        f"<tr><td>{line.name}</td><td>{line.train:.3f}</td><td>{line.test:.3f} [{line.low:.3f}, {line.high:.3f}]"
        f"</td><td>{'' if line.name == 'learned' else _gain(line.gain, line.gain_low, line.gain_high)}</td></tr>"
        for line in found.lines
    )
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>RaTEScore weights</title>
<style>body{{font:15px/1.5 sans-serif;max-width:48em;margin:2em auto;padding:0 1em}}
td,th{{padding:.2em 1em .2em 0;text-align:left}}pre{{background:#f4f4f4;padding:1em;overflow:auto}}</style>
<h1>RaTEScore: learned weights</h1>
<p>{found.objective} with the mean rater ({escape(found.target)}); {found.train_cases} reports searched on,
{found.test_cases} kept apart by study; {found.trials} trials;
{100 * found.level:g} % intervals resample studies.</p>
<table><tr><th>weights</th><th>searched on</th><th>kept apart</th><th>gain of the learned ones</th></tr>
{rows}</table>
<p>The value of the kept-apart studies is the honest one; a gain whose interval holds 0 may be chance.</p>
{heat_map(found.affinity, title="learned weights")}
<p>Rows: type of the entity that is matched. Columns: type of the closest entity of the other report.
The darker, the more such a pair counts. p multiplies the similarity of a finding that meets its denial.</p>
<h2>Weights file</h2><pre>{escape(found.affinity.to_json())}</pre>
<p>{escape(found.signature)}</p></html>
"""


def _gain(value: float, low: float, high: float) -> str:
    return f"{value:+.3f} [{low:+.3f}, {high:+.3f}]"
