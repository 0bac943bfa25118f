"""The lay reader knows the plain words of every concept."""

from __future__ import annotations

from radgauge.lay.lay_reader import LayReader, lay_class, lay_lexicon, plain_term
from radgauge.lay.rules import lay_rules
from radgauge.reader import load_lexicon


def test_rules_name_concepts_of_the_lexicon() -> None:
    lexicon, rules = load_lexicon(), lay_rules()
    assert not [name for name in (*rules.terms, *rules.synonyms) if name not in lexicon]


def test_every_term_of_the_rules_is_read_back() -> None:
    lexicon = lay_lexicon()
    wrong = {}
    for name, term in lay_rules().terms.items():
        found = [mention.concept for mention in LayReader().read([f"There is a {term}."])[0].mentions]
        if lay_class(name) not in found and name not in found and lexicon[name].kind != "anatomy":
            wrong[name] = found
    assert not wrong


def test_shared_terms_mean_the_most_general_concept() -> None:
    lexicon = load_lexicon()
    assert plain_term(lexicon["spondylosis"]) == plain_term(lexicon["degenerative_spine_change"])
    assert lay_class("spondylosis") == "degenerative_spine_change"
    assert lay_class("pleural_effusion") == "pleural_effusion"
