// A matrix with labelled axes, sentence lines, masked cells, read-out and a keyboard cursor.

function heatmapPane(fig, parent) {
  const pane = { cursor: null, scale: null, bare: false, bands: { rows: [], columns: [] }, onChoose() {}, onHover() {} };
  pane.bar = element("div", "hl-bar", parent);
  pane.canvas = element("canvas", "", parent);
  pane.read = element("div", "hl-read", parent);
  pane.read.setAttribute("role", "status");
  pane.note = element("div", "hl-note", parent);
  pane.update = (data) => {
    const fresh = !pane.data || String(pane.data.codes.shape) !== String(data.codes.shape);
    pane.data = data;
    if (fresh) Object.assign(pane, { cursor: null, bands: { rows: [], columns: [] } });
    pane.wanted = pane.wanted || data.meta.scale;
    pane.scale = data.meta.kind === "sequential" && data.meta.low >= 0 ? pane.wanted : "linear"; // no logarithm below zero
    pane.chosen = data.meta.chosen;
    pane.value = decoder(data.meta, data.codes);
    pane.note.textContent = data.meta.note;
    interactive(pane.canvas, data.meta.label);
    heatmapBar(fig, pane);
    pane.paint();
    pane.redraw();
    if (!pane.bare) heatmapRead(pane);
  };
  pane.paint = () => { pane.image = heatmapImage(pane); };
  pane.redraw = () => { if (pane.data && fig.width) { heatmapBase(fig, pane); heatmapDraw(fig, pane); } };
  pane.point = (cell) => { pane.cursor = cell; if (pane.grid) heatmapDraw(fig, pane); heatmapRead(pane); };
  heatmapHandlers(fig, pane);
  return pane;
}

function heatmapBar(fig, pane) {
  const { meta } = pane.data;
  const scaled = meta.kind === "sequential" && meta.low >= 0;
  rebuilt(pane.bar, [pane.bare, meta.title, meta.kind, meta.categories, meta.unit, scaled, ...pane.data.table], () => heatmapBarBuild(fig, pane, scaled));
  if (meta.kind === "categorical") return;
  colourEnds(pane.legend, number(pane.scale === "log" ? logFloor(meta) : meta.low), number(meta.high), meta.unit);
  if (scaled) pane.scales.mark(pane.scale);
}

function heatmapBarBuild(fig, pane, scaled) {
  const { meta, table } = pane.data;
  element("span", "hl-title", pane.bar, pane.bare ? "" : meta.title);
  if (meta.kind === "categorical") {
    (meta.categories || []).forEach((name, i) => {
      const entry = element("span", "hl-key", pane.bar);
      element("i", "", entry).style.background = `rgb(${table[3 * i]},${table[3 * i + 1]},${table[3 * i + 2]})`;
      element("span", "", entry, name);
    });
    return;
  }
  pane.legend = colourBar(pane.bar, table, "", "");
  if (!scaled) return;
  pane.scales = switches(pane.bar, "Colour scale", [["linear", "linear"], ["log", "log"]], pane.scale, (scale) => {
    pane.scale = pane.wanted = scale;
    heatmapBar(fig, pane);
    pane.paint();
    pane.redraw();
  });
}

// One pixel per cell; where cells are smaller than pixels the strongest of a block speaks for it.
function heatmapImage(pane) {
  const { codes, table, meta } = pane.data;
  const [rows, columns] = codes.shape;
  const put = placer(meta, pane.scale);
  const lookup = new Uint32Array(codes.BYTES_PER_ELEMENT === 1 ? 256 : 65536);
  for (let code = 1; code < lookup.length; code++) {
    const c = put(pane.value(code));
    lookup[code] = packed(table[3 * c], table[3 * c + 1], table[3 * c + 2]);
  }
  return bitmap(columns, rows, (out) => {
    for (let r = 0; r < rows; r++) {
      const to = (meta.upward ? rows - 1 - r : r) * columns;
      for (let c = 0; c < columns; c++) out[to + c] = lookup[codes[r * columns + c]];
    }
  });
}

function heatmapLayout(fig, pane) {
  const { meta, codes } = pane.data;
  const [rows, columns] = codes.shape;
  const probe2 = pane.canvas.getContext("2d");
  probe2.font = `11px ${fig.theme.mono}`;
  const room = fig.width < 480 ? 62 : 104; // of a label; longer ones are shortened, so that none reaches the axis title
  const widest = (labels) => Math.min(room, Math.max(...(labels || ["0000"]).map((t) => probe2.measureText(short(t, 14)).width), 8));
  const left = Math.ceil(widest(meta.rows)) + 26;
  const right = meta.row_marks.length ? 64 : 4;
  const top = Math.ceil(meta.columns ? widest(meta.columns) : 8) + 26;
  const wide = Math.max(40, fig.width - left - right);
  const most = meta.rows || meta.columns ? 26 : 64;
  let w = Math.min(wide / columns, most);
  let h = Math.min(meta.height / rows, most);
  if (meta.square) w = h = Math.min(w, h);
  else { w = wide / columns; h = Math.min(meta.height / rows, 40); }
  return { left, top, right, room, w, h, rows, columns, wide: w * columns, high: h * rows };
}

// What does not change while the pointer moves: measured and painted once, then copied.
function heatmapBase(fig, pane) {
  const g = (pane.grid = heatmapLayout(fig, pane));
  const { meta, veil } = pane.data;
  const theme = fig.theme;
  pane.labels = [new Map(), new Map()]; // faint, strong
  pane.base = pane.base || document.createElement("canvas");
  surface(pane.canvas, g.left + g.wide + g.right, g.top + g.high + 4);
  const ctx = surface(pane.base, g.left + g.wide + g.right, g.top + g.high + 4);
  ctx.fillStyle = hatch(ctx, theme);
  ctx.fillRect(g.left, g.top, g.wide, g.high);
  const ratio = window.devicePixelRatio || 1;
  ctx.imageSmoothingEnabled = g.w * ratio < 1;
  ctx.imageSmoothingQuality = "high";
  ctx.drawImage(pane.image, g.left, g.top, g.wide, g.high);
  if (veil) heatmapVeil(ctx, g, pane.data, theme);
  const [x, y] = heatmapPlaces(g, meta);
  ctx.strokeStyle = meta.kind === "diverging" ? "rgba(0,0,0,.62)" : "rgba(255,255,255,.55)"; // white is the middle there
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (const row of meta.row_lines) { ctx.moveTo(g.left, Math.round(y(row)) + 0.5); ctx.lineTo(g.left + g.wide, Math.round(y(row)) + 0.5); }
  for (const column of meta.column_lines) { ctx.moveTo(Math.round(x(column)) + 0.5, g.top); ctx.lineTo(Math.round(x(column)) + 0.5, g.top + g.high); }
  ctx.stroke();
  ctx.strokeStyle = theme.border;
  ctx.strokeRect(g.left - 0.5, g.top - 0.5, g.wide + 1, g.high + 1);
  ctx.font = `11px ${theme.font}`;
  for (const [row, text] of meta.row_marks) {
    ctx.fillStyle = theme.text;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.fillRect(g.left + g.wide + 2, Math.round(y(row) + g.h / 2) - 0.5, 6, 1);
    ctx.fillText(short(text, 9), g.left + g.wide + 11, y(row) + g.h / 2);
  }
}

// Where a column and a row begin, in pixels.
function heatmapPlaces(g, meta) {
  return [(column) => g.left + column * g.w, (row) => g.top + (meta.upward ? g.rows - 1 - row : row) * g.h];
}

function heatmapDraw(fig, pane) {
  const g = pane.grid;
  const theme = fig.theme;
  const ctx = pane.canvas.getContext("2d");
  const [x, y] = heatmapPlaces(g, pane.data.meta);
  ctx.save();
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.clearRect(0, 0, pane.canvas.width, pane.canvas.height);
  ctx.drawImage(pane.base, 0, 0);
  ctx.restore();
  heatmapAxes(fig, pane, ctx, g, x, y);
  const box = (cell, colour, width) => {
    if (!cell) return;
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.strokeRect(x(cell[1]) - width / 2, y(cell[0]) - width / 2, Math.max(g.w, 3) + width, Math.max(g.h, 3) + width);
  };
  const cursor = pane.cursor || [undefined, undefined];
  heatmapBands(ctx, g, x, y, [...pane.bands.rows, cursor[0]], [...pane.bands.columns, cursor[1]]);
  box(pane.cursor, "#fff", 1.5);
  box(pane.chosen, "rgba(255,255,255,.9)", 4);
  box(pane.chosen, theme.primary, 2);
}

// Lit rows and columns are framed, not tinted: the colours inside keep their meaning.
function heatmapBands(ctx, g, x, y, rows, columns) {
  for (const [colour, width] of [["rgba(0,0,0,.55)", 3], ["#fff", 1]]) {
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    for (const row of rows) if (row !== undefined) ctx.strokeRect(g.left, y(row), g.wide, Math.max(g.h, 2));
    for (const column of columns) if (column !== undefined) ctx.strokeRect(x(column), g.top, Math.max(g.w, 2), g.high);
  }
}

function heatmapVeil(ctx, g, { veil, meta }, theme) {
  ctx.fillStyle = theme.dark ? "rgba(20,22,28,.55)" : "rgba(255,255,255,.5)";
  for (let r = 0; r < g.rows; r++) {
    const at = meta.upward ? g.rows - 1 - r : r;
    const [top, below] = [at, at + 1].map((row) => Math.round(g.top + row * g.h)); // whole pixels: rows meet without a seam
    for (let c = 0, from = -1; c <= g.columns; c++) {
      const on = c < g.columns && veil[r * g.columns + c];
      if (on && from < 0) from = c;
      if (!on && from >= 0) { ctx.fillRect(g.left + from * g.w, top, (c - from) * g.w, below - top); from = -1; }
    }
  }
}

function heatmapRead(pane) {
  const { meta, codes } = pane.data;
  pane.read.replaceChildren();
  const cell = pane.cursor || pane.chosen;
  if (!cell) { element("span", "hl-quiet", pane.read, "Point at a cell, or use the arrow keys."); return; }
  const [row, column] = cell;
  const name = (axis, title, texts, i) => {
    element("span", "hl-quiet", pane.read, `${title} `);
    if (texts) element("span", "hl-token", pane.read, texts[i]);
    const named = texts && !meta.lag && new Set(texts).size === texts.length; // such a name needs no place beside it
    if (!named) element("span", "hl-quiet", pane.read, texts ? ` ${i}` : whole(heatmapFirst(meta, axis) + i));
  };
  name("row", meta.row_title, meta.rows, row);
  element("span", "hl-quiet", pane.read, " → ");
  name("column", meta.column_title, meta.columns, column);
  const code = codes[row * codes.shape[1] + column];
  const value = pane.value(code);
  const shown = !code ? "masked" : meta.kind === "categorical" ? (meta.categories || [])[value] || value : number(value);
  element("span", "hl-quiet", pane.read, ` · ${meta.value} `);
  element("b", "", pane.read, `${shown}${code && meta.unit ? " " + meta.unit : ""}`);
  if (meta.lag) element("span", "hl-quiet", pane.read, ` · lag ${whole(row + heatmapFirst(meta, "row") - column - heatmapFirst(meta, "column"))}`);
}

function heatmapHandlers(fig, pane) {
  const hit = (event) => {
    const g = pane.grid;
    const p = place(fig, pane.canvas, event);
    const column = Math.floor((p.x - g.left) / g.w);
    let row = Math.floor((p.y - g.top) / g.h);
    if (pane.data.meta.upward) row = g.rows - 1 - row;
    return row >= 0 && column >= 0 && row < g.rows && column < g.columns ? [row, column] : null;
  };
  const move = (cell) => {
    if (String(cell) === String(pane.cursor)) return;
    pane.point(cell);
    pane.onHover(cell);
  };
  const choose = (cell) => { pane.chosen = cell; pane.point(cell); pane.onChoose(cell); };
  pane.canvas.onpointermove = (event) => move(hit(event));
  pane.canvas.onpointerleave = () => move(null);
  pane.canvas.onclick = (event) => { const cell = hit(event); if (cell) choose(cell); };
  pane.canvas.onkeydown = (event) => {
    const g = pane.grid;
    const [row, column] = pane.cursor || pane.chosen || [0, 0];
    const up = pane.data.meta.upward ? 1 : -1;
    const to = {
      ArrowUp: [row + up, column], ArrowDown: [row - up, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      Home: [row, 0], End: [row, g.columns - 1], PageUp: [row - 10, column], PageDown: [row + 10, column],
    }[event.key];
    if (to) { event.preventDefault(); move([Math.max(0, Math.min(g.rows - 1, to[0])), Math.max(0, Math.min(g.columns - 1, to[1]))]); }
    if (event.key === "Enter" && pane.cursor) { event.preventDefault(); choose(pane.cursor); }
    if (event.key === "Escape") move(null);
  };
}
