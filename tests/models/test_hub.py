import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import huggingface_hub
import pytest
import torch
import transformers as hf
from huggingface_hub import constants

from lib.models import catalogue, hub, load
from lib.models.devices import OutOfMemory
from lib.models.families import UnsupportedFamily
from lib.models.folder import PickledWeights
from tests.models.conftest import SMALL

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Answers(BaseHTTPRequestHandler):
    """As much of the Hub's interface as one download uses; serves ``server.repositories``: id → folder or error."""

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = self.path.split("?")[0].strip("/")
        name = path.removeprefix("api/models/").split("/tree/")[0].split("/resolve/")[0].split("/revision/")[0]
        found = self.server.repositories.get(name, "RepoNotFound")
        self.server.asked.append(path)
        self.server.tokens.append(self.headers.get("Authorization"))
        if isinstance(found, str) and (found == "RepoNotFound" or "/resolve/" in path):
            return self.answer(b"{}", 404 if found == "RepoNotFound" else 403, {"X-Error-Code": found})
        files = {"config.json": b"{}", "model.safetensors": b""} if isinstance(found, str) else self.files(found)
        if "/resolve/" in path:
            file = path.split("/resolve/")[1].split("/", 1)[1]
            return self.answer(files[file], 200, {"X-Repo-Commit": COMMIT, "ETag": f'"{file}-{len(files[file])}"'})
        if "/tree/" in path:
            tree = [{"type": "file", "path": f, "size": len(b), "oid": f"{f}-{len(b)}"} for f, b in files.items()]
            return self.answer(json.dumps(tree).encode())
        siblings = [{"rfilename": file, "size": self.server.sizes.get(file, len(body))} for file, body in files.items()]
        size = {"parameters": {"F32": self.server.numbers}, "total": self.server.numbers}
        about = {"id": name, "modelId": name, "sha": COMMIT, "siblings": siblings, "safetensors": size}
        return self.answer(json.dumps(about).encode())

    @staticmethod
    def files(folder):
        return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}

    def answer(self, body, status=200, headers=None):
        self.send_response(status)
        for key, value in {
            "Content-Length": str(len(body)),
            "Content-Type": "application/json",
            **(headers or {}),
        }.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_XET_CACHE", str(tmp_path / "xet"))
    return tmp_path / "hub"


@pytest.fixture
def server(own_cache, monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.repositories, server.asked, server.numbers, server.sizes = {}, [], 30_000, {}
    server.tokens = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def no_network(own_cache, monkeypatch):
    def refuse(*args, **kwargs):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_without_a_network_the_way_out_is_told_after_one_question(no_network, monkeypatch):
    asked, client = [], huggingface_hub.HfApi.model_info
    monkeypatch.setattr(
        huggingface_hub.HfApi, "model_info", lambda *a, **k: asked.append(k["timeout"]) or client(*a, **k)
    )
    with pytest.raises(hub.HubUnreachable, match=r"google-bert/bert-base-uncased.*ready offline.*local folder"):
        load("google-bert/bert-base-uncased")
    assert asked == [hub.PATIENCE] and hub.PATIENCE <= 5


def test_a_network_that_never_answers_is_given_up(own_cache, monkeypatch):
    released, hanging = threading.Event(), threading.Event()

    def hang(*args, **kwargs):
        hanging.set()
        released.wait()
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    monkeypatch.setattr(hub, "PATIENCE", 0.1)
    with pytest.raises(hub.HubUnreachable, match=r"within 0\.1 s"):
        load("someone/some-model")
    assert hanging.wait(60) and not released.is_set()  # given up while the question still hangs
    released.set()


def test_a_model_is_fetched_with_its_commit(server, save, bert):
    folder = save(bert)
    (folder / "pytorch_model.bin").write_bytes(b"pickled")
    (folder / "modeling_mine.py").write_bytes(b"raise SystemExit")
    server.repositories["me/bert"] = folder
    engine = load("me/bert")
    assert (engine.name, engine.source, engine.revision, engine.head) == ("me/bert", "hub", COMMIT, "masked-lm")
    with torch.inference_mode():
        ids = torch.tensor([[2, 5, 6, 3]])
        assert torch.equal(engine.model(ids).logits, bert.eval()(ids).logits)
    fetched = [path for path in server.asked if "/resolve/" in path]
    assert not [path for path in fetched if path.endswith((".bin", ".py"))]


def test_what_was_fetched_serves_when_the_hub_is_gone(server, save, bert, monkeypatch):
    server.repositories["me/bert"] = save(bert)
    first = load("me/bert")
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")  # nobody listens there
    second = load("me/bert")
    assert second.revision == first.revision == COMMIT
    assert any("Read from this machine" in note for note in second.notes)


def test_an_unknown_id_is_told_from_a_missing_network(server):
    with pytest.raises(hub.UnknownRepository, match=r"me/nothing.*spelling"):
        load("me/nothing")


def test_a_gated_model_says_how_to_get_in(server):
    server.repositories["them/gated"] = "GatedRepo"
    with pytest.raises(hub.GatedRepository, match=r"huggingface\.co/them/gated.*HF_TOKEN"):
        load("them/gated")


def test_a_repository_of_pickles_is_refused_before_fetching(server, save, bert):
    folder = save(bert)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    server.repositories["me/pickled"] = folder
    with pytest.raises(PickledWeights, match=r"pytorch_model\.bin"):
        load("me/pickled")
    assert not [path for path in server.asked if "/resolve/" in path]


def test_a_family_that_cannot_be_seen_is_refused_before_its_weights_are_fetched(server, save):
    small = {key: value for key, value in SMALL.items() if not key.endswith("token_id")}
    server.repositories["me/mpnet"] = save(hf.MPNetModel(hf.MPNetConfig(**small)))
    with pytest.raises(UnsupportedFamily, match="mpnet"):
        load("me/mpnet")
    assert not [path for path in server.asked if path.endswith("model.safetensors")]


def test_a_model_too_large_for_this_machine_is_refused_before_fetching(server, save, bert):
    server.repositories["me/huge"] = save(bert)
    server.numbers = 10**15
    with pytest.raises(OutOfMemory, match="me/huge"):
        load("me/huge")
    assert not [path for path in server.asked if "/resolve/" in path]


def test_a_model_too_large_for_the_disk_is_refused_before_its_weights_are_fetched(server, save, bert):
    server.repositories["me/huge"] = save(bert)
    server.sizes = {"model.safetensors": 10**18}
    with pytest.raises(hub.DiskFull, match=r"1000000000\.0 GB of free disk for me/huge"):
        load("me/huge")
    assert not [path for path in server.asked if path.endswith("model.safetensors")]


def test_both_fetches_ask_for_the_commit_that_was_answered(server, save, bert, monkeypatch):
    server.repositories["me/bert"] = save(bert)
    asked, own = [], huggingface_hub.snapshot_download
    monkeypatch.setattr(
        "huggingface_hub.snapshot_download", lambda *a, **k: asked.append(k["revision"]) or own(*a, **k)
    )
    load("me/bert")
    assert asked == [COMMIT, COMMIT]


@pytest.mark.parametrize(("setting", "sent"), [("", "Bearer hf_secret"), ("hub", None)])
def test_visitors_do_not_use_the_installations_token(setting, sent, server, save, bert, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("HEADLIGHT_OWN", setting)
    server.repositories["me/bert"] = save(bert)
    load("me/bert")
    assert set(server.tokens) == {sent}


def test_an_error_without_a_message_is_named(server, save, bert, monkeypatch):
    server.repositories["me/bert"] = save(bert)

    def silent(*args, **kwargs):
        raise ConnectionResetError

    monkeypatch.setattr("huggingface_hub.snapshot_download", silent)
    with pytest.raises(hub.HubUnreachable, match="ConnectionResetError"):
        load("me/bert")


def test_a_download_that_stops_is_not_called_a_missing_network(server, save, bert, monkeypatch):
    server.repositories["me/bert"] = save(bert)

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("huggingface_hub.snapshot_download", full)
    with pytest.raises(hub.HubUnreachable, match=r"a download that stopped .*No space left"):
        load("me/bert")


@pytest.mark.parametrize("name", ["gpt2", "google-bert/bert-base-uncased", "a/b.c_d-e"])
def test_hub_ids(name):
    assert hub.is_id(name)


@pytest.mark.parametrize(
    "name", ["", "/a", "a/", "a/b/c", "../a", "a/..", "a b", "~/a", "a\\b", "ü/b", "-a", ".a/b", "a" * 200]
)
def test_what_is_no_hub_id(name):
    assert not hub.is_id(name)


def test_the_catalogue_knows_what_is_already_here(own_cache, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    entry = next(e for e in catalogue() if e.name == "openai-community/gpt2")
    assert not entry.available
    assert "HF_HUB_OFFLINE" in entry.why_not
    repository = Path(constants.HF_HUB_CACHE) / "models--openai-community--gpt2"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT, "utf-8")
    (repository / "snapshots" / COMMIT).mkdir(parents=True)
    for file in ("config.json", "model.safetensors"):
        (repository / "snapshots" / COMMIT / file).touch()
    entry = next(e for e in catalogue() if e.name == "openai-community/gpt2")
    assert (entry.available, entry.why_not) == (True, "")
