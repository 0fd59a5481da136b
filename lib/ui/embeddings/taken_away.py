"""Downloads: all heads as a picture, a page and arrays; the chosen head as a page and a table; with their origin."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lib.ui.downloads import download_row, provenance
from lib.ui.embeddings.colours import ROLE_NAMES, norms
from lib.ui.embeddings.maps import Maps
from lib.ui.embeddings.measures import samples
from lib.ui.embeddings.one import Drawn
from lib.ui.embeddings.overview import colours_of_all, picture
from lib.ui.embeddings.stage import Stage
from lib.ui.tables import csv_table
from lib.views import figure_html, npz_bytes, png
from lib.views.matrix_scatter import painted


def downloads(on: Stage, made: Maps, drawn: Drawn | None, doubtful: np.ndarray | None = None) -> None:
    """One quiet row; a file is made when it is asked for. doubtful: as the page marks pictures of low trust."""
    settings = made.settings
    facts = provenance(
        on.now,
        read=on.read.note,
        drawn=samples(on.taken, settings)[0].note or "every token read",
        projection=settings.method,
        scale=settings.scale,
        roles=" ".join(settings.roles),
        seed=settings.seed,
        stream=on.ask.stream,
        coloured=on.look.colour,
        search=on.look.wanted,
    )
    points = on.points(settings)
    stem = f"headlight-{on.name.replace(' ', '-')}"

    def pixels() -> bytes:
        colours, classes = colours_of_all(on, points, made)
        return png(painted(made.points, colours, classes=classes, hits=on.lit(points)), facts)

    def arrays() -> bytes:
        tables = on.taken.tokens, on.taken.key_tokens
        side = [tables[int(key)] for key in points.key_side]
        held = {
            "points": made.points,
            "ready": made.ready,
            "role": np.array(ROLE_NAMES)[points.role],
            "layers": np.array(on.taken.layers),
            "token": np.array([table.text[row] for table, row in zip(side, points.token, strict=True)]),
            "document": np.array([table.doc[row] for table, row in zip(side, points.token, strict=True)]),
            "position": np.array([table.pos[row] for table, row in zip(side, points.token, strict=True)]),
        }
        return npz_bytes(held, facts | {"points": "uint16, each head fills the square 0 … 65535 on one scale"})

    def page() -> bytes:
        return figure_html(picture(on, made, points, doubtful), facts)

    files = {
        "All heads as PNG": ("headlight-embeddings.png", "image/png", pixels),
        "as a page": ("headlight-embeddings.html", "text/html", page),
        "as npz": ("headlight-embeddings.npz", "application/octet-stream", arrays),
    }
    if drawn is not None:
        figure = drawn.figure
        if figure is not None:
            files["This head as a page"] = (f"{stem}.html", "text/html", lambda: figure_html(figure, facts))
        files["This head as CSV"] = (f"{stem}.csv", "text/csv", lambda: csv_table(table_of(on, drawn), facts))
    download_row(files, "embeddings")


def table_of(on: Stage, drawn: Drawn) -> pd.DataFrame:
    """One row per point of the chosen head: token, document, position, role, length, place in the picture."""
    points, tables = drawn.points, (on.taken.tokens, on.taken.key_tokens)
    xy = drawn.tile.projection.xy
    rows = list(zip(points.key_side, points.token, strict=True))
    hits = on.lit(points)
    frame = pd.DataFrame(
        {
            "token": [tables[int(side)].text[row] for side, row in rows],
            "document": [on.read.documents[tables[int(side)].doc[row]].name for side, row in rows],
            "position": [int(tables[int(side)].pos[row]) for side, row in rows],
            "role": np.array(ROLE_NAMES)[points.role],
            "length": norms(on.taken, *on.chosen, points),
        }
    )
    for axis, name in zip(range(xy.shape[1]), "xyz", strict=False):
        frame[name] = xy[:, axis]
    return frame if hits is None else frame.assign(found=hits)
