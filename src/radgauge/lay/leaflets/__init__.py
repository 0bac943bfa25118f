"""Leaflets for patients: pages with the plain text of a report, words explained, pictures, and who signed."""

from radgauge.lay.leaflets.folder import WrittenLeaflets, read_leaflets, sign_leaflets, write_leaflets
from radgauge.lay.leaflets.leaflet import Decision, Leaflet
from radgauge.lay.leaflets.page import PageStyle, leaflet_page, side_by_side_page
from radgauge.lay.leaflets.writers import EmbeddedWriter, GivenWriter, ModelWriter

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
