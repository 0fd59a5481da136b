"""Arrays in, pictures out: what the pages draw with."""

from lib.views.component import Figure, show
from lib.views.head_grid import head_grid, head_grid_figure, show_head_grid, thumbnails
from lib.views.head_view import bipartite, flow, head_view, head_view_figure, text_attention
from lib.views.heatmap import heatmap, heatmap_figure
from lib.views.patch_attention import patch_attention, patch_attention_figure

__all__ = [
    "Figure",
    "bipartite",
    "flow",
    "head_grid",
    "head_grid_figure",
    "head_view",
    "head_view_figure",
    "heatmap",
    "heatmap_figure",
    "patch_attention",
    "patch_attention_figure",
    "show",
    "show_head_grid",
    "text_attention",
    "thumbnails",
]
