"""The Heads page in a real browser: from the catalogue to a head, to a pair of tokens, to switching it off."""

from playwright.sync_api import expect

from tests.browser.patience import downloaded
from tests.browser.test_app import WAIT, field


def section(tab, name):
    tab.get_by_role("button", name=name, exact=True).or_(tab.get_by_role("radio", name=name, exact=True)).first.click()


def test_from_the_catalogue_to_a_head_to_a_pair_to_switching_off(server, tab):
    tab.goto(f"{server.address}/?layer=1&head=1&tokens=48")
    expect(tab.get_by_text("Heads like this one")).to_be_visible(timeout=WAIT)
    section(tab, "Catalogue")
    expect(tab.get_by_text("Intervals: bootstrap over documents")).to_be_visible(timeout=WAIT)
    file = downloaded(tab, tab.get_by_role("button", name="Catalogue as CSV"))
    assert "role_strength" in file.read_text("utf-8-sig")
    points = tab.locator(".st-key-heads-scatter canvas[tabindex]").first
    points.scroll_into_view_if_needed()
    points.focus()
    tab.keyboard.press("Shift+ArrowRight")
    tab.keyboard.press("Enter")
    expect(field(tab, "Layer")).not_to_have_value("1", timeout=WAIT)

    tab.locator(".st-key-one-head").get_by_role("button", name="Heatmap").click()
    cells = tab.locator('.st-key-one-head canvas[aria-label$="Enter chooses."]')
    cells.click(position={"x": 220, "y": 160})
    expect(tab.get_by_text("dimensions; attention after softmax")).to_be_visible(timeout=WAIT)

    section(tab, "Switch off")
    tab.get_by_text("Measure what switching").click()
    expect(tab.get_by_text("largest relative change")).to_be_visible(timeout=WAIT)
    assert tab.complaints == []


def test_words_show_under_the_pointer_also_where_a_row_rests_on_special_tokens(server, tab):
    tab.goto(f"{server.address}/?corpus=probes&layer=4&head=5")
    words = tab.locator(".st-key-one-head .hl-word")
    words.nth(2).hover(timeout=WAIT)
    expect(tab.locator(".st-key-one-head .hl-read")).to_contain_text("rests on [CLS] and [SEP]; words have their own")
    strongest = words.evaluate_all(
        "spans => Math.max(...spans.map(s => Number((s.style.background.match(/, ([\\d.]+)\\)$/) || [0, 0])[1])))"
    )
    assert strongest > 0.6  # of the 0.68 that the darkest token has
    assert tab.complaints == []


def test_controls_of_one_row_stand_in_one_line(server, tab):
    tab.goto(server.address)
    expect(tab.get_by_text("Heads like this one")).to_be_visible(timeout=WAIT)
    for row in (["Shade by", "Unit", "First token"], ["Over the corpus", "Documents of 68"]):
        tops = [tab.get_by_text(label, exact=True).first.bounding_box()["y"] for label in row]
        assert max(tops) - min(tops) <= 1


def test_nothing_is_cut_off_on_a_telephone(server, tab):
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.goto(server.address)
    expect(tab.get_by_text("Heads like this one")).to_be_visible(timeout=WAIT)
    beyond = tab.get_by_test_id("stMain").evaluate(
        "main => [...main.querySelectorAll('button, canvas, label, p')].filter(e => e.offsetParent && "
        "e.getBoundingClientRect().right > 391).map(e => e.textContent || e.className)"
    )
    assert beyond == []
