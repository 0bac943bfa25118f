"""`radgauge models`: list, fetch and verify the published checkpoints."""

from __future__ import annotations

from typing import Annotated

import typer

from radgauge.cli import options as o
from radgauge.cli.exit_codes import TROUBLE
from radgauge.cli.lines import echo

models = o.subjects("models")


@o.command(models, "list")
def list_cli(
    places: Annotated[bool, typer.Option("--places", help="Show every place that was looked in.")] = False,
    encoders: Annotated[
        bool, typer.Option("--encoders", help="Only the image-text encoders of vlscore: needs, licence, proof.")
    ] = False,
    as_json: o.AsJson = False,
) -> None:
    """Every checkpoint radgauge can use: purpose, id, size, licence, where it is looked for, if it is here.

    Below them the image-text encoders of vlscore: what each needs, its licence, and how far its loading is proved.
    """
    from radgauge.encoders.checkpoints.catalogue import CHECKPOINTS, find, hub_cache, models_dir, places_of
    from radgauge.encoders.image.encoders import known_encoders
    from radgauge.render.tables import Column, table
    from radgauge.render.terminal import console

    proofs = table(
        *("encoder", Column("vlscore:encoder=", fold=True), Column("needs", fold=True)),
        *(Column("licence", fold=True), Column("C", fold=True), Column("loading proved", fold=True)),
        rows=[
            (each.name, each.setting, each.needs, each.licence, each.constant, each.proved)
            for each in known_encoders()
        ],
    )
    if encoders:
        if as_json:
            o.print_json(list(known_encoders()))
        else:
            console().show(proofs)
        return
    found = {each.name: find(each) for each in CHECKPOINTS}
    if as_json:
        o.print_json(
            [
                {
                    **{
                        key: getattr(each, key)
                        for key in ("name", "purpose", "repo", "revision", "file", "licence")
                    },
                    "pinned": each.pinned,
                    "hashes": dict(each.hashes),
                    "megabytes": each.megabytes or None,
                    "path": found[each.name],
                    "looked_in": [str(place) for place in places_of(each)],
                }
                for each in CHECKPOINTS
            ]
        )
        return
    rows = [
        (
            *(each.name, each.purpose),
            (each.id.replace(each.revision, each.revision[:7]) if each.pinned else f"{each.id} (not pinned)")
            + ("" if each.hashes else " (no hash known)"),
            *(str(each.megabytes or "?"), each.licence, str(found[each.name] or "no")),
        )
        for each in CHECKPOINTS
    ]
    heads = ("name", Column("for", fold=True), Column("hub id", fold=True), Column("MB", right=True))
    out = console()
    out.show(table(*heads, Column("licence", fold=True), Column("here", fold=True), rows=rows))
    out.print("")
    out.show(proofs)
    if places:
        for each in CHECKPOINTS:
            out.say(f"{each.name}:", *(f"  {place}" for place in places_of(each)))
    else:
        out.say(
            f"Looked for in {models_dir()} ($RADGAUGE_MODELS), in the hub's cache {hub_cache()} and in the caches "
            "of the authors' packages; --places lists every place."
        )


@o.command(models, "fetch")
def fetch_cli(
    names: Annotated[
        list[str],
        typer.Argument(help="Names from `radgauge models list`, metrics (all that they need), or 'all'."),
    ],
    quiet: o.Quiet = False,
) -> None:
    """Download checkpoints with what belongs to them; what an earlier run fetched is not fetched again.

    Uses huggingface_hub (HF_ENDPOINT, HF_TOKEN and its cache as usual, no telemetry). Files
    whose hash is not the pinned one are refused. RADGAUGE_OFFLINE=1 or HF_HUB_OFFLINE=1
    forbids it.

    Example: radgauge models fetch radcliq
    """
    from radgauge.core.progress import silence, working
    from radgauge.encoders.checkpoints.catalogue import CHECKPOINTS, checkpoints_for, find
    from radgauge.encoders.checkpoints.fetch import fetch

    wanted = CHECKPOINTS if names == ["all"] else [each for name in names for each in checkpoints_for(name)]
    for each in {each.name: each for each in wanted}.values():
        here = find(each)
        if here is not None:
            echo(f"{each.name}: {here}")
            continue
        with silence(quiet), working("fetching") as progress:
            path = fetch(each, progress=progress)
        echo(f"{each.name}: {path}")


@o.command(models, "verify")
def verify_cli(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names from `radgauge models list`; all if none.")
    ] = None,
    models: Annotated[str, typer.Option("--models", help="'published', or a folder with the checkpoints.")] = (
        "published"
    ),
    as_json: o.AsJson = False,
) -> None:
    """Compare files with their published hashes, and recompute the values that authors and peers print for public
    examples: same, or how far off.

    Exit code 3 if anything is off or cannot be loaded; what is not on this machine is listed as missing.
    """
    from radgauge.analysis.model_checks import verify_models
    from radgauge.render.tables import Column, table
    from radgauge.render.terminal import console

    results = verify_models(names or (), models=models)
    if as_json:
        o.print_json(results)
    else:
        rows = [
            (each.name, each.status, "–" if each.difference is None else f"{each.difference:.2g}", each.source)
            for each in results
        ]
        heads = (Column("check", fold=True), "result", Column("largest difference", right=True))
        out = console()
        out.show(table(*heads, Column("source", fold=True), rows=rows))
        out.say(*(f"{each.name}: {each.note}" for each in results if each.note))
        if all(each.status == "missing" for each in results):
            out.say("nothing was verified: none of these checkpoints is on this machine (`radgauge models fetch`)")
    if any(each.status in ("off", "unreadable") for each in results):
        raise typer.Exit(TROUBLE)
