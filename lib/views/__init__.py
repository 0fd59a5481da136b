"""Arrays in, pictures out: what the pages draw with."""

from lib.views.component import Figure, show
from lib.views.head_grid import head_grid, head_grid_figure, show_head_grid, thumbnails
from lib.views.heatmap import heatmap, heatmap_figure

__all__ = [
    "Figure",
    "head_grid",
    "head_grid_figure",
    "heatmap",
    "heatmap_figure",
    "show",
    "show_head_grid",
    "thumbnails",
]
