"""Spectral: attention fields by lag and scale, their modes, and how many of them there are."""

from .analysis import Ensemble, LayerAnalysis, analyse, ensemble
from .claim_evidence import Evidence, evidence, paper_rows
from .claims import Pruned, zeris
from .coherency import Coherency, coherency, cross_coherency
from .compare import (
    ScalogramDifference,
    compare_centroids,
    compare_complexity,
    compare_profiles,
    compare_scalograms,
    paired_t,
)
from .evidence import ScaleContrast, basis_errors, complexity, late_minus_early, scale_contrast, spectrum_numbers
from .fields import Field, head_mean_field
from .heads_pod import HeadGrams, head_grams, heads_by_document, heads_needed, keep_order, suggested_allocation
from .lag import LagProfile, band_centres, band_width, lag_bands, lag_profile, lag_window
from .mode_lags import BandBlur, ModeLags, band_blur, leading_mode_lags, mode_lag_profile
from .morlet import default_scales, fourier_period, morlet_cwt, scale_limits
from .nulls import RankGrowth, null_interval, rank_growth, shuffled_lag_spectra, white_noise_spectra
from .pod import Modes, reconstruct, snapshot_pod
from .resampling import Replicates
from .scalogram import DominantScale, Scalogram, dominant_scales, lag_scalogram
from .spectrum import (
    PowerLaw,
    bootstrap_power_law,
    effective_rank,
    entropy_rank,
    fit_power_law,
    participation_ratio,
)
from .wavelets import CHOICES as WAVELETS
from .wavelets import comparison_scalogram
from .windows import Windows, windows

__all__ = [
    "WAVELETS",
    "BandBlur",
    "Coherency",
    "DominantScale",
    "Ensemble",
    "Evidence",
    "Field",
    "HeadGrams",
    "LagProfile",
    "LayerAnalysis",
    "ModeLags",
    "Modes",
    "PowerLaw",
    "Pruned",
    "RankGrowth",
    "Replicates",
    "ScaleContrast",
    "Scalogram",
    "ScalogramDifference",
    "Windows",
    "analyse",
    "band_blur",
    "band_centres",
    "band_width",
    "basis_errors",
    "bootstrap_power_law",
    "coherency",
    "compare_centroids",
    "compare_complexity",
    "compare_profiles",
    "compare_scalograms",
    "comparison_scalogram",
    "complexity",
    "cross_coherency",
    "default_scales",
    "dominant_scales",
    "effective_rank",
    "ensemble",
    "entropy_rank",
    "evidence",
    "fit_power_law",
    "fourier_period",
    "head_grams",
    "head_mean_field",
    "heads_by_document",
    "heads_needed",
    "keep_order",
    "lag_bands",
    "lag_profile",
    "lag_scalogram",
    "lag_window",
    "late_minus_early",
    "leading_mode_lags",
    "mode_lag_profile",
    "morlet_cwt",
    "null_interval",
    "paired_t",
    "paper_rows",
    "participation_ratio",
    "rank_growth",
    "reconstruct",
    "scale_contrast",
    "scale_limits",
    "shuffled_lag_spectra",
    "snapshot_pod",
    "spectrum_numbers",
    "suggested_allocation",
    "white_noise_spectra",
    "windows",
    "zeris",
]
