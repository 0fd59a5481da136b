"""Resumable training checkpoints as safetensors and JSON: weights, optimiser moments, progress."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from lib.errors import HeadlightError


def save_checkpoint(folder: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer, state: dict) -> None:
    """Write a checkpoint to `folder`, replacing an older one only when the new one is complete.

    Args:
        folder: made if missing.
        model: its parameters are saved by name.
        optimizer: AdamW over parameters of `model`; its moments are saved by parameter name.
        state: JSON values: step, seconds, history and the settings that must agree on resuming.
    """
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    names = {parameter: name for name, parameter in model.named_parameters()}
    moments = {
        f"{names[parameter]}|{key}": value.contiguous()
        for parameter, values in optimizer.state.items()
        for key, value in values.items()
    }
    save_file({name: parameter.detach() for name, parameter in model.named_parameters()}, fresh / "weights.safetensors")
    save_file(moments, fresh / "optimizer.safetensors")
    (fresh / "state.json").write_text(json.dumps(state, indent=1))
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def load_checkpoint(
    folder: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer, settings: dict
) -> dict | None:
    """Restore a checkpoint into `model` and `optimizer` and return its state; None when there is none.

    Raises:
        HeadlightError: the checkpoint was written with other `settings`.
    """
    complete = next((f for f in (folder, folder.with_name(folder.name + ".new")) if (f / "state.json").is_file()), None)
    if complete is None:
        return None
    state = json.loads((complete / "state.json").read_text())
    if state["settings"] != settings:
        raise HeadlightError(
            f"the settings of the checkpoint, {state['settings']}",
            f"{settings}",
            "Repeat the command that began the run, or train into a new folder.",
        )
    weights, moments = load_file(complete / "weights.safetensors"), load_file(complete / "optimizer.safetensors")
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])
            kept = {key.rpartition("|")[2]: value for key, value in moments.items() if key.rpartition("|")[0] == name}
            optimizer.state[parameter] = kept
    return state
