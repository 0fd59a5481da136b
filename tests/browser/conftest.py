"""A fresh server and a fresh browser page for the tests that click for real."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.chromium import ARGUMENTS, executable

ROOT = Path(__file__).resolve().parents[2]
expect.set_options(timeout=120_000)  # a busy machine draws late; what never comes still fails


def pytest_collection_modifyitems(items):
    for item in items:
        if ROOT / "tests" / "browser" in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if executable() is None:
                item.add_marker(pytest.mark.skip(reason="no Chromium on this machine"))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """``streamlit run`` of one script, stopped by its process id."""

    def __init__(self, script: Path, store: Path) -> None:
        self.address = f"http://127.0.0.1:{(port := free_port())}"
        command = [sys.executable, "-m", "streamlit", "run", str(script)]
        options = ["--server.port", str(port), "--server.address", "127.0.0.1", "--server.headless", "true"]
        environment = os.environ | {"HEADLIGHT_STORE": str(store), "PYTHONPATH": str(ROOT)}
        self.log = store.with_suffix(".log").open("w+")
        self.process = subprocess.Popen(
            command + options, cwd=ROOT, env=environment, stdout=self.log, stderr=subprocess.STDOUT
        )
        self._wait()

    def _wait(self) -> None:
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=2) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.2)
        raise RuntimeError(f"the server did not come up:\n{self.printed()}")

    def printed(self) -> str:
        self.log.seek(0)
        return self.log.read()

    def stop(self) -> None:
        self.process.kill()  # by its process id; a server in the middle of an import does not hear a gentler signal
        self.process.wait(timeout=60)
        self.log.close()


@pytest.fixture
def fresh_server(tmp_path):
    server = Server(ROOT / "app.py", tmp_path / "store")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    server = Server(ROOT / "app.py", tmp_path_factory.mktemp("server") / "store")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        yield browser
        browser.close()


def probing(message):
    """Streamlit's client looks for its server below a deep link's path first: two 404 that are not the app's."""
    return "404" in message.text and "/_stcore/" in message.location.get("url", "")


@pytest.fixture
def tab(chromium):
    """A page in a fresh profile; ``tab.complaints`` collects console errors and uncaught exceptions."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda m: page.complaints.append(m.text) if m.type == "error" and not probing(m) else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    yield page
    context.close()
