// Points with hover, zoom, pan, selection, links and labels that do not overlap.

function scatterPane(fig, parent) {
  const pane = { views: new Map(), stamps: new Map(), hover: null, onChoose() {}, onSelect() {}, onHover() {}, onStep() {} };
  pane.bar = element("div", "hl-bar", parent);
  pane.legend = element("div", "hl-bar hl-legends", parent);
  pane.canvas = element("canvas", "hl-panning", parent);
  pane.layer = document.createElement("canvas").getContext("2d");
  pane.read = element("div", "hl-read hl-long", parent);
  pane.read.setAttribute("role", "status");
  pane.note = element("div", "hl-note", parent);
  pane.update = (data) => {
    pane.data = data;
    const id = `${data.meta.id}|${data.xy.length}`;
    if (!pane.views.has(id)) {
      pane.views.clear();
      pane.views.set(id, { k: 1, x: 0, y: 0, selected: new Set() });
    }
    pane.view = pane.views.get(id);
    pane.chosen = data.meta.chosen;
    pane.hover = null;
    pane.links = null;
    pane.note.textContent = data.meta.note;
    pane.index = null;
    if (!pane.order || pane.order.length !== data.xy.length / 2) pane.order = shuffled(data.xy.length / 2);
    scatterSheet(pane);
    interactive(pane.canvas, data.meta.label);
    scatterBar(fig, pane);
    pane.redraw();
  };
  pane.redraw = () => { if (pane.data && fig.width && !pane.resting) scatterDraw(fig, pane); };
  scatterHandlers(fig, pane);
  return pane;
}

function scatterBar(fig, pane) {
  const { meta } = pane.data;
  pane.bar.replaceChildren();
  element("span", "hl-title", pane.bar, meta.title);
  pane.clear = element("button", "hl-plain", pane.bar, "Clear selection");
  pane.clear.type = "button";
  pane.clear.onclick = () => scatterSelect(pane, []);
  const zooms = element("div", "hl-set", pane.bar);
  for (const [text, label, act] of [["+", "Zoom in", () => scatterZoom(fig, pane, 1.5)], ["−", "Zoom out", () => scatterZoom(fig, pane, 1 / 1.5)], ["All", "Show everything", () => scatterHome(pane)]]) {
    const button = element("button", "", zooms, text);
    button.type = "button";
    button.setAttribute("aria-label", label);
    button.onclick = act;
  }
  legends(pane.legend, meta);
  const { roles } = pane.data;
  if (!roles) return;
  const there = meta.role_names.map((name, role) => (roles.includes(role) ? `${ROLE_SIGNS[role]} ${name}` : "")).filter(Boolean);
  element("span", "hl-key hl-quiet", pane.legend, there.join("  "));
}

// Points sorted into 64 × 64 squares of the plane, to find the one under the pointer.
function scatterIndex(xy) {
  const buckets = new Map();
  for (let i = 0; i < xy.length / 2; i++) {
    const at = (xy[2 * i] >> 10) * 64 + (xy[2 * i + 1] >> 10);
    if (!buckets.has(at)) buckets.set(at, []);
    buckets.get(at).push(i);
  }
  return buckets;
}

// Pictures of points travel as one image; until it is there, dots stand for them.
function scatterSheet(pane) {
  const { data } = pane;
  pane.sheet = null;
  if (!data.sheet) return;
  createImageBitmap(new Blob([data.sheet])).then((sheet) => {
    if (pane.data !== data) return;
    pane.sheet = sheet;
    pane.redraw();
  });
}

const SCATTER_PAD = 18;
function scatterPlace(pane, i) {
  const { xy } = pane.data;
  const g = pane.grid;
  const x = g.left + (xy[2 * i] / 65535) * g.side;
  const y = g.top + (1 - xy[2 * i + 1] / 65535) * g.side;
  return [(x - g.w / 2) * pane.view.k + g.w / 2 + pane.view.x, (y - g.h / 2) * pane.view.k + g.h / 2 + pane.view.y];
}

function scatterRadius(pane, i) {
  const { sizes, xy } = pane.data;
  const base = (xy.length > 8000 ? 2.4 : xy.length > 1000 ? 3.2 : 4.5) * pane.view.k ** 0.3;
  return sizes ? base * (0.6 + (1.2 * sizes[i]) / 255) : base;
}

function scatterDraw(fig, pane) {
  const { meta, hits } = pane.data;
  const h = Math.min(meta.height, Math.max(300, fig.width));
  const side = Math.min(fig.width, h) - 2 * SCATTER_PAD;
  const g = (pane.grid = { w: fig.width, h, side, left: (fig.width - side) / 2, top: (h - side) / 2 });
  const ctx = surface(pane.canvas, fig.width, h);
  ctx.fillStyle = fig.theme.dark ? fig.theme.soft : "#fcfcfd";
  ctx.fillRect(0, 0, g.w, g.h);
  ctx.strokeStyle = fig.theme.border;
  ctx.strokeRect(0.5, 0.5, g.w - 1, g.h - 1);
  const selected = pane.view.selected;
  const lit = (i) => (hits ? hits[i] : true) && (selected.size ? selected.has(i) : true);
  const narrowed = hits || selected.size;
  scatterLinks(fig, pane, ctx, narrowed ? lit : null);
  const passes = narrowed ? [[false, 0.1, 1], [true, 0.95, 1.25]] : [[true, 0.78, 1]];
  if (pane.sheet) scatterPictures(fig, pane, ctx, passes, narrowed ? lit : null);
  else scatterPaint(fig, pane, ctx, passes, narrowed ? lit : null);
  scatterLabels(fig, pane, ctx, narrowed);
  for (const [i, colour] of [[pane.hover, fig.theme.text], [pane.chosen, fig.theme.primary]]) {
    if (i === null || i === undefined) continue;
    const [x, y] = scatterPlace(pane, i);
    ctx.strokeStyle = colour;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.arc(x, y, scatterRadius(pane, i) + 4, 0, 7);
    ctx.stroke();
  }
  if (pane.brush) {
    ctx.strokeStyle = fig.theme.primary;
    ctx.setLineDash([4, 3]);
    ctx.strokeRect(...pane.brush);
    ctx.setLineDash([]);
  }
  pane.clear.style.visibility = selected.size ? "visible" : "hidden";
  scatterRead(pane);
}

function scatterPictures(fig, pane, ctx, passes, isLit) {
  const { grid: g, view, data: { xy } } = pane;
  const usual = Math.min(24, (0.8 * g.side) / Math.sqrt(xy.length / 2)) * view.k ** 0.7;
  scatterEach(pane, passes, isLit, (i, x, y, alpha, larger) => {
    ctx.globalAlpha = alpha;
    scatterPicture(fig, pane, ctx, i, x, y, Math.max(2 * scatterRadius(pane, i) * larger, usual));
  });
  ctx.globalAlpha = 1;
}

function scatterPicture(fig, pane, ctx, i, x, y, size) {
  const { meta, roles, picture_of: which } = pane.data;
  const { columns, width, height } = meta.sheet;
  const at = which ? which[i] : i;
  ctx.imageSmoothingEnabled = size < width;
  ctx.drawImage(pane.sheet, (at % columns) * width, Math.floor(at / columns) * height, width, height, x - size / 2, y - size / 2, size, size);
  if (!roles || size < 9) return;
  ctx.strokeStyle = meta.role_colours[roles[i]]; // whose picture it is: the border tells
  ctx.lineWidth = Math.max(1, size / 16);
  ctx.strokeRect(x - size / 2, y - size / 2, size, size);
}

// Lines of what is lit alone, or of all points, the more the paler.
function scatterLinks(fig, pane, ctx, lit) {
  const { links, link_weights: weights } = pane.links || pane.data;
  if (!links) return;
  const many = weights.length > 600 && !lit ? 600 / weights.length : 1;
  ctx.strokeStyle = fig.theme.text;
  for (let i = 0; i < weights.length; i++) {
    if (lit && !pane.links && !lit(links[2 * i])) continue;
    const [a, b] = [scatterPlace(pane, links[2 * i]), scatterPlace(pane, links[2 * i + 1])];
    ctx.globalAlpha = Math.max(0.03, (0.1 + 0.75 * (weights[i] / 255)) * many);
    ctx.lineWidth = 0.75 + 1.5 * (weights[i] / 255) * many;
    ctx.beginPath();
    ctx.moveTo(...a);
    ctx.lineTo(...b);
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
}

// Labels of what matters first, each only where no other stands.
function scatterLabels(fig, pane, ctx, narrowed) {
  const { meta, labels } = pane.data;
  const { links } = pane.links || pane.data;
  if (!labels) return;
  const first = [pane.hover, pane.chosen, ...(pane.links || (links && links.length < 60) ? Array.from(links) : [])].filter((i) => i !== null && i !== undefined);
  const rest = narrowed || pane.visible.length <= 500 ? pane.visible : [];
  const taken = [];
  ctx.font = `11px ${fig.theme.mono}`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  ctx.lineWidth = 3;
  ctx.strokeStyle = fig.theme.dark ? fig.theme.soft : "#fcfcfd";
  ctx.fillStyle = fig.theme.text;
  for (const i of new Set([...first, ...rest.slice(0, 3000)])) {
    if (taken.length > 90) break;
    const text = short(meta.words[labels[i]], 18);
    const [x, y] = scatterPlace(pane, i);
    const at = [x + scatterRadius(pane, i) + 3, y - 7, text.length * 6.8 + 4, 14];
    if (at[0] + at[2] > pane.grid.w || taken.some((t) => at[0] < t[0] + t[2] && t[0] < at[0] + at[2] && at[1] < t[1] + t[3] && t[1] < at[1] + at[3])) continue;
    taken.push(at);
    ctx.strokeText(text, at[0], y);
    ctx.fillText(text, at[0], y);
  }
}

function scatterRead(pane) {
  const { meta, xy, hits } = pane.data;
  const line = pane.read;
  line.replaceChildren();
  const selected = pane.view.selected.size ? `${pane.view.selected.size.toLocaleString("en")} selected` : "";
  const i = pane.hover !== null ? pane.hover : pane.chosen;
  if (i !== null && i !== undefined) {
    scatterFacts(pane, i).forEach((fact, n) => {
      if (n) element("span", "hl-quiet", line, " · ");
      element("span", n || !pane.data.labels ? "" : "hl-token", line, fact);
    });
    if (selected) element("span", "hl-quiet", line, ` · ${selected}`);
    return;
  }
  const parts = [count(xy.length / 2, "point")];
  if (hits) parts.push(`${hits.reduce((a, b) => a + b, 0).toLocaleString("en")} found`);
  if (selected) parts.push(selected);
  parts.push("drag moves, Shift + drag selects, wheel zooms after a click");
  if (meta.steps) parts.push("arrow keys: next head");
  element("span", "hl-quiet", line, parts.join(" · "));
}

function scatterFacts(pane, i) {
  const { meta, labels, roles } = pane.data;
  const facts = labels ? [meta.words[labels[i]]] : [`point ${i}`];
  if (roles) facts.push(meta.role_names[roles[i]]);
  for (const name of meta.facts) {
    const v = pane.data[`fact ${name}`][i];
    if (Number.isFinite(v)) facts.push(`${name} ${Number.isInteger(v) ? v : number(v)}`);
  }
  return facts;
}
