"""Tables 2, 3, 5, 6, 7, 10, 11 and figure 2 of Zhao et al., Layman's RRG (2024).

python reproduce/layman.py robustness                                # table 2
python reproduce/layman.py agree ratings.csv --reports reports.csv   # table 3
python reproduce/layman.py statistics sets                           # table 5
python reproduce/layman.py trace sets 17                             # table 6
python reproduce/layman.py tuning sets -o tuning.jsonl               # table 7
python reproduce/layman.py grid mimic=mimic.csv --model embedded     # tables 10 and 11
python reproduce/layman.py training outputs.csv -o figure2/          # figure 2
python reproduce/layman.py readability lay_versions.csv
"""

from layman_rrg import cli_grid, cli_sets, cli_studies

__all__ = ["cli_grid", "cli_sets"]

if __name__ == "__main__":
    cli_studies.layman()
