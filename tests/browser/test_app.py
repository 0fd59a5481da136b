"""A real Chromium against a real server with a real model: what a visitor does in the first five minutes."""

import re

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.patience import TRY, tried

WAIT = 120_000


def ready(tab):
    """Wait until the page is drawn and nothing runs any more."""
    picture(tab, "all-heads").wait_for(timeout=WAIT)
    picture(tab, "one-head").wait_for(state="attached", timeout=WAIT)
    tab.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=WAIT)


def field(tab, label):
    return tab.get_by_label(label, exact=True)


def picture(tab, name):
    return tab.locator(f".st-key-{name} canvas[tabindex]").first


def test_a_deep_link_on_a_fresh_server_and_a_click_soon_after(fresh_server, tab):
    tab.goto(f"{fresh_server.address}/embeddings?layer=3&head=7&corpus=probes")
    expect(tab.get_by_test_id("stSidebarNav").get_by_role("link", name="Spectral")).to_be_visible(timeout=WAIT)
    raw = tab.get_by_test_id("stSidebarNav").get_by_role("link", name="app", exact=True)
    expect(raw).to_have_count(0, timeout=5_000)  # Streamlit's own list of files stands for a moment at most
    expect(field(tab, "Layer")).to_have_value("3", timeout=WAIT)
    tab.get_by_test_id("stSidebar").get_by_text("Special tokens").click()  # while the first run draws
    expect(tab.get_by_role("heading", level=2)).to_contain_text("Where do queries meet keys?", timeout=WAIT)
    tab.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=WAIT)
    expect(tab).to_have_url(re.compile("/embeddings.*special=0"), timeout=WAIT)
    expect(field(tab, "Layer")).to_have_value("3", timeout=WAIT)
    expect(field(tab, "Head")).to_have_value("7")
    assert tab.complaints == []
    assert "Traceback" not in fresh_server.printed()


def test_a_click_chooses_a_head_and_the_link_follows(server, tab):
    tab.goto(server.address)
    ready(tab)
    expect(field(tab, "Layer")).to_have_value("2", timeout=WAIT)  # the default head is a telling one
    box = picture(tab, "all-heads").bounding_box()
    tab.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.9)
    expect(field(tab, "Layer")).not_to_have_value("2", timeout=WAIT)
    layer, head = field(tab, "Layer").input_value(), field(tab, "Head").input_value()
    expect(tab.get_by_text(f"L{layer} H{head}").first).to_be_visible()
    assert re.search(rf"layer={layer}\b.*head={head}\b|head={head}\b.*layer={layer}\b", tab.url)
    assert tab.complaints == []


def test_arrow_keys_move_to_the_neighbouring_head(server, tab):
    tab.goto(f"{server.address}/?layer=2&head=5")
    ready(tab)
    expect(field(tab, "Head")).to_have_value("5", timeout=WAIT)
    picture(tab, "all-heads").focus()
    tab.keyboard.press("ArrowDown")
    expect(field(tab, "Layer")).to_have_value("3", timeout=WAIT)
    tab.keyboard.press("ArrowRight")
    expect(field(tab, "Head")).to_have_value("6", timeout=WAIT)
    assert tab.complaints == []


def upload_by_keyboard(tab, path):
    """Open the box and choose a file without a mouse; what was taken closes the box."""
    box = tab.get_by_role("button", name="Use your own")
    choose = tab.get_by_test_id("stFileUploaderDropzone").locator("button")

    def chosen():
        if not choose.is_visible():
            box.focus()
            tab.keyboard.press("Enter")
        choose.focus(timeout=TRY)
        with tab.expect_file_chooser(timeout=TRY) as chooser:
            tab.keyboard.press("Enter")
        return chooser.value

    tried(tab, chosen).set_files(path)
    expect(tab.get_by_label("Paste text")).to_be_hidden()
    expect(field(tab, "Document")).to_be_visible()


def test_an_uploaded_text_is_shown(server, tab, tmp_path):
    path = tmp_path / "note.txt"
    path.write_text("The bank raised the fee. <s> a<b </script><script>alert(1)</script> 한국어 💩 don’t", "utf-8")
    tab.goto(server.address)
    ready(tab)
    upload_by_keyboard(tab, path)
    expect(field(tab, "Text")).to_have_value("note.txt · your own")
    expect(tab.get_by_text("alert(1)").first).to_be_visible(timeout=WAIT)
    assert tab.complaints == []


def test_an_uploaded_image_is_shown_by_a_vision_model(server, tab, tmp_path):
    pytest.importorskip("onnx", reason="DINOv2-small comes with requirements-models.txt")
    path = tmp_path / "wide.png"
    ramp = np.linspace(0, 255, 640, dtype=np.uint8)
    Image.fromarray(np.broadcast_to(ramp[None, :, None], (320, 640, 3)).copy()).save(path)
    tab.goto(f"{server.address}/?model=DINOv2-small")
    ready(tab)
    upload_by_keyboard(tab, path)
    expect(field(tab, "Images")).to_have_value("wide.png · your own")
    ready(tab)
    assert tab.complaints == []


def test_the_choice_survives_a_visit_to_another_page(server, tab):
    tab.goto(f"{server.address}/embeddings?layer=4&head=3")
    expect(field(tab, "Layer")).to_have_value("4", timeout=WAIT)
    tab.get_by_test_id("stSidebarNav").get_by_role("link", name="Heads").click()
    ready(tab)
    expect(field(tab, "Layer")).to_have_value("4", timeout=WAIT)
    expect(field(tab, "Head")).to_have_value("3")
    expect(tab).to_have_url(re.compile("layer=4"), timeout=WAIT)
    assert tab.complaints == []
