"""The Spectral page in a real browser: a layer is clicked, a band is dragged and moved by keys, numbers leave."""

from playwright.sync_api import expect

from tests.browser.patience import downloaded
from tests.browser.test_app import WAIT, field, picture


def at_rest(tab):
    tab.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=WAIT)


def section(tab, name):
    tab.get_by_role("radio", name=name).or_(tab.get_by_role("button", name=name)).first.click()
    at_rest(tab)


def test_a_layer_is_clicked_and_a_band_is_dragged_and_moved_by_keys(server, tab):
    tab.goto(f"{server.address}/spectral?layer=3")
    picture(tab, "spectral-banded").wait_for(timeout=WAIT)
    panels = tab.locator(".st-key-spectral-layers .hl-panel")
    expect(panels).to_have_count(6)
    expect(panels.nth(3)).to_have_attribute("aria-pressed", "true")
    at_rest(tab)
    panels.nth(1).click()
    expect(field(tab, "Layer")).to_have_value("1", timeout=WAIT)
    expect(tab.get_by_text("Energy by lag in layer 1").first).to_be_visible(timeout=WAIT)
    at_rest(tab)

    lane = picture(tab, "spectral-profile")
    lane.scroll_into_view_if_needed()
    box = lane.bounding_box()
    step = (box["width"] - 16) / 62  # lags −31 … 31
    last, to = (box["x"] + 8 + (31 + lag) * step for lag in (28, 20))
    tab.mouse.move(last, box["y"] + 12)
    tab.mouse.down()
    tab.mouse.move(to, box["y"] + 12, steps=6)
    tab.mouse.up()
    expect(tab.get_by_text("About lag 20").first).to_be_visible(timeout=WAIT)
    at_rest(tab)
    lane.focus()
    tab.keyboard.press("ArrowLeft")
    expect(tab.get_by_text("About lag 19").first).to_be_visible(timeout=WAIT)
    tab.keyboard.press("ArrowDown")
    expect(tab.get_by_text("Band 3 about lag").first).to_be_visible(timeout=WAIT)
    at_rest(tab)
    assert "layer=1" in tab.url
    assert tab.complaints == []


def test_sections_open_and_numbers_are_taken_away(server, tab):
    tab.goto(f"{server.address}/spectral?layer=3")
    picture(tab, "spectral-banded").wait_for(timeout=WAIT)
    at_rest(tab)
    scalogram = tab.locator(".st-key-spectral-scalogram")
    picture(tab, "spectral-scalogram").focus()
    tab.keyboard.press("Home")
    expect(scalogram.locator(".hl-read")).to_contain_text("lag, tokens −31", timeout=WAIT)
    tab.keyboard.press("End")
    expect(scalogram.locator(".hl-read")).to_contain_text("lag, tokens 31", timeout=WAIT)
    section(tab, "Coherency")
    picture(tab, "spectral-coherency").focus()
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowRight")
    expect(tab.locator(".st-key-spectral-coherency .hl-read")).to_contain_text("query position 32 → query position 33")
    expect(tab.locator(".st-key-spectral-coherency .hl-read")).to_contain_text("lag −1")
    section(tab, "How many patterns")
    expect(tab.get_by_text("against the number of windows").first).to_be_visible(timeout=WAIT)
    section(tab, "Heads needed")
    expect(tab.get_by_text("Does the model keep working with that?").first).to_be_visible(timeout=WAIT)
    at_rest(tab)
    file = downloaded(tab, tab.get_by_role("button", name="All layers as CSV"))
    assert "T_spec" in file.read_text("utf-8-sig")
    assert tab.complaints == []
