"""Common base of every web page and service of radgauge, without what it shows.

Headers that forbid foreign content (`headers`), limits on bodies and on requests (`limits`), random tokens that
are kept as hashes (`tokens`), connections that may not be silent for long (`connections`), and servers that listen
on this machine alone unless told otherwise (`server`). Extra `web`: starlette, uvicorn.
"""
