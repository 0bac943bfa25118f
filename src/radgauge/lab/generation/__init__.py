"""Report generators at work: reports for studies from their pictures, and what they are worth.

Retrieval hands out the report of the training study whose pictures are most alike (the idea of CXR-RePaiR, Endo et
al. 2021); the network writes (Layman's RRG, section 3.3); consensus chooses among several reports without a
reference.
"""

from radgauge.lab.generation.generate import Generated, generate, read_wanted, write_candidates
from radgauge.lab.generation.instructions import instruction_records, write_instructions

__all__ = [
    "Generated",
    "generate",
    "instruction_records",
    "read_wanted",
    "write_candidates",
    "write_instructions",
]
