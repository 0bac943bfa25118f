"""Published corpora as studies: sections, images, labels, split, patient; read from the files as released."""

from radgauge.corpora.recognise import read_studies
from radgauge.corpora.studies import Study

__all__ = ["Study", "read_studies"]
