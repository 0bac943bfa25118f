"""Changes of words: places, degrees, measurements, empty words, synonyms."""

from __future__ import annotations

import re
from collections.abc import Iterator

from radgauge.analysis.perturb.edits import Proposal
from radgauge.analysis.perturb.fitting import fit
from radgauge.analysis.perturb.knowledge import knowledge, synonyms
from radgauge.analysis.perturb.report import ParsedReport, is_significant
from radgauge.reader import load_lexicon
from radgauge.reader.lexicon import ABNORMAL_KINDS
from radgauge.text.grammar import is_counted, is_plural

_MEASUREMENT = re.compile(r"(?<![\d.,/-])(\d{1,3}(?:\.\d{1,2})?)(?=\s?-?(?:mm|cm|x|×|by)\b)", re.IGNORECASE)
_UNIT = re.compile(r"[\d.\s]*(?:(?:x|×|by)\s*[\d.]+\s*)*-?(?:mm|cm)\b", re.IGNORECASE)
_AWAY = re.compile(r"\s?(?:mm|cm) (?:above|below|from|beyond|proximal|distal)\b", re.IGNORECASE)
_LONGEST_SIZE = 100  # characters of "2.5 x 3.0 x 4.0 cm" behind its first number
_ORGANS = ("space", "airspace", "lung", "pulmonary", "interstitial", "pleural", "alveolar")
_SIZES = ("trace", "tiny", "small")
_FACTORS = (0.4, 0.5, 2.0, 2.5, 3.0)


def _placed(
    report: ParsedReport, start: int, end: int, after: str, *, category: int, significant: bool
) -> Proposal:
    opening = start in report.openings
    start, end, after = fit(report.text, start, end, after=after, opening=opening)
    return Proposal(start, end, after, category, significant)


def change_location(report: ParsedReport) -> Iterator[Proposal]:
    """Sides and places in sentences that state a pathology or a device."""
    terms = knowledge()
    for index, sentence in enumerate(report.reading.sentences):
        affirmed = [mention for mention in report.by_sentence[index] if mention.assertion != "absent"]
        if not affirmed or all(mention.attributes.context != "current" for mention in affirmed):
            continue
        for match in terms.location_word.finditer(report.text, sentence.start, sentence.end):
            if terms.fixed_before.match(report.text, match.end()):
                continue
            if match[0].lower() in terms.brain_places and report.region != "head":
                continue
            if terms.fixed_after.search(report.text, sentence.start, match.start()):
                continue
            for after in terms.location[match[0].lower()]:
                if _and_again(report.text, match.start(), match.end(), after):
                    continue
                yield _placed(report, *match.span(), after, category=3, significant=is_significant(affirmed))


def change_severity(report: ParsedReport) -> Iterator[Proposal]:
    """Degrees of pathologies that the report states."""
    terms = knowledge()
    for modifier in report.reading.modifiers:
        if modifier.role != "severity" or modifier.mention < 0:
            continue
        finding = report.reading.mentions[modifier.mention]
        if finding.assertion == "absent" or finding.attributes.context != "current":
            continue
        word = report.text[modifier.start : modifier.end].lower()
        last = finding.text.lower().split()[-1]
        for after in terms.severity.get(word, ()):
            if after == "moderate" and word in _SIZES and last not in terms.of_moderate_size:
                continue
            after = terms.size_words.get(after, after) if last in terms.sized else after
            yield _placed(
                report, modifier.start, modifier.end, after, category=4, significant=is_significant([finding])
            )


def unknown_word(report: ParsedReport) -> Iterator[Proposal]:
    """Words without content, outside everything the reader understood."""
    terms = knowledge()
    spans = [(item.start, item.end) for item in report.reading.mentions]
    spans += [(item.start, item.end) for item in report.reading.modifiers]
    taken = bytearray(len(report.text))
    for start, end in spans:
        taken[start:end] = b"\1" * (end - start)
    for sentence in report.reading.sentences:
        for match in terms.unknown_word.finditer(report.text, sentence.start, sentence.end):
            if not any(taken[match.start() : match.end()]):
                yield Proposal(*match.span(), terms.unknown_token, 0, False)


def change_measurement(report: ParsedReport) -> Iterator[Proposal]:
    """Sizes and distances in mm or cm, by a factor of two or more."""
    for sentence in report.reading.sentences:
        if sentence.section in ("technique", "history"):
            continue
        for match in _MEASUREMENT.finditer(report.text, sentence.start, sentence.end):
            if not _UNIT.match(report.text, match.end(), match.end() + _LONGEST_SIZE):
                continue
            value = float(match[1])
            decimals = len(match[1].partition(".")[2])
            category = 3 if _AWAY.match(report.text, match.end()) else 4
            for factor in _FACTORS:
                after = f"{value * factor:.{decimals}f}"
                if after != match[1] and float(after) > 0:
                    yield _placed(report, *match.span(), after, category=category, significant=True)


def paraphrase(report: ParsedReport) -> Iterator[Proposal]:
    """Synonyms of findings from the lexicon, and turns of phrase."""
    rules, words = knowledge(), synonyms()
    for mention in report.reading.mentions:
        if mention.form != "noun" or mention.concept not in load_lexicon():
            continue
        before = mention.text.lower()
        if mention.kind not in ABNORMAL_KINDS:
            continue
        if "chest" not in load_lexicon()[mention.concept].regions:
            for term in _exchanged(before):
                if not _repeats(report, mention.start, term):
                    yield _placed(report, mention.start, mention.end, term, category=0, significant=False)
            continue
        terms = words.get(mention.concept, ())
        if before not in terms:
            continue
        number = (is_counted(before), is_plural(before))  # neither "a stones" nor "an edema"
        for term in terms:
            old, new = set(before.split()), set(term.split())
            says_more = (old < new or new < old) and not old ^ new <= rules.free_words
            says_more |= report.region not in ("chest", "") and bool((new - old) & rules.free_words)
            counts_as_before = (is_counted(term), is_plural(term)) == number
            respelt = term.replace(" ", "") == before.replace(" ", "")
            if not respelt and counts_as_before and not says_more and not _repeats(report, mention.start, term):
                yield _placed(report, mention.start, mention.end, term, category=0, significant=False)
    for pattern, template in rules.paraphrase:
        for match in pattern.finditer(report.text):
            yield _placed(report, *match.span(), match.expand(template), category=0, significant=False)


def _exchanged(before: str) -> Iterator[str]:
    """The term with one of its words, or the whole of it, exchanged for what means the same anywhere."""
    terms = knowledge()
    parts = before.split()
    exchanged = list(terms.same_term.get(before, ()))
    for index, word in enumerate(parts):
        others = terms.same_word.get(word, ())
        if index + 1 < len(parts):
            others = (*others, *terms.same_organ.get(word, ()))
        exchanged += [" ".join([*parts[:index], other, *parts[index + 1 :]]) for other in others]
    yield from (term for term in exchanged if is_plural(term.split()[-1]) == is_plural(parts[-1]))


def _repeats(report: ParsedReport, start: int, term: str) -> bool:
    """True if the term repeats the words before it: "pleural pleural fluid", "air space lung opacity"."""
    before = report.text[max(0, start - 30) : start].lower().split()
    if not before:
        return False
    repeated = before[-1] in term.split()
    return repeated or (before[-1] in _ORGANS and term.split()[0] in knowledge().free_words)


def _and_again(text: str, start: int, end: int, after: str) -> bool:
    """True if the new location would be coupled with itself: "lumbar and lumbar spine"."""
    around = text[max(0, start - 20) : start].lower(), text[end : end + 20].lower()
    word = rf"(?:\w*{re.escape(after)})"
    coupled = r"(?:,|and|or|to|,? and|/)"
    return bool(
        re.search(rf"\b{word}\s?{coupled}\s?$", around[0]) or re.match(rf"\s?{coupled}\s?{word}\b", around[1])
    )
