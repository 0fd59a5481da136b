"""Spectral: attention fields by lag and scale, their modes, and how many of them there are."""

from .coherency import Coherency, coherency, cross_coherency
from .fields import Field, head_mean_field
from .heads_pod import HeadGrams, head_grams, heads_needed, keep_order, suggested_allocation
from .lag import LagProfile, band_centres, band_width, lag_bands, lag_profile, lag_window
from .morlet import default_scales, fourier_period, morlet_cwt, scale_limits
from .nulls import RankGrowth, null_interval, rank_growth, shuffled_lag_spectra, white_noise_spectra
from .pod import Modes, reconstruct, snapshot_pod
from .scalogram import DominantScale, Scalogram, dominant_scales, lag_scalogram
from .spectrum import (
    PowerLaw,
    bootstrap_power_law,
    effective_rank,
    entropy_rank,
    fit_power_law,
    participation_ratio,
)
from .wavelets import comparison_scalogram
from .windows import Windows, windows

__all__ = [
    "Coherency",
    "DominantScale",
    "Field",
    "HeadGrams",
    "LagProfile",
    "Modes",
    "PowerLaw",
    "RankGrowth",
    "Scalogram",
    "Windows",
    "band_centres",
    "band_width",
    "bootstrap_power_law",
    "coherency",
    "comparison_scalogram",
    "cross_coherency",
    "default_scales",
    "dominant_scales",
    "effective_rank",
    "entropy_rank",
    "fit_power_law",
    "fourier_period",
    "head_grams",
    "head_mean_field",
    "heads_needed",
    "keep_order",
    "lag_bands",
    "lag_profile",
    "lag_scalogram",
    "lag_window",
    "morlet_cwt",
    "null_interval",
    "participation_ratio",
    "rank_growth",
    "reconstruct",
    "scale_limits",
    "shuffled_lag_spectra",
    "snapshot_pod",
    "suggested_allocation",
    "white_noise_spectra",
    "windows",
]
