"""What leaves Python arrives: codes are read as they were written, and an exported page works alone."""

import json

import numpy as np

from lib.views.component import script
from lib.views.export import figure_html
from lib.views.head_view import head_view_figure
from lib.views.packet import quantise, restore


def test_the_browser_reads_codes_as_python_does(tab):
    values = np.linspace(-2, 3, 50)
    found = {}
    for kind, bits in (("sequential", 8), ("sequential", 16), ("diverging", 8), ("diverging", 16)):
        codes = quantise(values, -2, 3, bits, kind)
        meta = {"kind": kind, "low": -2, "high": 3}
        source = (
            "([code, meta, codes, bits]) => { const decoder = new Function(code + '; return decoder;')();"
            " const array = (bits === 8 ? Uint8Array : Uint16Array).from(codes);"
            " return Array.from(array, decoder(meta, array)); }"
        )
        found[kind, bits] = tab.evaluate(source, [script("heatmap"), meta, codes.tolist(), bits])
        np.testing.assert_allclose(found[kind, bits], restore(codes, -2, 3, kind), rtol=1e-9, atol=1e-12)
    assert len(found) == 4


def test_an_exported_page_works_alone(tab, tmp_path):
    evil = "</script><script>window.harmed = 1</script>"
    figure = head_view_figure(np.eye(3), ["a", evil, "b"], title=evil)
    (tmp_path / "figure.html").write_bytes(figure_html(figure, {"model": evil, "seed": 0}, title=evil))
    requests = []
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto((tmp_path / "figure.html").as_uri())
    tab.locator("canvas[role=application]:visible").wait_for()
    tab.get_by_role("button", name="Text").click()
    assert tab.locator(".hl-running span").nth(1).inner_text() == evil
    assert json.loads(tab.locator("#metadata").text_content()) == {"model": evil, "seed": 0}
    assert [url for url in requests if not url.startswith(("file:", "blob:", "data:"))] == []
    assert tab.complaints == [] and tab.evaluate("window.harmed") is None
