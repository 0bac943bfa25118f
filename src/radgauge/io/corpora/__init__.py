"""Published corpora as studies: sections, images, labels, split, patient; read from the files as released."""

from radgauge.io.corpora.recognise import read_studies
from radgauge.io.corpora.studies import Study

__all__ = ["Study", "read_studies"]
