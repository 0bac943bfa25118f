"""A small study: four invented cases of two systems."""

from __future__ import annotations

import itertools
from typing import Any

from radgauge.core.cases import Case
from radgauge.study import Action, Recorded, Store

REFERENCES = {
    "s1": "Small left pleural effusion. The heart is enlarged.",
    "s2": "The lungs are clear. No pneumothorax.",
    "s3": "Right lower lobe pneumonia.",
    "s4": "Fracture of the fourth left rib. The lungs are clear.",
}
CANDIDATES = {
    "alpha": {
        "s1": "Small left effusion. Cardiomegaly.",
        "s2": "Clear lungs. No pneumothorax.",
        "s3": "Pneumonia of the right lower lobe.",
        "s4": "The lungs are clear.",
    },
    "beta": {
        "s1": "Large right effusion.",
        "s2": "Clear lungs. No pneumothorax.",
        "s3": "The lungs are clear.",
        "s4": "Rib fracture.",
    },
}


def two_systems() -> list[Case]:
    """The cases."""
    return [
        Case(study, texts[study], (REFERENCES[study],), system, meta={"modality": "CR" if study < "s3" else "CT"})
        for system, texts in CANDIDATES.items()
        for study in REFERENCES
    ]


class Rater:
    """Acts as a well-behaved window would: each action is based on the version before."""

    def __init__(self, store: Store, person_id: str) -> None:
        self.store, self.id = store, person_id
        self._number = itertools.count()

    def submit(self, case: str) -> Recorded:
        """Submit; of candidates without an answer it says that they have no errors."""
        for problem in self.store.case(self.id, case).problems:
            field = self.store.design.field(problem.field)
            if field.kind == "counts" and problem.message.endswith("say that there are none"):
                part = field.parts()[0]
                self.act(case, "set", candidate=problem.candidate, field=field.key, part=part, value=0)
        return self.act(case, "submit")

    def act(self, case: str, kind: str, based_on: int | None = None, **payload: Any) -> Recorded:
        version = self.store.state(self.id, case).version if based_on is None else based_on
        client_id = f"{case}-{kind}-{next(self._number)}-{id(self)}"
        return self.store.record(self.id, Action(case, kind, payload, version, client_id))

    def train(self) -> None:
        """Get through the training with whatever the design wants."""
        for place in self.store.places(self.id):
            if place.training:
                self.act(place.key, "cannot_judge", reason="practised before")
                self.act(place.key, "submit")

    def keys(self) -> list[str]:
        return [place.key for place in self.store.places(self.id) if not place.training]

    def label(self, case: str, system: str) -> str:
        return next(label for label, name in self.store.key(self.id, case).items() if name == system)


def study_ids(store: Store) -> dict[str, str]:
    """Study id -> key of the case."""
    return {study: key for key, study in store._connection.execute("SELECT key, id FROM cases")}
