// Queries left, keys right, a line per pair whose opacity is its weight. Only what is in view is drawn.

function linesPane(fig, parent, shared) {
  const pane = {};
  pane.scroll = element("div", "hl-scroll", parent);
  pane.inner = element("div", "", pane.scroll);
  pane.canvas = element("canvas", "hl-stick", pane.inner);
  pane.redraw = () => { if (fig.data && fig.width) linesDraw(fig, pane, shared); };
  pane.scroll.onscroll = pane.redraw;
  const hit = (event) => {
    const g = pane.grid;
    const p = place(fig, pane.canvas, event);
    const index = Math.floor((p.y + pane.scroll.scrollTop - g.pad) / g.row);
    const side = p.x < g.left + 30 ? "query" : p.x > g.right - 30 ? "key" : null;
    return side && index >= 0 && index < shared.size(side) ? { side, index } : null;
  };
  pane.canvas.onpointermove = (event) => {
    const at = hit(event);
    pane.canvas.style.cursor = at ? "pointer" : "default";
    shared.hover(at);
  };
  pane.canvas.onpointerleave = () => shared.hover(null);
  pane.canvas.onclick = (event) => { const at = hit(event); if (at) shared.hold(at); };
  pane.canvas.onkeydown = (event) => shared.key(event, (at) => {
    const y = pane.grid.pad + at.index * pane.grid.row;
    if (y < pane.scroll.scrollTop || y > pane.scroll.scrollTop + pane.grid.high - 30) pane.scroll.scrollTop = y - 60;
  });
  return pane;
}

function linesLayout(fig, pane, shared) {
  const { meta } = fig.data;
  const n = Math.max(shared.size("query"), shared.size("key"));
  const ctx = pane.canvas.getContext("2d");
  ctx.font = `12px ${fig.theme.mono}`;
  const wide = Math.min(fig.width, 760);
  const most = wide < 480 ? 104 : 190;
  const measure = (texts) => Math.min(most, Math.max(30, ...texts.map((t) => ctx.measureText(short(t, 22)).width)));
  const row = n <= 48 ? 18 : 15;
  const pad = 24;
  const left = Math.ceil(measure(meta.rows)) + 14;
  const right = wide - Math.ceil(measure(meta.columns)) - 14;
  return { n, wide, row, pad, left, right, total: pad + n * row + 8, high: Math.min(pad + n * row + 8, 560) };
}

// Pairs worth a line: of the focus alone, or each query's four strongest.
function linesPairs(fig, shared) {
  const [queries, keys] = fig.data.codes.shape;
  const focus = shared.focus();
  const most = shared.most || 1;
  const pairs = [];
  const add = (q, k, floor) => { const w = shared.weight(q, k); if (w >= floor) pairs.push([q, k, w / most]); };
  if (focus.length) {
    for (const { side, index } of focus) {
      if (side === "query") for (let k = 0; k < keys; k++) add(index, k, most * 0.004);
      else for (let q = 0; q < queries; q++) add(q, index, most * 0.004);
    }
  } else {
    for (let q = 0; q < queries; q++) {
      const order = [];
      for (let k = 0; k < keys; k++) { const w = shared.weight(q, k); if (w > most * 0.01) order.push([w, k]); }
      order.sort((a, b) => b[0] - a[0]);
      for (const [, k] of order.slice(0, 4)) add(q, k, 0);
    }
  }
  return pairs;
}

function linesDraw(fig, pane, shared) {
  const g = (pane.grid = linesLayout(fig, pane, shared));
  const { meta } = fig.data;
  pane.scroll.style.height = `${g.high}px`;
  pane.scroll.style.width = `${g.wide}px`;
  pane.inner.style.height = `${g.total}px`;
  const ctx = surface(pane.canvas, g.wide, g.high);
  const shift = g.pad - pane.scroll.scrollTop;
  const y = (i) => shift + (i + 0.5) * g.row;
  const gradient = ctx.createLinearGradient(g.left, 0, g.right, 0);
  gradient.addColorStop(0, meta.query_colour);
  gradient.addColorStop(1, meta.key_colour);
  ctx.strokeStyle = gradient;
  const bins = Array.from({ length: 20 }, () => []);
  const key = fig.data.codes; // unfocused lines do not change while hovering
  const focused = shared.focus().length > 0;
  if (!focused && pane.pairsOf !== key) { pane.pairs = linesPairs(fig, shared); pane.pairsOf = key; }
  for (const pair of focused ? linesPairs(fig, shared) : pane.pairs) bins[Math.min(19, Math.floor(Math.sqrt(pair[2]) * 20))].push(pair);
  bins.forEach((pairs, i) => {
    ctx.globalAlpha = Math.max(0.04, ((i + 0.5) / 20) ** 2);
    ctx.lineWidth = focused ? 1 + 2 * (i / 20) : 1.25;
    ctx.beginPath();
    for (const [q, k] of pairs) {
      const [a, b] = [y(q), y(k)];
      if ((a < 0 && b < 0) || (a > g.high && b > g.high)) continue;
      const bend = (g.right - g.left) * 0.3;
      ctx.moveTo(g.left, a);
      ctx.bezierCurveTo(g.left + bend, a, g.right - bend, b, g.right, b);
    }
    ctx.stroke();
  });
  ctx.globalAlpha = 1;
  linesTokens(fig, ctx, g, y, shared, "query");
  linesTokens(fig, ctx, g, y, shared, "key");
  ctx.fillStyle = fig.theme.background;
  ctx.fillRect(0, 0, g.wide, g.pad - 4);
  ctx.font = `12px ${fig.theme.font}`;
  ctx.textBaseline = "middle";
  ctx.fillStyle = fig.theme.text;
  ctx.textAlign = "right";
  ctx.fillText("query", g.left - 8, 9);
  ctx.textAlign = "left";
  ctx.fillText("key", g.right + 8, 9);
}

function linesTokens(fig, ctx, g, y, shared, side) {
  const { meta } = fig.data;
  const texts = side === "query" ? meta.rows : meta.columns;
  const run = side === "query" || meta.same ? meta.query : meta.key;
  const [r, gr, b] = rgba(side === "query" ? meta.query_colour : meta.key_colour);
  const shade = shared.shade(side);
  const breaks = new Set(side === "query" ? meta.row_lines : meta.column_lines);
  ctx.textBaseline = "middle";
  for (let i = 0; i < texts.length; i++) {
    const at = y(i);
    if (at < -g.row || at > g.high + g.row) continue;
    const x = side === "query" ? 0 : g.right + 2;
    const w = side === "query" ? g.left - 2 : g.wide - g.right - 2;
    if (breaks.has(i)) { ctx.fillStyle = fig.theme.border; ctx.fillRect(x, at - g.row / 2, w, 1); }
    if (shade && shade[i] > 0) { ctx.fillStyle = `rgba(${r},${gr},${b},${0.6 * shade[i]})`; ctx.fillRect(x, at - g.row / 2 + 1, w, g.row - 2); }
    const held = shared.isFocus(side, i);
    if (held) { ctx.strokeStyle = `rgb(${r},${gr},${b})`; ctx.lineWidth = 1.5; ctx.strokeRect(x + 1, at - g.row / 2 + 1, w - 2, g.row - 2); }
    ctx.font = `${held ? "600 " : ""}12px ${fig.theme.mono}`;
    ctx.fillStyle = run.special[i] ? fig.theme.muted : fig.theme.text;
    ctx.textAlign = side === "query" ? "right" : "left";
    ctx.fillText(short(texts[i], 22), side === "query" ? g.left - 8 : g.right + 8, at + 0.5, side === "query" ? g.left - 12 : w - 10);
  }
}
