// The running text; every token shaded by its share of the attention of the token in focus.

function textPane(fig, parent, shared) {
  const pane = { box: element("div", "hl-text", parent), spans: { query: [], key: [] } };
  pane.box.tabIndex = 0;
  pane.box.setAttribute("role", "group"); // not "application": the text stays readable word by word
  pane.fill = () => {
    const { meta } = fig.data;
    pane.box.setAttribute("aria-label", `${meta.label} The text; arrow keys move from token to token, Enter holds one.`);
    pane.box.replaceChildren();
    const write = (side, run, heading) => {
      if (heading) element("div", "hl-note", pane.box, heading);
      const lines = element("div", "hl-running", pane.box);
      lines.dir = "auto";
      pane.spans[side] = run.pieces.map((piece, i) => {
        if (run.gaps[i]) lines.append(document.createTextNode(run.gaps[i]));
        const span = element("span", run.special[i] ? "hl-chip" : "hl-word", lines, piece);
        span.dataset.side = side;
        span.dataset.index = i;
        return span;
      });
    };
    write("query", meta.query, meta.same ? "" : "Queries");
    if (meta.same) pane.spans.key = pane.spans.query;
    else write("key", meta.key, "Keys");
    pane.redraw();
  };
  const hit = (event) => {
    const { side, index } = event.target.dataset || {};
    if (!side) return null;
    return { side: fig.data.meta.same ? shared.side() : side, index: Number(index) };
  };
  pane.box.onpointermove = (event) => shared.hover(hit(event));
  pane.box.onpointerleave = () => shared.hover(null);
  pane.box.onclick = (event) => { const at = hit(event); if (at) shared.hold(at); };
  pane.box.onkeydown = (event) => shared.key(event, (at) => pane.spans[at.side][at.index].scrollIntoView({ block: "nearest" }));
  pane.redraw = () => { if (fig.data) textShade(fig, pane, shared); };
  return pane;
}

function textShade(fig, pane, shared) {
  const { meta } = fig.data;
  const focus = shared.focus();
  const source = focus.length ? focus[0].side : shared.side();
  const target = source === "query" ? "key" : "query";
  const [r, g, b] = rgba(target === "query" ? meta.query_colour : meta.key_colour);
  const ring = source === "query" ? meta.query_colour : meta.key_colour;
  const shade = shared.shade(target);
  const masked = shared.masked(target);
  const clear = meta.same ? ["query"] : ["query", "key"];
  for (const side of clear) {
    pane.spans[side].forEach((span, i) => {
      const lit = shade && (meta.same || side === target) ? shade[i] : 0;
      span.style.background = lit > 0.004 ? `rgba(${r},${g},${b},${(0.68 * lit).toFixed(3)})` : "";
      span.classList.toggle("hl-masked", Boolean(masked && (meta.same || side === target) && masked[i]));
      const own = (meta.same || side === source) && shared.isFocus(source, i);
      span.style.boxShadow = own ? `0 0 0 1.5px ${ring}` : "";
    });
  }
}
