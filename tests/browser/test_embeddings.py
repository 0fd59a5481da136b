"""The Embeddings page in a real browser: all heads, one head, its sentence, and what survives what."""

import re

import pytest
from playwright.sync_api import TimeoutError, expect

from tests.browser.chromium import ARGUMENTS, executable
from tests.browser.patience import box_drawn
from tests.browser.test_app import WAIT, field, picture
from tests.browser.test_heads import section


def ready(tab):
    picture(tab, "embeddings-matrix").wait_for(timeout=3 * WAIT)  # the server, the model, the texts, all heads
    picture(tab, "embeddings-one").wait_for(timeout=WAIT)
    expect(tab.get_by_text("near here, near in full")).to_be_visible(timeout=WAIT)
    resting(tab)


def resting(tab):
    tab.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=WAIT)


def reading(tab):
    return tab.locator(".st-key-embeddings-one [role=status]").first


def choose(tab, label, option):
    """Open the list again where a redraw has closed it meanwhile."""
    resting(tab)
    wanted = tab.get_by_role("option", name=option, exact=True)
    for _ in range(3):
        field(tab, label).click()
        try:
            wanted.click(timeout=10_000)
        except TimeoutError:
            tab.keyboard.press("Escape")
        else:
            break
    resting(tab)


def agreed(tab, title, ending):
    """The document that the sidebar and the picture beside the points name alike, waited for: choices may queue."""
    for _ in range(WAIT // 500):
        shown = title.inner_text().removesuffix(ending)
        if field(tab, "Document").input_value() == shown:
            return shown
        tab.wait_for_timeout(500)
    raise AssertionError(f"the sidebar and {title.inner_text()!r} stay apart")


def test_from_all_heads_to_one_to_its_sentence_and_back(server, tab):
    tab.goto(f"{server.address}/embeddings?corpus=probes&layer=2&head=3&tokens=64")
    ready(tab)

    whole = picture(tab, "embeddings-matrix")
    box = whole.bounding_box()
    cell = int((box["width"] - 32) / 12)
    whole.click(position={"x": 32 + 5.5 * cell, "y": 18 + 4.5 * cell})
    expect(field(tab, "Layer")).to_have_value("4")
    expect(field(tab, "Head")).to_have_value("5")
    titles = tab.locator(".st-key-embeddings-one .hl-title")
    expect(titles.nth(0)).to_contain_text("L4 H5 by PCA")

    resting(tab)
    dark = whole.screenshot()
    tab.get_by_label("Search all heads").fill("the")
    tab.keyboard.press("Enter")
    expect(tab.get_by_text(re.compile(r"[\d,]+ of [\d,]+ tokens in \d+ documents"))).to_be_visible()
    expect(reading(tab)).to_contain_text("found")
    resting(tab)
    assert whole.screenshot() != dark, "lit in all heads"
    tab.get_by_label("Search all heads").fill("")
    tab.keyboard.press("Enter")
    expect(reading(tab)).not_to_contain_text("found")

    points = picture(tab, "embeddings-one")
    points.scroll_into_view_if_needed()
    first = titles.nth(1).inner_text()
    for way in ("Right", "Down", "Right", "Up", "Right", "Left"):  # until a point of another document is met
        points.press(f"Shift+Arrow{way}")
        points.press("Enter")
        tab.wait_for_timeout(2_000)  # a choice has begun to be drawn, also on a busy machine
        resting(tab)
        if titles.nth(1).inner_text() != first:
            break
    shown = titles.nth(1).inner_text()
    assert shown != first and shown.endswith("in L4 H5")
    agreed(tab, titles.nth(1), " in L4 H5")
    for way in ("Left", "Right"):  # two choices, the second before the first is drawn
        points.press(f"Shift+Arrow{way}")
        points.press("Enter")
    tab.wait_for_timeout(2_000)
    resting(tab)
    agreed(tab, titles.nth(1), " in L4 H5")

    points.press("ArrowRight")
    expect(field(tab, "Head")).to_have_value("6")
    expect(titles.nth(0)).to_contain_text("L4 H6")
    points.press("ArrowUp")
    expect(field(tab, "Layer")).to_have_value("3")
    expect(titles.nth(0)).to_contain_text("L3 H6")
    assert tab.complaints == []


def test_a_selection_survives_other_colours_but_not_another_head(server, tab):
    tab.goto(f"{server.address}/embeddings?corpus=probes&layer=2&head=3&tokens=64")
    ready(tab)
    points = picture(tab, "embeddings-one")
    points.scroll_into_view_if_needed()
    box = points.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    box_drawn(tab, middle, 120)
    tab.mouse.move(5, 5)
    expect(reading(tab)).to_contain_text("selected")
    selected = re.search(r"([\d,]+) selected", reading(tab).inner_text()).group(1)
    choose(tab, "Coloured by", "position mod 5")
    expect(tab.locator(".st-key-embeddings-one").get_by_text("position mod 5:")).to_be_visible()
    expect(reading(tab)).to_contain_text(f"{selected} selected")
    points.press("ArrowRight")
    expect(tab.locator(".st-key-embeddings-one .hl-title").first).to_contain_text("L2 H4")
    expect(reading(tab)).not_to_contain_text("selected")
    assert tab.complaints == []


def test_a_box_drawn_right_after_the_first_click_selects(fresh_server, tab):
    """The first redraw moves nothing: what was measured before it showed its progress in places of its own."""
    tab.goto(f"{fresh_server.address}/embeddings?corpus=probes&layer=2&head=3&tokens=64")
    picture(tab, "embeddings-one").wait_for(timeout=3 * WAIT)
    expect(tab.get_by_text("near here, near in full")).to_be_visible(timeout=WAIT)
    points = picture(tab, "embeddings-one")
    points.scroll_into_view_if_needed()
    points.evaluate("(canvas) => { canvas.marked = true; }")
    box = points.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    points.press("Shift+ArrowRight")
    points.press("Enter")  # the choice asks for a redraw
    box_drawn(tab, middle, 120)
    tab.mouse.move(5, 5)
    tab.wait_for_timeout(3_000)
    resting(tab)
    assert points.evaluate("(canvas) => canvas.marked === true"), "the same picture as before, not another in its place"
    expect(reading(tab)).to_contain_text("selected")
    assert points.bounding_box() == box
    assert tab.complaints == []


@pytest.fixture
def plain(chromium):
    """A page of a browser that has no WebGL."""
    browser = chromium.browser_type.launch(executable_path=executable(), args=[*ARGUMENTS, "--disable-3d-apis"])
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    yield page
    browser.close()


def test_it_works_without_webgl_and_on_a_telephone(server, plain):
    plain.goto(f"{server.address}/embeddings?corpus=probes&layer=1&head=2&tokens=64")
    assert plain.evaluate("document.createElement('canvas').getContext('webgl')") is None
    ready(plain)
    inside = "(e) => e.getBoundingClientRect().right <= innerWidth + 0.5 && e.getBoundingClientRect().left >= -0.5"
    drawn = plain.locator("[data-testid=stMain] .hl canvas:visible")
    assert drawn.count() >= 3 and all(drawn.nth(i).evaluate(inside) for i in range(drawn.count()))
    section(plain, "3-D")
    expect(plain.get_by_text("this browser has no WebGL")).to_be_visible()
    assert plain.complaints == []
