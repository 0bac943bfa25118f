"""radgauge measures machine-written radiology reports."""

__version__ = "0.1.0"
