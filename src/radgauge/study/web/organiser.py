"""The organiser's pages: how far everyone is, how well raters agree, where they do not, and a backup."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from radgauge.core.errors import InputError
from radgauge.study.overview import Agreeing, Disagreement, Progress, agreement_so_far, disagreements, progress
from radgauge.study.people import Person
from radgauge.study.sessions import Session
from radgauge.study.state import Refused
from radgauge.study.store import Store
from radgauge.study.views import relabelled
from radgauge.study.web.pages import message, page
from radgauge.study.web.said import answers_in_words

if TYPE_CHECKING:
    from radgauge.stats import Agreement
    from radgauge.study.web.access import Access


def routes() -> list[Route]:
    """Return the routes for the organiser alone."""
    return [
        Route("/organiser", _overview),
        Route("/organiser/case/{key}", _case),
        Route("/organiser/backup", _backup, methods=["POST"]),
    ]


def _needs_organiser(work: Callable[[Request, Person, Session], Response]) -> Callable[[Request], Response]:
    def checked(request: Request) -> Response:
        access: Access = request.app.state.access
        session = access.organiser(request)
        if session is None:
            return RedirectResponse("/", status_code=303)
        response = work(request, session.person, session)
        if access.is_due(session):
            access.refresh(response, session)
        return response

    return checked


@_needs_organiser
def _overview(request: Request, person: Person, session: Session) -> Response:
    store: Store = request.app.state.store
    everyone = progress(store)
    agreement = _agreement(request, everyone)
    questions = [row.question for row in agreement]
    chosen = request.query_params.get("question")
    question = chosen if chosen in questions else questions[0] if questions else None
    raters = [row for row in everyone if row.role == "rater"]
    return page(
        "organiser",
        title=str(store.about["title"]),
        csrf=session.csrf,
        design=store.design,
        about=store.about,
        people=[(row, minutes(row.seconds), seconds(row.median_seconds), _moment(row.last)) for row in everyone],
        submitted=sum(row.submitted for row in raters),
        assigned=sum(row.assigned for row in raters),
        agreement=[_agreeing(row) for row in agreement],
        questions=questions,
        question=question,
        apart=[
            (row, [(rater, _said(row, value)) for rater, value in row.answers.items()])
            for row in (disagreements(store, question=question) if question else ())
        ],
    )


def _said(disagreement: Disagreement, value: float) -> str:
    return disagreement.names[int(value)] if disagreement.names else f"{value:g}"


def _agreement(request: Request, everyone: Sequence[Progress]) -> Sequence[Agreeing]:
    """Agreement so far, computed anew when somebody has submitted something since."""
    state = request.app.state
    now = [(person.last, person.submitted) for person in everyone]
    if getattr(state, "agreement_at", None) != now:
        state.agreement, state.agreement_at = agreement_so_far(state.store), now
    agreements: Sequence[Agreeing] = state.agreement
    return agreements


def _agreeing(agreement: Agreeing) -> dict[str, Any]:
    pairs = [
        {
            "raters": " and ".join(pair),
            "kappa": _with_interval(kappa),
            "same": f"{agreement.same[pair]:.0%}",
        }
        for pair, kappa in agreement.pairs.items()
    ]
    return {
        "question": agreement.question,
        "cases": agreement.cases,
        "icc": _with_interval(agreement.icc),
        "alpha": _with_interval(agreement.alpha),
        "kappa": _number(agreement.kappa),
        "pairs": pairs,
    }


def _with_interval(value: Agreement | None) -> str:
    if value is None or math.isnan(value.value):
        return "–"
    if math.isnan(value.interval.low) or math.isnan(value.interval.high):
        return _number(value.value)
    return f"{value.value:.2f} ({value.interval.low:.2f} to {value.interval.high:.2f})"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


def minutes(spent: float) -> str:
    """Time for people.

    >>> minutes(0), minutes(59), minutes(3600)
    ('–', '1 min', '1 h 0 min')
    """
    if not spent:
        return "–"
    rounded = max(1, round(spent / 60))
    return f"{rounded // 60} h {rounded % 60} min" if rounded >= 60 else f"{rounded} min"


def seconds(spent: float) -> str:
    """Time per case for people.

    >>> seconds(math.nan), seconds(42.3), seconds(125)
    ('–', '42 s', '2 min 5 s')
    """
    if math.isnan(spent):
        return "–"
    rounded = round(spent)
    return f"{rounded // 60} min {rounded % 60} s" if rounded >= 60 else f"{rounded} s"


def _moment(time: str) -> str:
    return f"{time[:10]} {time[11:16]} UTC" if time else "–"


@_needs_organiser
def _case(request: Request, person: Person, session: Session) -> Response:
    """All answers on one case, with the systems' names."""
    store: Store = request.app.state.store
    key = request.path_params["key"]
    seen: list[tuple[Person, dict[str, str]]] = []
    for other in store.people():
        if other.role != "organiser":
            try:
                seen.append((other, dict(store.key(other.id, key))))
            except Refused:
                continue
    if not seen:
        return message(
            str(store.about["title"]), "There is no such case", text="Nobody was asked about it.", code=404
        )
    first, labels = seen[0]
    view = store.case(first.id, key)
    label_of = {system: label for label, system in labels.items()}
    answers = []
    for other, own in seen:
        state = relabelled(store.state(other.id, key), {label: label_of[system] for label, system in own.items()})
        in_words = answers_in_words(store.design, state, candidates=view.candidates, reference=view.reference)
        lines = [f"{label}: {line}" if label else line for label, listed in in_words.items() for line in listed]
        standing = "submitted" if state.submitted else "begun" if state.version else "not begun"
        answers.append((other, standing, seconds(state.seconds or math.nan), lines))
    return page(
        "organiser_case",
        title=str(store.about["title"]),
        csrf=session.csrf,
        key=key,
        reference=view.reference,
        candidates=[(candidate.label, labels[candidate.label], candidate.text) for candidate in view.candidates],
        answers=answers,
    )


async def _backup(request: Request) -> Response:
    access: Access = request.app.state.access
    person = await run_in_threadpool(access.organiser, request)
    if person is None:
        return JSONResponse({"to": "/"}, status_code=401)
    if not access.is_own(request, person):
        return JSONResponse({"error": "this is not a request of our page"}, status_code=403)
    store: Store = request.app.state.store
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    target = store.path.with_name(f"{store.path.stem}-backup-{stamp}.sqlite")
    try:
        made = await run_in_threadpool(store.backup, target)
    except InputError as error:
        return JSONResponse({"error": str(error)}, status_code=503)
    return JSONResponse({"said": f"The study was copied to {made.name}, beside the study."})
