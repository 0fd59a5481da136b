"""Every view clicked for real: on a small page of its own, with hostile tokens, at two widths."""

from pathlib import Path

import numpy as np
import pytest

from lib import views

from .conftest import Server
from .patience import box_drawn


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("views")
    server = Server(Path(__file__).with_name("views_page.py"), folder / "store")
    yield server.address
    server.stop()


@pytest.fixture
def opened(site, tab):
    def go(view, width=1280):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.goto(f"{site}/?view={view}")
        tab.locator("canvas[role=application]:visible, .hl-text:visible").first.wait_for(timeout=60_000)
        tab.wait_for_timeout(400)
        return tab

    yield go
    assert tab.complaints == []
    assert tab.evaluate("window.harmed") is None


def canvas(tab, n=0):
    return tab.locator("canvas[role=application]:visible").nth(n)


def press(tab, x, y, n=0):
    canvas(tab, n).click(position={"x": x, "y": y})


def told(tab, text):
    tab.locator("code", has_text=text).wait_for(timeout=15_000)
    return tab.locator("code").inner_text()


def test_a_click_and_an_arrow_key_choose_a_head(opened):
    tab = opened("grid")
    box = canvas(tab).bounding_box()
    cell = (box["width"] - 32) / 4
    press(tab, 32 + 2.5 * cell, 18 + 1.5 * cell)
    assert "(1, 2)" in told(tab, "'head': (1, 2)")
    canvas(tab).press("ArrowDown")
    assert "(2, 2)" in told(tab, "'head': (2, 2)")
    canvas(tab).press("ArrowDown")
    tab.wait_for_timeout(500)
    assert "(2, 2)" in told(tab, "'head': (2, 2)"), "the edge is the end"
    assert tab.get_by_text("L2 H2").first.is_visible()


def test_the_head_chosen_by_keyboard_is_told_aloud(opened):
    tab = opened("scores")
    small, scores = tab.get_by_role("status").nth(0), tab.get_by_role("status").nth(1)
    assert scores.inner_text() == "L0 H0 · previous token · score 0" and small.text_content() == ""
    canvas(tab, 1).press("ArrowRight")
    told(tab, "'head': (0, 1)")
    assert scores.inner_text() == "L0 H1 · previous token · score 0.100" and small.text_content() == ""
    canvas(tab, 0).press("ArrowDown")
    told(tab, "'head': (1, 1)")
    assert small.text_content() == scores.inner_text() == "L1 H1 · previous token · score 0.500"
    box = small.bounding_box()
    assert box["width"] <= 1 and box["height"] <= 1, "read aloud, not shown"


def test_a_cell_is_read_and_chosen_by_keyboard(opened):
    tab = opened("heatmap")
    canvas(tab).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        canvas(tab).press(key)
    read = tab.get_by_role("status").first
    assert read.inner_text().replace("\xa0", " ") == "query cat 2 → key the 1 · weight 0.900 · lag 1"
    canvas(tab).press("Enter")
    told(tab, "'cell': (2, 1)")
    canvas(tab).press("Home")
    for _ in range(3):
        canvas(tab).press("ArrowRight")
    assert "masked" in read.inner_text()


def test_tokens_are_held_and_summed_in_every_form(opened):
    tab = opened("head")
    tab.get_by_role("button", name="Text").click()
    words = tab.locator(".hl-running span")
    assert words.nth(3).inner_text() == "</script><script>window.harmed = 1</script>"
    words.nth(2).click()
    told(tab, "'pair': (2, 1)")
    words.nth(3).click()
    told(tab, "'pair': (3, 2)")
    tab.mouse.move(5, 5)
    read = tab.get_by_role("status").first
    assert read.inner_text().startswith("cat 2 + ") and "the 1 0.914" in read.inner_text()
    tab.get_by_role("button", name="Lines").click()
    tab.mouse.move(5, 5)
    assert read.inner_text().startswith("cat 2 + ")
    assert words.nth(5).evaluate("e => e.className").find("hl-masked") > 0
    tab.get_by_role("button", name="Clear held").click()
    assert "Point at a token" in read.inner_text()


def test_words_are_shaded_beside_a_special_token_that_takes_most(opened):
    tab = opened("sink")
    tab.mouse.move(5, 5)
    alpha = "(e) => Number((getComputedStyle(e).backgroundColor.match(/[\\d.]+/g) || [])[3] || 0)"
    shades = [span.evaluate(alpha) for span in tab.locator(".hl-running span").all()]
    assert (shades[0], shades[4]) == pytest.approx((0.68, 0.68 * 0.17 / 0.8), abs=0.01), "special among special"
    assert shades[1] == pytest.approx(0.68, abs=0.01) and shades[2] == pytest.approx(0.34, abs=0.01)
    assert "words on their own scale" in tab.get_by_role("status").first.inner_text()
    tab.locator(".hl-running span").nth(3).hover()
    held = [span.evaluate(alpha) for span in tab.locator(".hl-running span").all()]
    assert held[:3] == pytest.approx(shades[:3], abs=0.01), "words keep their own scale under the pointer"


def test_the_text_is_text_and_its_tokens_are_reached_by_keyboard(opened):
    tab = opened("head")
    tab.get_by_role("button", name="Text").click()
    text = tab.locator(".hl-text")
    assert text.get_attribute("role") == "group" and "cat" in text.aria_snapshot()
    text.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        text.press(key)
    told(tab, "'pair': (2, 1)")
    assert tab.get_by_role("status").first.inner_text().startswith("cat 2 attends to the 1")


def test_a_patch_and_a_register_are_chosen(opened):
    tab = opened("patches")
    box = canvas(tab).bounding_box()
    press(tab, box["width"] * 0.9, box["height"] * 0.75)
    told(tab, "'patch': (8,)")
    tab.get_by_role("button", name="CLS").click()
    told(tab, "'patch': (0,)")
    tab.get_by_role("button", name="Links").click()
    tab.get_by_role("slider").fill("0")
    assert tab.get_by_role("status").first.inner_text().startswith("56 links")


def test_a_pressed_button_keeps_the_focus(opened):
    tab = opened("patches")
    focused = "(e) => e.getRootNode().activeElement === e && e.getAttribute('aria-pressed')"
    for name in ("attended by", "CLS", "Strongest", "Links"):
        button = tab.get_by_role("button", name=name)
        button.focus()
        button.press("Enter")
        if name == "CLS":
            told(tab, "'patch': (0,)")
            tab.wait_for_timeout(300)
        assert button.evaluate(focused) == "true", name
    tab = opened("heatmap")
    button = tab.get_by_role("button", name="log")
    button.focus()
    button.press("Enter")
    assert button.evaluate(focused) == "true"
    assert tab.get_by_role("button", name="linear").get_attribute("aria-pressed") == "false"
    ends = tab.get_by_role("img").first.get_attribute("aria-label")
    assert ends.startswith("Colour scale from 9×10⁻⁵ to 0.900"), "a logarithm begins above zero"


def test_the_chosen_patch_is_told_in_every_form(opened):
    tab = opened("signed")
    read = tab.get_by_role("status").first
    for name, said in (("Strongest", "row 1, column 1 → row 1, column 0, 0.800"), ("Links", " · 3 at row 1, column 0")):
        tab.get_by_role("button", name=name).click()
        canvas(tab).press("ArrowLeft")
        if name == "Links":
            tab.get_by_role("slider").fill("0")
        assert said in read.inner_text()


def test_signed_values_over_an_image_are_red_and_blue(opened):
    tab = opened("signed")
    pixel = "(e, [x, y]) => [...e.getContext('2d').getImageData(e.width * x, e.height * y, 1, 1).data]"
    alike, unlike = (canvas(tab).evaluate(pixel, at) for at in ([0.45, 0.7], [0.45, 0.2]))
    assert alike[0] > alike[2] + 20 and unlike[2] > unlike[0] + 20
    canvas(tab).press("ArrowUp")
    alike, unlike = (canvas(tab).evaluate(pixel, at) for at in ([0.3, 0.2], [0.3, 0.7]))
    assert alike[0] > alike[2] + 20 and unlike[2] > unlike[0] + 20
    assert tab.get_by_role("button", name="attends to").count() == 0, "a symmetric matrix has no direction"
    tab.get_by_role("button", name="Links").click()
    read, slider = tab.get_by_role("status").first, tab.get_by_role("slider")
    assert read.inner_text().startswith("28 links") and int(slider.input_value()) < -900
    slider.fill("0")
    assert read.inner_text().startswith("12 links")
    slider.fill("-500")
    assert read.inner_text().startswith("12 links")


def test_a_selection_survives_other_colours(opened):
    tab = opened("scatter")
    box = canvas(tab).bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    box_drawn(tab, middle, 60)
    before = told(tab, "'points': (")
    tab.get_by_text("Other colours").click()
    tab.wait_for_timeout(1000)
    assert tab.get_by_role("button", name="Clear selection").is_visible()
    assert "selected" in tab.get_by_role("status").first.inner_text() and told(tab, "'points': (") == before
    canvas(tab).press("Escape")
    told(tab, "'points': ()")


def test_colours_that_speak_for_themselves_end_in_no_colon(opened):
    legends = opened("bare").locator(".hl-legends")
    assert [legends.nth(i).inner_text().split("\n")[0] for i in range(2)] == ["the patch's mean colour", "kind:"]


PIXEL = """(cv, [column, row, shift]) => {
  const [w, h] = [cv.clientWidth, cv.clientHeight];
  const side = Math.min(w, h) - 36;
  const x = (w - side) / 2 + (side * column) / 9 + shift;
  const y = (h - side) / 2 + side * (1 - row / 9);
  const ratio = cv.width / w;
  return Array.from(cv.getContext("2d").getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data);
}"""


def test_points_are_painted_where_they_are_and_anew_in_other_colours(opened):
    tab = opened("scatter")

    def painted(column, shift=0):
        return [canvas(tab).evaluate(PIXEL, [column, row, shift]) for row in range(10)]

    def near(pixel, hexed, alpha=0.78):
        wanted = [alpha * int(hexed[i : i + 2], 16) + (1 - alpha) * 0xFC for i in (1, 3, 5)]
        return all(abs(got - part) < 6 for got, part in zip(pixel, wanted, strict=False))

    one = views.by_class(np.zeros(1, int), ["all"]).colours[0]
    ramp = views.by_value(np.arange(10)).colours
    assert all(near(pixel, one) for pixel in painted(0))
    assert all(near(pixel, "#FCFCFD", 1) for pixel in painted(0, shift=-9)), "nothing beside the points"
    tab.get_by_text("Other colours").click()
    tab.wait_for_timeout(1000)
    assert all(near(pixel, ramp[0]) for pixel in painted(0))
    assert any(near(pixel, ramp[-1]) for pixel in painted(9)), "where no label lies over the last column"
    before = painted(0)
    box = canvas(tab).bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.wait_for_timeout(300)
    assert painted(0) == before, "pointing at a place leaves the others as they are"


def test_points_are_chosen_without_a_mouse(opened):
    tab = opened("scatter")
    tab.mouse.move(5, 5)
    canvas(tab).focus()
    for key in ("Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowUp", "Enter"):
        canvas(tab).press(key)
    first = told(tab, "'point': (")
    canvas(tab).press("Shift+ArrowLeft")
    canvas(tab).press("Enter")
    tab.locator("code", has_text="'point'").filter(has_not_text=first).wait_for(timeout=15_000)
    before, after = (int(text.split("'point': (")[1].split(",")[0]) for text in (first, told(tab, "'point': (")))
    assert after == before - 1


def test_all_heads_zoom_and_one_is_chosen(opened):
    tab = opened("matrix")
    box = canvas(tab).bounding_box()
    cell = (box["width"] - 32) / 4
    press(tab, 32 + 3.5 * cell, 18 + 2.5 * cell)
    told(tab, "'head': (2, 3)")
    before = canvas(tab).screenshot()
    canvas(tab).press("+")
    tab.wait_for_timeout(200)
    assert canvas(tab).screenshot() != before
    canvas(tab).press("0")
    canvas(tab).press("ArrowUp")
    told(tab, "'head': (1, 3)")


def test_a_point_and_its_token_light_each_other(opened):
    tab = opened("linked")
    box = canvas(tab, 1).bounding_box()
    tab.mouse.move(box["x"] + 20, box["y"] + 24 + 18 * 2.5)
    points, text = tab.get_by_role("status").nth(0), tab.get_by_role("status").nth(1)
    assert points.inner_text().startswith("cat · query") and text.inner_text().startswith("cat 2 attends to the 1")
    cloud = canvas(tab, 0).bounding_box()
    side = min(cloud["width"], cloud["height"]) - 36
    left, middle = (cloud["width"] - side) / 2, cloud["height"] / 2
    tab.mouse.move(cloud["x"] + left + side * 2 / 7, cloud["y"] + middle - side / 14)
    tab.wait_for_timeout(300)
    assert points.inner_text().startswith("cat · key") and text.inner_text().startswith("cat 2 is attended by")
    tab.mouse.down()
    tab.mouse.up()
    told(tab, "'point': (10,)")


@pytest.mark.parametrize("width", [390, 900, 1280, 1600])
@pytest.mark.parametrize("view", ["scatter", "linked"])
def test_the_line_under_the_points_is_never_cut(opened, view, width):
    tab = opened(view, width=width)
    fits = "(e) => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight"
    line = tab.get_by_role("status").first
    assert "wheel zooms after a click" in line.inner_text()
    assert line.evaluate(fits)
    box = canvas(tab).bounding_box()
    tab.keyboard.down("Shift")
    tab.mouse.move(box["x"] + 4, box["y"] + 4)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] - 4, box["y"] + box["height"] - 4, steps=3)
    tab.mouse.up()
    tab.keyboard.up("Shift")
    tab.mouse.move(2, 2)
    tab.wait_for_timeout(300)
    assert " selected" in line.inner_text()
    assert line.evaluate(fits)
    canvas(tab).press("Shift+ArrowRight")
    tab.wait_for_timeout(300)
    assert line.inner_text().endswith(" selected"), "a point is told, and what is selected besides"


@pytest.mark.parametrize("view", ["grid", "heatmap", "head", "patches", "scatter", "matrix", "linked"])
def test_a_telephone_shows_everything(opened, view):
    tab = opened(view, width=390)
    inside = "(e) => e.getBoundingClientRect().right <= innerWidth + 0.5 && e.getBoundingClientRect().left >= -0.5"
    drawn = tab.locator("[data-testid=stMain] .hl canvas:visible, [data-testid=stMain] .hl-bar:visible")
    assert drawn.count() > 0 and all(drawn.nth(i).evaluate(inside) for i in range(drawn.count()))
    unnamed = "[...document.querySelectorAll('*')].map(e => e.shadowRoot).filter(Boolean)" + (
        ".flatMap(r => [...r.querySelectorAll('canvas')]).filter(c => !c.getAttribute('aria-label')).length"
    )
    assert tab.evaluate(unnamed) == 0
