"""Reader studies: ask radiologists about reports, and lose nothing of what they say.

A study is one SQLite file. `create.new_study` makes it; `Store` is all that a page, a sheet or a script needs:

    with Store("study.sqlite") as store:
        store.about["title"], store.design                      # Design: fields, instructions, what is shown
        person = store.person_of_token(token)                   # Person(id, name, role) or None
        store.is_ready(person.id)                               # instructions read?
        for place in store.places(person.id): ...               # the rater's list: key, number, locked, submitted
        view = store.case(person.id, place.key)                 # CaseView: texts by blinded label, state, problems
        store.image_path(person.id, place.key, number=0)        # file of an image, only of the rater's own cases
        action = Action(place.key, "set", {...}, based_on=view.state.version, client_id=uuid)
        done = store.record(person.id, action)
        done.state                                              # CaseState after the action; version is one higher

`record` returns when the action is on disk. It raises `Stale` (a `Refused`, with `.state`) if `based_on` is not
the present version: another window was faster, nothing was written, show `.state`. It raises `Refused` for what
does not fit, with a message for the rater. Repeating an action with the same `client_id` writes nothing and
returns the present state with `repeated=True`. `Refused` is also raised for a case that is not the rater's.

Actions (kind, payload); `candidate` is a label ("A") and left out (or "") for what is asked per case:

    set           {"candidate", "field", "unit", "part", "value"}   value None clears
                  counts: part "omission/significant", value a whole number; unit: the sentence, if asked per one
                  number, rating: value a number; choice: value {"choice": key or label, "reason": text}
    add           {"candidate", "field", "entry"}                    marks and missing findings
    change        {"candidate", "field", "id", "entry"}              ids are in state.answers
    remove        {"candidate", "field", "id"}
                  entry of marks: {"category", "significance", "attribute", "start", "end" or "unit", "note"}
                  entry of missing: {"category", "significance", "text" or "unit" or "start" and "end", "note"},
                  with places in the reference; what the design does not ask for is left out
    copy          {"candidate", "source"}                            all answers of an identical candidate
    cannot_judge  {"candidate", "reason"}                            of the whole case without candidate
    can_judge     {"candidate"}
    submit        {}   refused with the problems while something is missing
    reopen        {}   a submitted case takes no change before
    undo          {}   takes back the last action that was not taken back
    time          {"seconds"}   seconds in front of the case since the last report; needs no version
    ready         {}   instructions read; case ""

Places in texts are Unicode code points, as in Python; JavaScript counts UTF-16 units (`[...text]` converts).
Candidates of a case, their order and the order of cases are stored per rater when the study is made.
`Shown.system` is "" while the design is blinded; `store.key` (label -> system) and everything in `overview` is
for the organiser. `store.others(adjudicator_id, case_key)` gives an adjudicator the raters' answers in the
adjudicator's own labels.

For the organiser's page, `overview` has `progress(store)`, `agreement_so_far(store)`, `disagreements(store)` and
`assistance_effects(store)`; see there.
"""

from radgauge.study.create import NewStudy, new_study
from radgauge.study.design import Design, Field
from radgauge.study.design_file import DesignError, load_design, shipped_designs
from radgauge.study.people import Person
from radgauge.study.state import CaseState, Event, Problem, Refused, Shown
from radgauge.study.store import Store
from radgauge.study.views import Action, Answered, CaseView, Place, Recorded, Stale

__all__ = [
    "Action",
    "Answered",
    "CaseState",
    "CaseView",
    "Design",
    "DesignError",
    "Event",
    "Field",
    "NewStudy",
    "Person",
    "Place",
    "Problem",
    "Recorded",
    "Refused",
    "Shown",
    "Stale",
    "Store",
    "load_design",
    "new_study",
    "shipped_designs",
]
