"""The service under load: rate, 95th percentile, errors and memory over many requests on this machine.

    python benchmarks/serve.py [--requests 100000] [--clients 4] [--workers 1] [--metric errors]

Each request judges one case whose candidate nobody sent before. Clients keep their connections and wait for each
answer, so the number of requests under way is bounded by the number of clients. Memory is the resident set of all
processes of the service, read from /proc, so Linux only. A plain Starlette application that parses the same
requests and answers at once is measured in the same run: what HTTP itself costs here, whatever else runs.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

import radgauge

FINDINGS = ("effusion", "opacity", "nodule", "atelectasis", "edema", "pneumothorax", "consolidation", "fracture")
SIDES = ("left", "right", "bilateral")
SIZES = ("small", "moderate", "large", "mild", "severe")


def report(rng: random.Random) -> str:
    """A report of some sentences, hardly ever the same twice."""
    sentences = [
        f"{rng.choice(SIZES).capitalize()} {rng.choice(SIDES)} {rng.choice(FINDINGS)} of {rng.randint(1, 999)} mm."
        for _ in range(rng.randint(2, 5))
    ]
    return " ".join([*sentences, "The heart is normal in size. No acute bony abnormality."])


def resident_mb(pid: int) -> float:
    """Memory of a process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    pages = sum(int(Path(f"/proc/{each}/statm").read_text().split()[1]) for each in (pid, *children))
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class Client(threading.Thread):
    """Sends its share of the requests, one after the other."""

    def __init__(self, place: str, number: int, requests: int) -> None:
        super().__init__()
        self.place, self.requests = place, requests
        self.rng = random.Random(number)
        self.seconds: list[float] = []
        self.errors: Counter[str] = Counter()

    def run(self) -> None:
        connection = http.client.HTTPConnection(self.place, timeout=120)
        for _ in range(self.requests):
            case = {"candidate": report(self.rng), "reference": report(self.rng)}
            body = json.dumps({"cases": [case], "resamples": 0})
            began = time.perf_counter()
            try:
                connection.request("POST", "/score", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                values = json.loads(answer.read())["cases"][0]["values"]
                if answer.status != 200 or not values:
                    self.errors[f"status {answer.status}"] += 1
            except (OSError, http.client.HTTPException, KeyError, ValueError) as error:
                self.errors[type(error).__name__] += 1
                connection.close()
            self.seconds.append(time.perf_counter() - began)
        connection.close()


ECHO = """
import asyncio, sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def score(request):
    await request.json()
    return JSONResponse({"cases": [{"values": {"echo": 1.0}}]})

class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets=sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        print(f"http://127.0.0.1:{port}", file=sys.stderr, flush=True)

app = Starlette(routes=[Route("/score", score, methods=["POST"])])
asyncio.run(Server(uvicorn.Config(app, port=0, log_level="critical")).serve())
"""
"""The application that the service is compared with."""


def echo(clients: int, requests: int) -> None:
    """Print the same percentiles for the plain application."""
    command = [sys.executable, "-c", ECHO]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        place = urlsplit(process.stderr.readline().strip()).netloc
        threads = [Client(place, number, requests // clients) for number in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    seconds = np.array([each for thread in threads for each in thread.seconds])
    errors = sum(sum(thread.errors.values()) for thread in threads)
    shown = ", ".join(f"{share}th {np.percentile(seconds, share) * 1000:.1f} ms" for share in (50, 95, 99))
    print(f"plain Starlette echo, {clients} clients: {shown}; errors {errors}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--requests", type=int, default=100_000)
    options.add_argument("--clients", type=int, default=4)
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--metric", default="errors")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "RADGAUGE_CACHE": folder,
            "PYTHONPATH": str(Path(radgauge.__file__).parents[1]),
        }
        command = [sys.executable, "-m", "radgauge", "serve", "--port", "0", "--no-token", "--no-cache"]
        process = subprocess.Popen(
            [*command, "-m", given.metric, "--workers", str(given.workers)],
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert process.stderr is not None
        address = next(found[0] for line in process.stderr if (found := re.search(r"http://\S+", line)))
        place = urlsplit(address).netloc
        warm = Client(place, 999_999, 200)
        warm.start()
        warm.join()
        clients = [Client(place, number, given.requests // given.clients) for number in range(given.clients)]
        memory = [(0, resident_mb(process.pid))]
        began, busy = time.perf_counter(), time.process_time()
        for client in clients:
            client.start()
        step = max(given.requests // 10, 1)
        while any(client.is_alive() for client in clients):
            time.sleep(0.2)
            done = sum(len(client.seconds) for client in clients)
            if done >= memory[-1][0] + step:
                memory.append((done, resident_mb(process.pid)))
                print(f"{done:>8} requests, {memory[-1][1]:.0f} MB", flush=True)
        took = time.perf_counter() - began
        seconds = np.array([each for client in clients for each in client.seconds])
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    errors = sum((client.errors for client in clients), Counter())
    echo(given.clients, given.requests)
    print(
        f"{len(seconds)} requests of one case ({given.metric}), {given.clients} clients, {given.workers} worker(s)"
    )
    busy = time.process_time() - busy
    print(f"{len(seconds) / took:.0f} requests per second; the clients' own processor time {busy:.0f} s")
    for share in (50, 95, 99):
        print(f"{share}th percentile {np.percentile(seconds, share) * 1000:.1f} ms")
    print(f"errors {sum(errors.values())} {dict(errors) or ''}")
    sizes = [size for _, size in memory]
    print(f"memory at the start {sizes[0]:.0f} MB, largest {max(sizes):.0f} MB, at the end {sizes[-1]:.0f} MB")


if __name__ == "__main__":
    main()
