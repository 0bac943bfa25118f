"""`radgauge models` and `radgauge cache`: published checkpoints, and readings that were kept."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from radgauge.cli import options as o
from radgauge.cli.exit_codes import TROUBLE
from radgauge.cli.lines import echo
from radgauge.core.cache import Cache
from radgauge.render.tables import Column, table

models = o.subjects("models")


@o.command(models, "list")
def list_cli(
    places: Annotated[bool, typer.Option("--places", help="Show every place that was looked in.")] = False,
    encoders: Annotated[
        bool, typer.Option("--encoders", help="Only the image-text encoders of vlscore: needs, licence, proof.")
    ] = False,
    say: o.Output = o.Output(),
) -> None:
    """Every checkpoint radgauge can use: purpose, id, size, licence, where it is looked for, if it is here.

    Below them the image-text encoders of vlscore: what each needs, its licence, and how far its loading is proved.
    """
    from radgauge.encoders.checkpoints.catalogue import CHECKPOINTS, find, hub_cache, models_dir, places_of
    from radgauge.encoders.image.encoders import known_encoders

    proofs = table(
        *("encoder", Column("vlscore:encoder=", fold=True), Column("needs", fold=True)),
        *(Column("licence", fold=True), Column("C", fold=True), Column("loading proved", fold=True)),
        rows=[
            (encoder.name, encoder.setting, encoder.needs, encoder.licence, encoder.constant, encoder.proved)
            for encoder in known_encoders()
        ],
    )
    if encoders:
        say.show(list(known_encoders()), proofs)
        return
    paths = {checkpoint.name: find(checkpoint) for checkpoint in CHECKPOINTS}
    data = [
        {
            **{
                key: getattr(checkpoint, key) for key in ("name", "purpose", "repo", "revision", "file", "licence")
            },
            "pinned": checkpoint.pinned,
            "hashes": dict(checkpoint.hashes),
            "megabytes": checkpoint.megabytes or None,
            "path": paths[checkpoint.name],
            "looked_in": [str(path) for path in places_of(checkpoint)],
        }
        for checkpoint in CHECKPOINTS
    ]
    rows = [
        (
            *(checkpoint.name, checkpoint.purpose),
            (
                checkpoint.id.replace(checkpoint.revision, checkpoint.revision[:7])
                if checkpoint.pinned
                else f"{checkpoint.id} (not pinned)"
            )
            + ("" if checkpoint.hashes else " (no hash known)"),
            *(str(checkpoint.megabytes or "?"), checkpoint.licence, str(paths[checkpoint.name] or "no")),
        )
        for checkpoint in CHECKPOINTS
    ]
    heads = ("name", Column("for", fold=True), Column("hub id", fold=True), Column("MB", right=True))
    checkpoints = table(*heads, Column("licence", fold=True), Column("here", fold=True), rows=rows)
    listed = [
        f"Looked for in {models_dir()} ($RADGAUGE_MODELS), in the hub's cache {hub_cache()} and in the caches "
        "of the authors' packages; --places lists every place."
    ]
    if places:
        listed = [
            text
            for checkpoint in CHECKPOINTS
            for text in (f"{checkpoint.name}:", *(f"  {p}" for p in places_of(checkpoint)))
        ]
    say.show(data, checkpoints, "", proofs, *listed)


@o.command(models, "fetch")
def fetch_cli(
    names: Annotated[
        list[str],
        typer.Argument(help="Names from `radgauge models list`, metrics (all that they need), or 'all'."),
    ],
) -> None:
    """Download checkpoints with what belongs to them; what an earlier run fetched is not fetched again.

    Uses huggingface_hub (HF_ENDPOINT, HF_TOKEN and its cache as usual, no telemetry). Files
    whose hash is not the pinned one are refused. RADGAUGE_OFFLINE=1 or HF_HUB_OFFLINE=1
    forbids it.

    Example: radgauge models fetch radcliq
    """
    from radgauge.core.progress import working
    from radgauge.encoders.checkpoints.catalogue import CHECKPOINTS, checkpoints_for, find
    from radgauge.encoders.checkpoints.fetch import fetch

    requested = (
        CHECKPOINTS if names == ["all"] else [checkpoint for name in names for checkpoint in checkpoints_for(name)]
    )
    for checkpoint in {checkpoint.name: checkpoint for checkpoint in requested}.values():
        here = find(checkpoint)
        if here is not None:
            echo(f"{checkpoint.name}: {here}")
            continue
        with working("fetching") as progress:
            path = fetch(checkpoint, progress=progress)
        echo(f"{checkpoint.name}: {path}")


@o.command(models, "verify")
def verify_cli(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names from `radgauge models list`; all if none.")
    ] = None,
    models: Annotated[str, typer.Option("--models", help="'published', or a folder with the checkpoints.")] = (
        "published"
    ),
    say: o.Output = o.Output(),
) -> None:
    """Compare files with their published hashes, and recompute the values that authors and peers print for public
    examples: same, or how far off.

    Exit code 3 if anything is off or cannot be loaded; what is not on this machine is listed as missing.
    """
    from radgauge.analysis.model_checks import verify_models

    results = verify_models(names or (), models=models)
    rows = [
        (check.name, check.status, "–" if check.difference is None else f"{check.difference:.2g}", check.source)
        for check in results
    ]
    heads = (Column("check", fold=True), "result", Column("largest difference", right=True))
    notes = [f"{check.name}: {check.note}" for check in results if check.note]
    if all(check.status == "missing" for check in results):
        notes.append(
            "nothing was verified: none of these checkpoints is on this machine (`radgauge models fetch`)"
        )
    say.show(results, table(*heads, Column("source", fold=True), rows=rows), *notes)
    if any(check.status in ("off", "unreadable") for check in results):
        raise typer.Exit(TROUBLE)


cache = o.subjects("cache")


@o.command(cache, "info")
def info_cli(say: o.Output = o.Output()) -> None:
    """Show the cache: path, size and the readers that filled it."""
    from radgauge.llm.sessions import kept_journals

    info = Cache().info()
    journals = kept_journals()
    answers = {"files": len(journals), "bytes": sum(path.stat().st_size for path in journals)}
    blocks: list[o.Block] = [f"{info.path}: {info.entries:,} readings, {info.bytes / 1e6:.1f} MB"]
    if info.damaged:
        blocks.append("The file is damaged or of another version; the next run starts it anew.")
    if journals:
        size = f"{answers['bytes'] / 1e6:.1f} MB"
        blocks.append(
            f"{journals[0].parent}: answers of {len(journals)} language models, {size}, which were paid for"
        )
    if info.readers:
        rows = [(signature, f"{entries:,}") for signature, entries in info.readers.items()]
        blocks.append(table("reader", Column("readings", right=True), rows=rows))
    say.show({**dataclasses.asdict(info), "language_model_answers": answers}, *blocks)


@o.command(cache, "clear")
def clear_cli(
    answers: Annotated[
        bool, typer.Option("--answers", help="Also what language models answered, which was paid for.")
    ] = False,
) -> None:
    """Remove every cached reading, and texts that unfinished runs into a URL left. Not while such a run works."""
    from radgauge.core.storage import remove_runs
    from radgauge.llm.sessions import kept_journals

    echo(f"removed {Cache().clear():,} readings")
    if left := remove_runs():
        echo(f"removed what {left:,} unfinished runs left")
    journals = kept_journals()
    if answers:
        for path in journals:
            path.unlink()
        echo(f"removed the answers of {len(journals):,} language models")
    elif journals:
        echo(f"kept the answers of {len(journals):,} language models; --answers removes them too")
