"""The Similarity page in a real browser: a head is chosen in its map, pairs are filtered, verdicts are read."""

from playwright.sync_api import expect

from tests.browser.patience import downloaded
from tests.browser.test_app import WAIT, field, picture
from tests.browser.test_heads import section


def test_a_click_in_the_map_chooses_the_head_everywhere(server, tab):
    tab.goto(f"{server.address}/similarity?layer=2&head=1&tokens=64")
    picture(tab, "similarity-map").wait_for(timeout=WAIT)
    expect(tab.get_by_text("In the last layer: ").first).to_be_visible(timeout=WAIT)
    tab.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=WAIT)
    picture(tab, "similarity-map").focus()
    tab.keyboard.press("ArrowDown")
    expect(field(tab, "Layer")).to_have_value("3", timeout=WAIT)
    expect(tab.get_by_text("L3 H1", exact=True).first).to_be_visible(timeout=WAIT)
    expect(picture(tab, "similarity-attention")).to_be_visible()
    assert "layer=3" in tab.url
    assert tab.complaints == []


def test_verdicts_are_read_and_taken_away(server, tab):
    tab.goto(f"{server.address}/similarity?tokens=64")
    expect(tab.get_by_text("In the last layer: ").first).to_be_visible(timeout=WAIT)  # the last thing to be drawn
    tab.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=WAIT)
    tab.get_by_role("button", name="Verdicts").or_(tab.get_by_role("radio", name="Verdicts")).first.click()
    card = tab.get_by_text("The last layers' attention maps focus on sentence separators.")
    expect(card.first).to_be_visible(timeout=WAIT)
    text = downloaded(tab, tab.get_by_role("button", name="Verdicts as CSV")).read_text("utf-8-sig")
    assert text.count("arXiv") == 0
    assert "all-MiniLM-L6-v2" in text
    assert tab.complaints == []


def test_orders_go_from_similarity_to_the_pruning_curve_on_heads(server, tab):
    tab.goto(f"{server.address}/similarity?tokens=32&corpus=conversation")
    expect(tab.get_by_text("In the last layer: ").first).to_be_visible(timeout=WAIT)
    section(tab, "Uses")
    expect(tab.get_by_text("Orders of removal")).to_be_visible(timeout=WAIT)
    tab.get_by_text("Try it on Heads").click()
    expect(tab.get_by_text("Heads like this one")).to_be_visible(timeout=WAIT)
    section(tab, "Switch off")
    expect(tab.get_by_text("by similarity and by repetition: from the Similarity page")).to_be_visible(timeout=WAIT)
    for label, value in (("Documents of 12", "1"), ("Budget, change of the loss", "0.002")):
        tab.get_by_label(label).fill(value)
        tab.get_by_label(label).press("Enter")
    tab.locator(".st-key-heads-sweep-start button").click()
    # the work runs beside the page and the page draws it when it is done, without an error in between
    expect(tab.get_by_text("Each role's claim beside its effect")).to_be_visible(timeout=WAIT)
    assert tab.get_by_text("This app has encountered an error").count() == 0
    tab.locator(".st-key-heads-pruning-start button").click()
    expect(tab.get_by_text("can go in the greedy order")).to_be_visible(timeout=WAIT)
    assert "by repetition" in tab.get_by_text("can go in the greedy order").inner_text()
    assert tab.complaints == []
