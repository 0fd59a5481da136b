// How the picture of all heads is moved, and how a head is chosen in it.

function matrixHandlers(fig) {
  const cv = fig.canvas;
  let start = null;
  let queued = false;
  const soon = () => {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => { queued = false; matrixDraw(fig); });
  };
  const choose = (cell, wait) => {
    fig.chosen = cell;
    tellPair(fig);
    matrixDraw(fig);
    clearTimeout(fig.timer);
    fig.timer = setTimeout(() => fig.send("choose", cell), wait);
  };
  cv.onpointerdown = (event) => {
    start = { ...place(fig, cv, event), x0: fig.view.x, y0: fig.view.y, moved: false };
    cv.setPointerCapture(event.pointerId);
  };
  cv.onpointermove = (event) => {
    const p = place(fig, cv, event);
    if (start && Math.hypot(p.x - start.x, p.y - start.y) > 3) start.moved = true;
    if (start && start.moved) { fig.view.x = start.x0 + p.x - start.x; fig.view.y = start.y0 + p.y - start.y; tooltip(fig); soon(); return; }
    const cell = matrixHit(fig, p);
    cv.style.cursor = cell ? "pointer" : "default";
    tooltip(fig, p.bx, p.by, cell && matrixText(fig, cell, "\n"));
    if (String(cell) !== String(fig.hover)) { fig.hover = cell; soon(); }
  };
  cv.onpointerup = (event) => {
    const was = start;
    start = null;
    const cell = was && !was.moved && matrixHit(fig, place(fig, cv, event));
    if (cell) choose(cell, 0);
  };
  cv.onpointerleave = () => { fig.hover = null; tooltip(fig); soon(); };
  cv.onwheel = (event) => {
    if (cv.getRootNode().activeElement !== cv && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    matrixZoom(fig, Math.exp(-event.deltaY * 0.0018), place(fig, cv, event));
  };
  cv.onkeydown = (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (step) {
      const [dl, dh] = fig.grid.turn ? [step[1], step[0]] : step;
      const from = fig.chosen || [0, 0];
      const clamp = (at, n) => Math.max(0, Math.min(n - 1, at));
      choose([clamp(from[0] + dl, fig.data.meta.layers.length), clamp(from[1] + dh, fig.data.meta.heads)], 150);
    } else if (event.key === "+" || event.key === "=") matrixZoom(fig, 1.3);
    else if (event.key === "-") matrixZoom(fig, 1 / 1.3);
    else if (event.key === "0") { fig.view = { k: 1, x: 0, y: 0 }; matrixDraw(fig); } else return;
    event.preventDefault();
  };
}

function matrixBuild(fig) {
  fig.view = { k: 1, x: 0, y: 0 };
  fig.bar = element("div", "hl-bar", fig.box);
  fig.legend = element("div", "hl-bar hl-legends", fig.box);
  fig.canvas = element("canvas", "hl-panning", fig.box);
  fig.note = element("div", "hl-note", fig.box);
  fig.redraw = () => matrixDraw(fig);
  matrixHandlers(fig);
}

function matrixBar(fig) {
  const { meta } = fig.data;
  fig.bar.replaceChildren();
  element("span", "hl-title", fig.bar, meta.title);
  const zooms = element("div", "hl-set", fig.bar);
  for (const [text, label, act] of [["+", "Zoom in", () => matrixZoom(fig, 1.5)], ["−", "Zoom out", () => matrixZoom(fig, 1 / 1.5)], ["All", "Show everything", () => { fig.view = { k: 1, x: 0, y: 0 }; matrixDraw(fig); }]]) {
    const button = element("button", "", zooms, text);
    button.type = "button";
    button.setAttribute("aria-label", label);
    button.onclick = act;
  }
  legends(fig.legend, meta);
  const { doubtful } = fig.data;
  const low = doubtful ? doubtful.reduce((sum, mark) => sum + mark, 0) : 0;
  if (!low) return;
  const key = element("span", "hl-key hl-quiet", fig.legend, `◥ paler: low trust, ${low} of ${doubtful.length}`);
  key.title = meta.doubt;
}

// Points that came apart from their colours: whatever waits for them is drawn.
function drawParcel(component, data) {
  const holder = mount(component, () => {});
  const pair = pairOf(data.meta.pair);
  if (!pair.parcel || pair.parcel.meta.parcel !== data.meta.parcel) pair.parcel = data;
  if (pair.fig && pair.fig.box.isConnected) matrixDraw(pair.fig);
  return holder.close;
}

const sameBytes = (a, b) => a === b || (Boolean(a) && a.length === b.length && a.every((byte, i) => byte === b[i]));

function draw(component) {
  const data = unpack(component.data);
  if (data.meta.cursor) return drawCursor(component, data);
  if (data.meta.parcel) return drawParcel(component, data);
  const fig = mount(component, matrixBuild);
  if (!sameBytes(fig.bytes, component.data)) fig.data = data; // drawn again as it is: what was painted stays
  fig.bytes = component.data;
  const { meta } = data;
  joinPair(fig, meta, (cell) => matrixText(fig, cell, " · "));
  const n = data.classes.shape[data.classes.shape.length - 1];
  if (!fig.order || fig.order.length !== n) fig.order = shuffled(n);
  fig.colours = Uint32Array.from(meta.colours, (colour) => packed(...rgba(colour).slice(0, 3)));
  fig.faded = packed(...rgba(fig.theme.muted).slice(0, 3));
  interactive(fig.canvas, meta.label);
  fig.note.textContent = meta.note;
  matrixBar(fig);
  matrixDraw(fig);
  return fig.close;
}
