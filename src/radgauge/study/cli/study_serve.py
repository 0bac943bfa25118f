"""`radgauge study serve`: a study in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.study.cli.study import study

if TYPE_CHECKING:
    from radgauge.study.store import Store

DEMO = Path("study-demo.sqlite")


@o.command(study, "serve")
def serve_cli(
    file: Annotated[
        Path | None, typer.Argument(help="The file of the study; with --demo it is made if it is not there.")
    ] = None,
    demo: Annotated[bool, "Try it: a study of the bundled reports, opened in your browser."] = False,
    design: Annotated[str, "-d", "With --demo: a shipped design, or your own TOML file."] = "errors",
    links: Annotated[bool, "Make new links for everybody and print them; old ones end."] = False,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="With --demo: open the first rater's page.")
    ] = True,
    host: Annotated[str, "Address to listen on; others than this machine need --url."] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 = any that is free.")] = 8765,
    url: Annotated[str | None, "The address under which raters come: https://name."] = None,
    tls: Annotated[
        bool,
        "Speak https with a certificate of its own, on a trusted network: browsers warn once, people compare.",
    ] = False,
    proxy: Annotated[str | None, "The proxy's address; its X-Forwarded-For is believed."] = None,
) -> None:
    """Let raters judge in the browser, and watch how it goes; for this machine alone unless you say otherwise.

    Everybody comes in by a link, ADDRESS/join#TOKEN, with a token of `study new` or `study token`. What a rater
    does is on disk before the page says so. See SECURITY.md on running this behind a proxy with TLS.

    Examples:

      radgauge study serve --demo

      radgauge study serve study.sqlite --links

      radgauge study serve study.sqlite --url https://study.hospital.example --proxy 127.0.0.1

      radgauge study serve study.sqlite --links --tls --host 10.0.0.7
    """
    from urllib.parse import urlsplit

    from radgauge.cli.lines import echo
    from radgauge.cli.resume import keeps
    from radgauge.core.errors import UsageError, require
    from radgauge.study.demo import demo_study
    from radgauge.study.store import Store as Opened

    for package in ("starlette", "uvicorn"):
        require(package, extra="web")
    from radgauge.study.http.certificate import self_signed
    from radgauge.study.http.server import Place, serve
    from radgauge.study.web.app import create_app

    if file is None and not demo:
        raise UsageError("name the file of the study, or try --demo")
    path = file or DEMO
    own = None
    if tls:
        if url is None and (not port or host in ("0.0.0.0", "::")):
            raise UsageError(
                "--tls needs the address under which raters come: --host 10.0.0.7, or --url https://name"
            )
        url = url or f"https://{f'[{host}]' if ':' in host else host}:{port}"
        own = self_signed(path, urlsplit(url).hostname or host)
    listening = Place(host, port, url, proxy, own)
    if listening.warning:
        echo(f"note: {listening.warning}", err=True)
    if demo and not path.exists():
        demo_study(path, design=design)
    with Opened(path) as store:
        fresh = _new_links(store) if demo or links else {}

        def ready(address: str) -> None:
            keeps()
            _say_where(store, address, fresh)
            if own is not None:
                echo(f"certificate (SHA-256), to compare with what the browser shows: {own.fingerprint}")
            if demo and browser:
                import webbrowser

                webbrowser.open(f"{address}/join#{fresh['rater-1']}")

        serve(create_app(store, address=listening), listening, ready=ready)


def _new_links(store: Store) -> dict[str, str]:
    """New tokens for everybody; those of before are no longer valid."""
    links = {}
    for person in store.people():
        store.revoke_tokens(person.id)
        links[person.id] = store.new_token(person.id)
    return links


def _say_where(store: Store, address: str, fresh: dict[str, str]) -> None:
    from radgauge.render.terminal import console

    out = console()
    out.say(f"{store.about['title']}: {address}  (Ctrl-C stops; answers are kept in {store.path})")
    if not fresh:
        out.say(
            f"A person's link is {address}/join#TOKEN, with the token that `study new` printed. Are they lost, "
            "`--links` ends them and prints new links."
        )
    else:
        out.say("New links; tokens and links of before no longer let anybody in. Send each person theirs:")
    for person in store.people():
        if person.id in fresh:
            out.say(f"{person.name} ({person.role}): {address}/join#{fresh[person.id]}")
