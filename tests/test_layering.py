"""The floors of the house: who may import whom, and how long a function may be."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("heads", "similarity", "spectral", "embeddings", "segmentation")
MODULES = sorted(p.relative_to(ROOT) for top in ("lib", "pages") for p in (ROOT / top).rglob("*.py"))


def imported(path, root=ROOT):
    for node in ast.walk(ast.parse((root / path).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            here = path.parent.parts[: len(path.parent.parts) - node.level + 1] if node.level else ()
            module = ".".join((*here, *([node.module] if node.module else [])))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def test_relative_imports_are_resolved(tmp_path):
    source = tmp_path / "lib" / "corpora" / "gold.py"
    source.parent.mkdir(parents=True)
    source.write_text("from .document import Document\nfrom ..capture import tap\nimport torch.nn")
    names = set(imported(source.relative_to(tmp_path), tmp_path))
    assert {"lib.corpora.document", "lib.capture.tap", "torch.nn"} <= names


def forbidden(path):
    parts = path.parts
    shows = parts[0] == "pages" or parts[1] in {"views", "ui"}
    if not shows:
        yield "streamlit"
    if not (parts[:2] in {("lib", "models"), ("lib", "capture")} or path.as_posix() == "lib/heads/ablation.py"):
        yield "torch"
    if parts[0] == "lib" and parts[1] in ROOMS:
        yield from (f"lib.{room}" for room in ROOMS if room != parts[1])
    if parts[0] == "lib" and parts[1] in {"models", "corpora"}:
        yield from (f"lib.{later}" for later in ("capture", *ROOMS, "report", "precompute"))
    if parts[:2] == ("lib", "capture"):
        yield from (f"lib.{room}" for room in (*ROOMS, "report", "precompute"))
    if parts[0] == "lib" and not shows:
        yield from ("lib.ui", "pages")
        if parts[1] != "report":  # it lies above the rooms and draws a page of its own, without the app
            yield "lib.views"
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


def lengths(path):
    """Name and lines of every function, its docstring not counted."""
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            told = node.body[0] if ast.get_docstring(node) is not None else None
            docstring = told.end_lineno - told.lineno + 1 if told else 0
            yield node.name, node.end_lineno - node.lineno + 1 - docstring


@pytest.mark.parametrize("path", [*MODULES, Path("app.py")], ids=str)
def test_a_function_fits_on_a_screen(path):
    assert [found for found in lengths(path) if found[1] > 60] == []
