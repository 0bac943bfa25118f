"""The verb `layman`."""
