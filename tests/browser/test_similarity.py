"""The Similarity page in a real browser: a head is chosen in its map, pairs are filtered, verdicts are read."""

from playwright.sync_api import expect

from tests.browser.test_app import WAIT, field, picture


def test_a_click_in_the_map_chooses_the_head_everywhere(server, tab):
    tab.goto(f"{server.address}/similarity?layer=1&head=1&tokens=64")
    picture(tab, "similarity-map").wait_for(timeout=WAIT)
    expect(tab.get_by_text("Of a uniform row").first).to_be_visible(timeout=WAIT)
    tab.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=WAIT)
    picture(tab, "similarity-map").focus()
    tab.keyboard.press("ArrowDown")
    expect(field(tab, "Layer")).to_have_value("2", timeout=WAIT)
    expect(tab.get_by_text("L2 H1", exact=True).first).to_be_visible(timeout=WAIT)
    expect(picture(tab, "similarity-attention")).to_be_visible()
    assert "layer=2" in tab.url
    assert tab.complaints == []


def test_verdicts_are_read_and_taken_away(server, tab):
    tab.goto(f"{server.address}/similarity?tokens=64")
    expect(tab.get_by_text("Of a uniform row").first).to_be_visible(timeout=WAIT)  # the last thing to be drawn
    tab.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=WAIT)
    tab.get_by_role("button", name="Verdicts").or_(tab.get_by_role("radio", name="Verdicts")).first.click()
    card = tab.get_by_text("The last layers' attention maps focus on sentence separators.")
    expect(card.first).to_be_visible(timeout=WAIT)
    with tab.expect_download(timeout=WAIT) as download:
        tab.get_by_role("button", name="Verdicts as CSV").click()
    text = download.value.path().read_text("utf-8-sig")
    assert text.count("arXiv") == 0
    assert "all-MiniLM-L6-v2" in text
    assert tab.complaints == []
