"""The Spectral page in a real browser: scalograms stand, a band is chosen, numbers are taken away."""

from playwright.sync_api import expect

from tests.browser.test_app import WAIT, picture


def test_scalograms_stand_and_a_band_is_chosen(server, tab):
    tab.goto(f"{server.address}/spectral?layer=3")
    picture(tab, "spectral-banded").wait_for(timeout=WAIT)
    panels = tab.locator("img[alt*=centroid]")
    expect(panels).to_have_count(6)
    tab.get_by_role("radio", name="28").or_(tab.get_by_role("button", name="28")).first.click()
    expect(tab.get_by_text("About lag 28").first).to_be_visible(timeout=WAIT)
    tab.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=WAIT)
    with tab.expect_download(timeout=WAIT) as download:
        tab.get_by_role("button", name="All layers as CSV").click()
    assert "T_spec" in download.value.path().read_text("utf-8-sig")
    assert tab.complaints == []
