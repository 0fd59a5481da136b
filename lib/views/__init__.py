"""Arrays in, pictures out: what the pages draw with."""

from lib.views.colouring import Colouring, by_class, by_value
from lib.views.component import Figure, show, show_head_grid
from lib.views.export import csv_bytes, figure_html, matrix_csv, npz_bytes
from lib.views.head_grid import head_grid, head_grid_figure, thumbnails
from lib.views.head_view import flow, head_view, head_view_figure
from lib.views.heatmap import heatmap, heatmap_figure
from lib.views.lag_profile import lag_profile, lag_profile_figure
from lib.views.layer_panels import Panel, layer_panels, layer_panels_figure
from lib.views.linked import linked, linked_figure
from lib.views.matrix_scatter import matrix_scatter, matrix_scatter_figure, show_matrix
from lib.views.patch_attention import patch_attention, patch_attention_figure
from lib.views.png import coloured, grid, png
from lib.views.scatter import coordinates, scatter, scatter_figure
from lib.views.space import space

__all__ = [
    "Colouring",
    "Figure",
    "Panel",
    "by_class",
    "by_value",
    "coloured",
    "coordinates",
    "csv_bytes",
    "figure_html",
    "flow",
    "grid",
    "head_grid",
    "head_grid_figure",
    "head_view",
    "head_view_figure",
    "heatmap",
    "heatmap_figure",
    "lag_profile",
    "lag_profile_figure",
    "layer_panels",
    "layer_panels_figure",
    "linked",
    "linked_figure",
    "matrix_csv",
    "matrix_scatter",
    "matrix_scatter_figure",
    "npz_bytes",
    "patch_attention",
    "patch_attention_figure",
    "png",
    "scatter",
    "scatter_figure",
    "show",
    "show_head_grid",
    "show_matrix",
    "space",
    "thumbnails",
]
