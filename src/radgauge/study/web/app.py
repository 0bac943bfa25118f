"""The application: who may see what, and the requests of the rater's page."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from radgauge.core.errors import ImageError, InputError, MissingExtra
from radgauge.core.parsing import parse_json
from radgauge.images.web import WebPicture, web_picture
from radgauge.render.viewer import picture_record
from radgauge.study.http.connections import disconnected
from radgauge.study.http.headers import AllowedHosts, SecurityHeaders
from radgauge.study.http.limits import BodyLimit, RateLimit, RateLimiter, client_address, too_many
from radgauge.study.http.server import Place as Listening
from radgauge.study.people import Person
from radgauge.study.sessions import Session
from radgauge.study.state import Refused, problems
from radgauge.study.store import Store
from radgauge.study.views import Action, CaseView, Stale
from radgauge.study.web import organiser
from radgauge.study.web.access import Access
from radgauge.study.web.pages import CANNOT_JUDGE, message, page, static_file, translated, words
from radgauge.study.web.said import answers_in_words, feedback_in_words

# Images of a case, as the viewer takes them: pixels without headers, under numbers instead of file names.

_MAX_PIXELS = 2048  # pixels: enough to zoom in on a radiograph
_MAX_CACHED = 24


@lru_cache(maxsize=_MAX_CACHED)
def _picture(path: Path, changed: int) -> WebPicture:
    return web_picture(path, max_size=_MAX_PIXELS)


def _read(path: Path) -> WebPicture:
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        raise ImageError("the file of the image is not there") from None
    return _picture(path, changed)


def picture_records(store: Store, person_id: str, view: CaseView) -> list[dict[str, Any]]:
    """Return the viewer's record of each image; of one that cannot be shown, its name and why."""
    records: list[dict[str, Any]] = []
    for number in range(view.images):
        name = f"Image {number + 1}"
        try:
            picture = _read(store.image_path(person_id, view.key, number=number))
        except MissingExtra as missing:
            records.append({"name": name, "problem": str(missing)})
        except ImageError:
            records.append({"name": name, "problem": "the image cannot be read"})
        else:
            records.append(picture_record(picture, name=name, url=f"/api/cases/{view.key}/images/{number}"))
    return records


def picture_response(path: Path) -> Response:
    """The bytes of an image."""
    try:
        picture = _read(path)
    except (ImageError, MissingExtra):
        return JSONResponse({"error": "the image cannot be read"}, status_code=404)
    return Response(picture.data, media_type=picture.media_type)


LARGEST_BODY = 64 * 1024
BODY_SECONDS = 20.0
NO_LINK = "Please open the link that you were sent. It may have expired or been withdrawn: ask who runs the study."
_LIST_CHANGES = {"submit", "reopen", "undo", "cannot_judge", "can_judge"}


@dataclass(frozen=True)
class Limits:
    """Requests that one visitor may send at once, and per second on average; `joins` with wrong tokens."""

    burst: int = 300
    per_second: float = 40.0
    joins: int = 20
    joins_per_second: float = 0.2


def create_app(store: Store, *, address: Listening | None = None, limits: Limits | None = None) -> Starlette:
    """The application of a study.

    Args:
        store: The study; it stays open as long as the application.
        place: Where it is served: decides on host names and on cookies for HTTPS.
        limits: On the number of requests.
    """
    address, limits = address or Listening(), limits or Limits()
    access = Access(store, https=address.https)
    app = Starlette(
        routes=[
            Route("/", _home),
            Route("/health", _health),
            Route("/join", _join_page),
            Route("/join", _join, methods=["POST"]),
            Route("/leave", _leave, methods=["POST"]),
            Route("/start", _start),
            Route("/ready", _ready, methods=["POST"]),
            Route("/done", _done),
            Route("/case/{key}", _case_page),
            Route("/api/study", _study),
            Route("/api/cases/{key}", _case),
            Route("/api/cases/{key}/actions", _act, methods=["POST"]),
            Route("/api/cases/{key}/images/{number:int}", _image),
            Route("/static/{name}", static_file),
            *organiser.routes(),
        ],
        middleware=[
            Middleware(SecurityHeaders, https=address.https),
            Middleware(AllowedHosts, names=address.host_names),
            Middleware(
                RateLimit,
                limiter=RateLimiter(per_second=limits.per_second, burst=limits.burst),
                visitor=access.visitor,
            ),
            Middleware(BodyLimit, largest=LARGEST_BODY, seconds=BODY_SECONDS),
        ],
        exception_handlers={404: _not_found, InputError: _unavailable, ClientDisconnect: disconnected},
    )
    app.state.store, app.state.access = store, access
    app.state.joins = RateLimiter(per_second=limits.joins_per_second, burst=limits.joins)
    return app


def _title(request: Request) -> str:
    return str(request.app.state.store.about["title"])


async def _not_found(request: Request, error: Exception) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": "there is no such thing here"}, status_code=404)
    return message(_title(request), "There is no such page", text=NO_LINK, code=404)


async def _unavailable(request: Request, error: Exception) -> Response:
    """The file of the study cannot be read or written now: the page keeps what it has and tries again."""
    return JSONResponse({"error": str(error)}, status_code=503)


async def _health(request: Request) -> Response:
    return JSONResponse({"status": "ok"})


# Coming in


def _home(request: Request) -> Response:
    access: Access = request.app.state.access
    if access.rater(request) is not None:
        return RedirectResponse("/start", status_code=303)
    if access.organiser(request) is not None:
        return RedirectResponse("/organiser", status_code=303)
    return message(_title(request), _title(request), text=NO_LINK, code=401)


def _join_page(request: Request) -> Response:
    return page("join", title=_title(request))


async def _join(request: Request) -> Response:
    data = await _body(request)
    if data is None or request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        return JSONResponse({"error": "this is not a request of our page"}, status_code=400)
    token = data.get("token")
    person = await run_in_threadpool(request.app.state.store.person_of_token, token) if token else None
    if person is None:  # only wrong tokens are counted: a department comes from one address
        wait = request.app.state.joins.wait(client_address(request.scope))
        return too_many(wait) if wait else JSONResponse({"error": NO_LINK}, status_code=401)
    access: Access = request.app.state.access
    answer = JSONResponse({"to": "/organiser" if person.role == "organiser" else "/start"})
    await run_in_threadpool(access.sign_in, request, answer, person, str(token))
    return answer


def _leave(request: Request) -> Response:
    answer = JSONResponse({"to": "/"})
    if request.app.state.access.sign_out(request, answer):
        return answer
    return JSONResponse({"error": "nobody is signed in"}, status_code=401)


# Pages of a rater


def _needs_rater(work: Callable[[Request, Person, Session], Response]) -> Callable[[Request], Response]:
    def checked(request: Request) -> Response:
        access: Access = request.app.state.access
        session = access.rater(request)
        if session is None:
            return RedirectResponse("/", status_code=303)
        response = work(request, session.person, session)
        if access.is_due(session):
            access.refresh(response, session)
        return response

    return checked


def _kinds(store: Store) -> dict[str, bool]:
    """Topics for the list of keys."""
    questions = store.design.fields
    return {
        "marks": any(field.kind == "marks" for field in questions),
        "missing": any(field.kind == "missing" for field in questions),
        "counts": any(field.kind == "counts" for field in questions),
        "images": store.design.show_images,
        "assistance": store.about.get("assistance", "none") != "none",
        "several": True,
    }


@_needs_rater
def _start(request: Request, person: Person, session: Session) -> Response:
    store: Store = request.app.state.store
    assigned = store.places(person.id)
    real = sum(not case.training for case in assigned)
    practice = len(assigned) - real
    say = partial(translated, store.design.language)
    count = say("{0} cases", real) if real != 1 else say("1 case")
    if practice:
        count += ", " + (
            say("after {0} practice cases with feedback", practice)
            if practice != 1
            else say("after 1 practice case with feedback")
        )
    if person.role == "adjudicator":
        count += "; " + say("you see what the raters answered, and decide")
    return page(
        "start",
        language=store.design.language,
        title=_title(request),
        name=person.name,
        csrf=session.csrf,
        count=count,
        paragraphs=store.design.instructions.split("\n\n"),
        counted=[
            (case.title, [kind.title for kind in case.categories])
            for case in store.design.fields
            if case.kind == "counts"
        ],
        ready=store.is_ready(person.id),
        **_kinds(store),
    )


async def _ready(request: Request) -> Response:
    access: Access = request.app.state.access
    session = await run_in_threadpool(access.rater, request)
    if session is None:
        return JSONResponse({"to": "/"}, status_code=401)
    if not access.is_own(request, session):
        return JSONResponse({"error": "this is not a request of our page"}, status_code=403)
    person = session.person
    store: Store = request.app.state.store

    def begin() -> str:
        if not store.is_ready(person.id):
            store.record(person.id, Action("", "ready", client_id="ready"))
        return _next_case(store, person)

    return JSONResponse({"to": await run_in_threadpool(begin)})


def _next_case(store: Store, person: Person) -> str:
    left = [case for case in store.places(person.id) if not case.submitted and not case.locked]
    return f"/case/{left[0].key}" if left else "/done"


@_needs_rater
def _done(request: Request, person: Person, session: Session) -> Response:
    store: Store = request.app.state.store
    real = [case for case in store.places(person.id) if not case.training]
    submitted = sum(case.submitted for case in real)
    left = len(real) - submitted
    following = _next_case(store, person)
    return page(
        "done",
        language=store.design.language,
        title=_title(request),
        name=person.name,
        csrf=session.csrf,
        total=len(real),
        submitted=submitted,
        left=left,
        not_judged=sum(case.submitted and case.cannot_judge for case in real),
        back=following if left else f"/case/{real[0].key}" if real else "/start",
    )


@_needs_rater
def _case_page(request: Request, person: Person, session: Session) -> Response:
    store: Store = request.app.state.store
    key = request.path_params["key"]
    assigned = next((case for case in store.places(person.id) if case.key == key), None)
    if assigned is None:
        return message(_title(request), "There is no such case", text="It is not one of yours.", code=404)
    if assigned.locked or not store.is_ready(person.id):
        return RedirectResponse("/start", status_code=303)
    return page(
        "case",
        language=store.design.language,
        title=_title(request),
        csrf=session.csrf,
        who=person.id,
        key=key,
        reasons=CANNOT_JUDGE,
        **_kinds(store),
    )


# What the page of a case asks for


def _needs_rater_api(work: Callable[[Request, Person], Response]) -> Callable[[Request], Response]:
    def checked(request: Request) -> Response:
        signed_in = request.app.state.access.rater(request)
        if signed_in is None:
            return JSONResponse({"error": NO_LINK}, status_code=401)
        try:
            return work(request, signed_in.person)
        except Refused:
            return JSONResponse({"error": "this case is not one of yours"}, status_code=404)

    return checked


@_needs_rater_api
def _study(request: Request, person: Person) -> Response:
    store: Store = request.app.state.store
    design = store.design.as_dict()
    del design["training"]  # it holds the expected answers
    about = {"title": _title(request), "design": design, "cases": _places(store, person)}
    return JSONResponse({**about, "words": dict(words(store.design.language)) or None})


def _places(store: Store, person: Person) -> list[dict[str, Any]]:
    return [asdict(case) for case in store.places(person.id)]


@_needs_rater_api
def _case(request: Request, person: Person) -> Response:
    store: Store = request.app.state.store
    key = request.path_params["key"]
    assigned = next((item for item in store.places(person.id) if item.key == key), None)
    if assigned is None or assigned.locked:
        raise Refused("not one of theirs, or not yet")
    view = store.case(person.id, key)
    made = {
        "key": key,
        "number": assigned.number,
        "training": assigned.training,
        "context": dict(view.context),
        "reference": None,
        "candidates": [asdict(candidate) for candidate in view.candidates],
        "images": picture_records(store, person.id, view),
        **_standing(store, view),
    }
    if view.reference:
        made["reference"] = {"text": view.reference, "sentences": view.reference_sentences}
    if person.role == "adjudicator":
        made["others"] = [
            {
                "name": other.person.name,
                "submitted": other.state.submitted,
                "said": answers_in_words(
                    store.design, other.state, candidates=view.candidates, reference=view.reference
                ),
            }
            for other in store.others(person.id, key)
        ]
    return JSONResponse(made)


def _standing(store: Store, view: CaseView) -> dict[str, Any]:
    feedback = None
    if view.feedback is not None:
        lines = feedback_in_words(store.design, view.feedback)
        feedback = {**{name: view.feedback[name] for name in ("right", "of", "text")}, "lines": lines}
    return {
        "state": view.state.as_dict(),
        "problems": [asdict(problem) for problem in view.problems],
        "feedback": feedback,
    }


async def _act(request: Request) -> Response:
    data = await _body(request)
    return await run_in_threadpool(_acted, request, data)  # one thread for all of it: each change of threads costs


def _acted(request: Request, data: dict[str, Any] | None) -> Response:
    access: Access = request.app.state.access
    session = access.rater(request)
    if session is None:
        return JSONResponse({"error": NO_LINK}, status_code=401)
    if not access.is_own(request, session):
        return JSONResponse({"error": "this is not a request of our page"}, status_code=403)
    if data is None or not {"kind", "client_id"} <= data.keys():
        return JSONResponse({"error": "an action is an object with kind and client_id"}, status_code=400)
    return _record(request.app.state.store, session.person, request.path_params["key"], data)


def _record(store: Store, person: Person, key: str, data: dict[str, Any]) -> Response:
    try:
        before = store.case(person.id, key)
    except Refused:
        return JSONResponse({"error": "this case is not one of yours"}, status_code=404)
    if data["kind"] == "ready":
        return JSONResponse({"error": "ready is not said of a case"}, status_code=422)
    action = Action(key, data["kind"], data.get("payload", {}), data.get("based_on", 0), data["client_id"])
    try:
        done = store.record(person.id, action)
    except Stale as stale:
        return JSONResponse({"error": str(stale), "state": stale.state.as_dict()}, status_code=409)
    except Refused as refused:
        return JSONResponse({"error": str(refused)}, status_code=422)
    left = tuple(problems(store.design, before.candidates, state=done.state))
    after = store.case(person.id, key) if before.training else replace(before, state=done.state, problems=left)
    answer = {"seq": done.seq, **_standing(store, after)}
    if action.kind in _LIST_CHANGES:
        answer["cases"] = _places(store, person)
    return JSONResponse(answer)


@_needs_rater_api
def _image(request: Request, person: Person) -> Response:
    path = request.app.state.store.image_path(
        person.id, request.path_params["key"], number=request.path_params["number"]
    )
    return picture_response(path)


async def _body(request: Request) -> dict[str, Any] | None:
    """The JSON object that a request of our page holds; None if it holds something else."""
    if not request.headers.get("Content-Type", "").startswith("application/json"):
        return None
    try:
        data = parse_json(await request.body())
        json.dumps(data, ensure_ascii=False).encode("utf-8")  # half a character cannot be written
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
