"""Runs that do not fit into one process: any number of reports, bounded memory, several processes or machines.

How `radgauge score REPORTS -o FOLDER` works:

1. **Split** (`buckets`). The input (CSV, JSONL, Parquet, or a folder of such files) is read once, row by row. A
   row is checked as `read_cases` checks it and written to one of N bucket files, chosen by a hash of the study id
   (`io.score_folder.part_of`). So all systems of a study meet in one bucket, references meet their candidates, and
   a repeated id is found inside a bucket. N follows from the size of the input, never from the number of workers.
2. **Score** (`work`). A bucket is read, joined and handed to the ordinary `score`; its results are one part of the
   folder (see `io.score_folder`): written beside its place, synced, renamed. The name proves that the part is
   whole. A part depends on its bucket and the settings alone, so whoever scores it, and how often, writes the same
   bytes: this is what makes a run exactly-once, whatever is killed.
   A folder behind a URL has no rename: a part is made here and put as one object, and parts that are there count
   only after they were read back (`radgauge.core.storage`).
3. **Executors** (`executors`, `ray_engine`). One process, a pool of processes, or Ray: they schedule parts, start
   workers anew that died, and try a part again. They are never asked what is done; the folder is.
4. **Finish** (`run`). The keys of every part are read back from disk and compared with the keys that went in, part
   by part. Only then is the manifest complete, and the buckets are removed.
5. **Resume.** The fingerprint of a run hashes its input, its metrics with their signatures, and its settings. The
   same command finds the parts with this fingerprint and scores the others; a folder with another fingerprint is
   refused.
6. **Statistics.** The folder's scores are read as columns, 8 bytes a number. Of more cases than `sums.IN_MEMORY`,
   values are sums over parts, with normal intervals (`sums`).

Metrics whose value depends on the whole run (CIDEr's document frequencies) take a pass of their own over the
buckets before step 2 (`frequencies`).
"""
