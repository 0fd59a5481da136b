"""The Segmentation page in a real browser: paste a transcript, drag the threshold, take the cut text away."""

import json

from playwright.sync_api import expect

from tests.browser.patience import TRY, downloaded
from tests.browser.test_app import WAIT

PASTED = "we met at the station and walked down to the lake it was cold the ferry was late <b>so</b> we drank some tea"


def settled(tab):
    expect(tab.get_by_role("slider")).to_be_visible(timeout=WAIT)
    tab.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=WAIT)


def segments(tab):
    return tab.locator(".st-key-segmentation-picture .hl-row")


def test_paste_drag_download(server, tab):
    tab.goto(f"{server.address}/segmentation?corpus=conversation")
    settled(tab)
    expect(segments(tab).first).to_contain_text("are we still on for Saturday?")
    box = tab.get_by_placeholder("Paste a text or a transcript")
    box.fill(PASTED)
    tab.get_by_role("button", name="Cut", exact=True).click()
    expect(tab.get_by_text("lower-cased, final punctuation removed (recognised)")).to_be_visible(timeout=WAIT)
    settled(tab)
    expect(segments(tab).first).to_contain_text("we met at the station")
    assert " ".join(segments(tab).locator(".hl-line").all_inner_texts()) == PASTED  # markup stays text
    before = segments(tab).count()

    slider = tab.get_by_role("slider")
    slider.focus()
    tab.keyboard.press("Home")
    lower = len(PASTED.split())  # at 0 every gap is a boundary
    expect(segments(tab)).to_have_count(lower)
    expect(tab.get_by_role("cell", name=f"{lower} sentences")).to_be_visible(timeout=WAIT)  # Python knows it too
    taken = json.loads(downloaded(tab, tab.get_by_role("button", name="JSON")).read_text("utf-8"))
    assert len(taken["segments"]) == lower
    assert taken["threshold"] == 0
    assert taken["model"] == "all-MiniLM-L6-v2"

    curve = tab.locator(".st-key-segmentation-picture canvas")
    place = curve.bounding_box()
    tab.mouse.move(place["x"] + 200, place["y"] + 84)  # the threshold's line lies at the bottom
    tab.mouse.down()
    tab.mouse.move(place["x"] + 200, place["y"] + 7, steps=6)
    tab.mouse.up()
    expect(segments(tab)).to_have_count(1, timeout=WAIT)
    tab.get_by_role("button", name="back to what was found").click()
    expect(segments(tab)).to_have_count(before)
    tab.get_by_role("button", name="Running").click()
    expect(tab.locator(".st-key-segmentation-picture .hl-piece")).to_have_count(before)
    text = downloaded(tab, tab.get_by_role("button", name="Text", exact=True)).read_text("utf-8")
    expect(tab.get_by_role("cell", name=f"{before} sentences")).to_be_visible(timeout=WAIT)
    assert text.split() == PASTED.split()
    assert tab.complaints == []


def test_a_telephone_shows_whole_tables_and_whole_choices(server, tab):
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.goto(f"{server.address}/segmentation?corpus=conversation")
    settled(tab)
    layout = tab.get_by_role("group", name="How the text is laid out")
    assert layout.bounding_box()["height"] < 30  # one line
    tab.get_by_text("Methods on this text").click()
    table = tab.locator(".hl-methods")
    expect(table).to_be_visible(timeout=WAIT)
    tab.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=WAIT)
    assert table.evaluate("box => box.scrollWidth <= box.clientWidth")
    name, score, *_, last = (cell.bounding_box() for cell in table.get_by_role("row").nth(1).get_by_role("cell").all())
    assert score["y"] >= name["y"] + name["height"] - 1  # the name stands above its numbers
    assert last["x"] + last["width"] <= 390
    assert tab.complaints == []


def test_a_long_text_is_sent_once_and_its_cutting_stops(server, tab):
    sent = []
    tab.on("websocket", lambda socket: socket.on("framesent", lambda data: sent.append(len(data))))
    tab.goto(f"{server.address}/segmentation?corpus=conversation")
    settled(tab)
    box = tab.get_by_placeholder("Paste a text or a transcript")
    box.fill("so we went on " * 10_000)
    box.press("Control+Enter")
    expect(tab.get_by_role("button", name="Cut 40,000 words")).to_be_visible(timeout=WAIT)
    expect(tab.get_by_placeholder("This text is held.")).to_have_value("")
    tab.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=WAIT)
    assert max(sent) > 140_000
    sent.clear()
    tab.get_by_role("button", name="Cut 40,000 words").click()
    stop = tab.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_visible(timeout=WAIT)
    stop.click(timeout=TRY)
    expect(tab.get_by_text("nothing was kept")).to_be_visible(timeout=WAIT)
    assert max(sent) < 10_000
    assert tab.complaints == []
