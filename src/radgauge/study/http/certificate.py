"""Self-signed certificates for a trusted network, made by the program openssl and kept beside the study."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

from radgauge.core.errors import InputError

DAYS = 90


@dataclass(frozen=True, slots=True)
class Certificate:
    """Files of a certificate and its key, both in PEM."""

    certificate: Path
    key: Path

    @property
    def fingerprint(self) -> str:
        """SHA-256 as browsers show it: people compare it before they accept the certificate."""
        der = ssl.PEM_cert_to_DER_cert(self.certificate.read_text(encoding="ascii"))
        return ":".join(f"{byte:02X}" for byte in hashlib.sha256(der).digest())


def self_signed(beside: Path, host: str) -> Certificate:
    """Return the certificate for this host beside a file; it is made once, so that its fingerprint stays."""
    name = f"{beside.name}.{host.replace(':', '_')}"
    files = Certificate(beside.with_name(f"{name}.crt"), beside.with_name(f"{name}.key"))
    if files.certificate.exists() and files.key.exists():
        return files
    program = shutil.which("openssl")
    if program is None:
        raise InputError("--tls makes its certificate with the program openssl, which is not installed")
    try:
        ipaddress.ip_address(host)
        kind = "IP"
    except ValueError:
        kind = "DNS"
    os.close(
        os.open(files.key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    )  # its owner's only, before it is filled
    command = [program, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", str(DAYS), "-subj", "/CN=radgauge study", "-addext", f"subjectAltName={kind}:{host}"]
    command += ["-keyout", str(files.key), "-out", str(files.certificate)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"openssl made no certificate for {host!r}: {done.stderr.strip().splitlines()[-1]}")
    return files
