"""The reader study as a web application: pages for raters, adjudicators and the organiser.

`create_app` makes the ASGI application of one study; `radgauge study serve` runs it. Templates and small scripts
lie beside this file: no build step, nothing from outside. Extra `web`.
"""
