"""The Heads page in a real browser: from the catalogue to a head, to a pair of tokens, to switching it off."""

from playwright.sync_api import expect

from tests.browser.test_app import WAIT, field


def section(tab, name):
    tab.get_by_role("button", name=name, exact=True).or_(tab.get_by_role("radio", name=name, exact=True)).first.click()


def test_from_the_catalogue_to_a_head_to_a_pair_to_switching_off(server, tab):
    tab.goto(f"{server.address}/?layer=1&head=1&tokens=48")
    expect(tab.get_by_text("Heads like this one")).to_be_visible(timeout=WAIT)
    section(tab, "Catalogue")
    expect(tab.get_by_text("Intervals: bootstrap over documents")).to_be_visible(timeout=WAIT)
    with tab.expect_download(timeout=WAIT) as download:
        tab.get_by_role("button", name="Catalogue as CSV").click()
    assert "role_strength" in download.value.path().read_text("utf-8-sig")
    points = tab.locator(".st-key-heads-scatter canvas[tabindex]").first
    points.scroll_into_view_if_needed()
    points.focus()
    tab.keyboard.press("Shift+ArrowRight")
    tab.keyboard.press("Enter")
    expect(field(tab, "Layer")).not_to_have_value("1", timeout=WAIT)

    tab.locator(".st-key-one-head").get_by_role("button", name="Heatmap").click()
    cells = tab.locator('.st-key-one-head canvas[aria-label$="Enter chooses."]')
    cells.click(position={"x": 220, "y": 160})
    expect(tab.get_by_text("dimensions; weight after softmax")).to_be_visible(timeout=WAIT)

    section(tab, "Switch off")
    tab.get_by_text("Measure what that does").click()
    expect(tab.get_by_text("largest relative change")).to_be_visible(timeout=WAIT)
    assert tab.complaints == []
