"""The floors of the house: who may import whom."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("heads", "similarity", "spectral", "embeddings", "segmentation")
MODULES = sorted(p.relative_to(ROOT) for top in ("lib", "pages") for p in (ROOT / top).rglob("*.py"))


def imported(path):
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def forbidden(path):
    parts = path.parts
    shows = parts[0] == "pages" or parts[1] in {"views", "ui"}
    if not shows:
        yield "streamlit"
    if not (
        parts[:2] in {("lib", "models"), ("lib", "capture")} or path.as_posix() == "lib/heads/ablation.py"
    ):
        yield "torch"
    if parts[0] == "lib" and parts[1] in ROOMS:
        yield from (f"lib.{room}" for room in ROOMS if room != parts[1])
    if parts[0] == "lib" and parts[1] in {"models", "corpora"}:
        yield from (f"lib.{later}" for later in ("capture", *ROOMS))
    if parts[0] == "lib" and not shows:
        yield from ("lib.views", "lib.ui", "pages")
    if parts[0] == "lib" and parts[1] == "views":
        yield from ("lib.ui", "pages")


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_imports_stay_on_their_floor(path):
    names = set(imported(path))
    broken = {n for n in names for f in forbidden(path) if n == f or n.startswith(f + ".")}
    assert not broken, f"{path} imports {sorted(broken)}"


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_modules_fit_in_the_head(path):
    assert len((ROOT / path).read_text("utf-8").splitlines()) < 300
