"""What is said of model files: every doubt and every sign has a sentence of its own."""

from rnncalc.models.files.model import Remark, RemarkKind
from rnncalc.models.sites import Doubt
from rnncalc.reports.read import sentence


def test_each_is_said_in_its_own_words() -> None:
    """One that is added without a sentence is found here, and no two are told alike."""
    layers = [sentence(Remark(doubt, ("weight_hh",), (8, 16))) for doubt in Doubt]
    files = [sentence(Remark(sign, ("weight_hh",))) for sign in RemarkKind]
    assert (len({*layers}), len({*files})) == (len(layers), len(files))
    assert all(" " in said and "{" not in said for said in layers + files)
