"""`radgauge config`: which defaults are in force, and where they come from."""

from __future__ import annotations

from radgauge.cli import options as o


@o.command(o.app, "config")
def config_cli(say: o.Output) -> None:
    """Show the settings of radgauge.toml that are in force, with their files.

    Examples:

      radgauge config

      radgauge config --json
    """
    from radgauge.core.config import FILE, read_config
    from radgauge.render.tables import table
    from radgauge.render.terminal import console

    config = read_config()
    lines = [
        {"table": name, "key": key, "value": value, "file": str(config.origins[name, key])}
        for name, values in config.tables.items()
        for key, value in values.items()
    ]
    if say.as_json:
        o.print_json({"settings": lines})
        return
    if not lines:
        say.tell(f"no settings: there is no {FILE} here or in your configuration folder (docs/config.md)")
        return
    console().show(table("table", "key", "value", "file", rows=[tuple(map(str, line.values())) for line in lines]))
