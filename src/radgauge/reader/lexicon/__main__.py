"""`python -m radgauge.reader.lexicon [files]`: check lexicon files, print problems and counts.

Without files: the built-in lexicon. With files outside the package: those, merged over the built-in lexicon.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from radgauge.reader.lexicon.load import FOLDER, built_in_files, check_lexicon


def main(arguments: list[str]) -> int:
    """Print problems to stderr and counts to stdout; 1 if there are problems."""
    supplied = [Path(argument).resolve() for argument in arguments]
    users = [path for path in supplied if path.parent != FOLDER.resolve()]
    concepts, problems = check_lexicon(built_in_files())
    if users:
        concepts, problems = check_lexicon(users, over=concepts)
    names = {path.name for path in supplied}
    for problem in problems:
        if not names or problem.split(":")[0] in names or any(f"({name}" in problem for name in names):
            sys.stderr.write(problem + "\n")
    by_file: Counter[tuple[str, str]] = Counter((concept.file, concept.kind) for concept in concepts.values())
    for (file, kind), count in sorted(by_file.items()):
        sys.stdout.write(f"{file:24} {kind:12} {count:5}\n")
    terms = sum(len(concept.terms) + len(concept.abbreviations) for concept in concepts.values())
    findings = [concept for concept in concepts.values() if concept.is_finding]
    sys.stdout.write(
        f"{len(concepts)} concepts, {terms} terms; {len(problems)} problem(s); findings without tier: "
        f"{sum(not concept.tier for concept in findings)}, concepts without lay term: "
        f"{sum(not concept.lay and concept.kind != 'normality' for concept in concepts.values())}\n"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
