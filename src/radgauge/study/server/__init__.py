"""`radgauge serve`: metrics that stay loaded, behind HTTP.

`requests` reads what is asked, `judge` does the work and knows nothing of HTTP, `app` is the ASGI application,
`stream` answers JSON lines while they arrive, `description` is the OpenAPI document and its page, `workers` runs
several processes. Extra `web`.
"""
