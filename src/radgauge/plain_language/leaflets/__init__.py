"""Leaflets for patients: pages with the plain text of a report, words explained, pictures, and who signed."""

from radgauge.plain_language.leaflets.folder import WrittenLeaflets, read_leaflets, sign_leaflets, write_leaflets
from radgauge.plain_language.leaflets.leaflet import Decision, Leaflet
from radgauge.plain_language.leaflets.page import PageStyle, leaflet_page, side_by_side_page
from radgauge.plain_language.leaflets.writers import EmbeddedWriter, GivenWriter, ModelWriter

__all__ = [
    "Decision",
    "EmbeddedWriter",
    "GivenWriter",
    "Leaflet",
    "ModelWriter",
    "PageStyle",
    "WrittenLeaflets",
    "leaflet_page",
    "read_leaflets",
    "side_by_side_page",
    "sign_leaflets",
    "write_leaflets",
]
