"""The colours of pictures, in which every format that has colours draws."""

from rnncalc.reports.pictures.picture import Role

COLOURS: dict[Role, tuple[tuple[str | None, str], tuple[str | None, str]]] = {
    Role.LAYER: (("#e4effa", "#2b6aa6"), ("#16324d", "#7fb4e6")),
    Role.OUTPUT: (("#e5f4e7", "#35803b"), ("#17391b", "#82c788")),
    Role.INPUT: (("#ffffff", "#5d6773"), ("#20262d", "#a4afbb")),
    Role.STATE: (("#fdf2de", "#a2690f"), ("#3d2b0c", "#e2ae5a")),
    Role.GATE: (("#fbe9e7", "#b0443a"), ("#451f1b", "#ea938a")),
    Role.OPERATION: (("#ffffff", "#3b4550"), ("#20262d", "#c3ccd6")),
    Role.BACKWARD: (("#f1e8f8", "#7d3fa8"), ("#321c43", "#c99ae8")),
    Role.DENSE: (("#fbe9e7", "#b0443a"), ("#451f1b", "#ea938a")),
    Role.RECURRENT: (("#e4effa", "#2b6aa6"), ("#16324d", "#7fb4e6")),
    Role.ELIDED: (("#ffffff", "#8a94a0"), ("#181d23", "#7c8793")),
    Role.FRAME: ((None, "#8a94a0"), (None, "#7c8793")),
    Role.AXIS: ((None, "#5d6773"), (None, "#a4afbb")),
}
"""What a role is filled and drawn with, in light and in dark; arrows between layers are drawn as inputs are."""

DASHED = (Role.BACKWARD, Role.ELIDED, Role.FRAME)
"""What is drawn in dashes: going back, and what stands for others."""
