// One small scatter per layer and head, painted pixel by pixel into a single picture.

function matrixLayout(fig) {
  const { layers, heads } = fig.data.meta;
  const [left, top, gap] = [32, 18, 3];
  const fit = (rows, columns) => ({ rows, columns, cell: Math.max(12, Math.floor(Math.min(150, (fig.width - left) / columns, 900 / rows))) });
  const [upright, turned] = [fit(layers.length, heads), fit(heads, layers.length)];
  const turn = turned.cell > upright.cell * 1.38;
  const g = { ...(turn ? turned : upright), turn, left, top, gap };
  return { ...g, w: g.columns * g.cell, h: g.rows * g.cell };
}

function matrixCorner(fig, layer, head) {
  const g = fig.grid;
  const [row, column] = g.turn ? [head, layer] : [layer, head];
  const v = fig.view;
  return [column * g.cell * v.k + v.x, row * g.cell * v.k + v.y];
}

function matrixDraw(fig) {
  if (!fig.data || !fig.width) return;
  const g = (fig.grid = matrixLayout(fig));
  const v = fig.view;
  v.x = Math.min(0, Math.max(g.w * (1 - v.k), v.x));
  v.y = Math.min(0, Math.max(g.h * (1 - v.k), v.y));
  const ctx = surface(fig.canvas, g.left + g.w, g.top + g.h);
  const ratio = fig.canvas.width / (g.left + g.w);
  const [w, h] = [Math.round(g.w * ratio), Math.round(g.h * ratio)];
  const image = ctx.createImageData(w, h);
  const out = new Uint32Array(image.data.buffer);
  const { meta, ready, doubtful } = fig.data;
  const ground = packed(...rgba(fig.theme.dark ? fig.theme.soft : "#f7f8fa").slice(0, 3));
  const inner = (g.cell * v.k - g.gap) * ratio;
  for (let l = 0; l < meta.layers.length; l++) {
    for (let k = 0; k < meta.heads; k++) {
      const [x, y] = matrixCorner(fig, l, k).map((at) => Math.round(at * ratio));
      const size = Math.round(inner);
      if (x + size < 0 || y + size < 0 || x > w || y > h) continue;
      for (let r = Math.max(0, y); r < Math.min(h, y + size); r++) out.fill(ground, r * w + Math.max(0, x), r * w + Math.max(0, Math.min(w, x + size)));
      const i = l * meta.heads + k;
      if (!ready || ready[i]) matrixPoints(fig, out, w, h, i, x, y, size, doubtful && doubtful[i] ? 0.4 : 1);
    }
  }
  ctx.putImageData(image, Math.round(g.left * ratio), Math.round(g.top * ratio));
  matrixMarks(fig, ctx);
}

// Each point a soft 3 × 3 dot (5 × 5 when lit or near) blended over what is there.
function matrixPoints(fig, out, w, h, tile, x0, y0, size, strength) {
  const { points, classes, hits } = fig.data;
  const n = classes.length;
  const full = points.BYTES_PER_ELEMENT === 1 ? 255 : 65535;
  const pad = Math.max(2, size * 0.05);
  const span = size - 2 * pad;
  const big = size > 170;
  const halo = size < 48 ? 0.35 : 1; // small pictures need small dots
  const base = Math.min(0.85, (big ? 0.8 : 0.55) + 60 / n) * strength;
  for (const pass of hits ? [0, 1] : [1]) {
    for (const i of fig.order) {
      if (hits && hits[i] !== pass) continue;
      const px = Math.round(x0 + pad + (points[2 * (tile * n + i)] / full) * span);
      const py = Math.round(y0 + pad + (1 - points[2 * (tile * n + i) + 1] / full) * span);
      const colour = hits && !pass ? fig.faded : fig.colours[classes[i]];
      const wide = big || (hits && pass) ? 2 : 1;
      const alpha = hits ? (pass ? 0.95 : 0.13) * strength : base;
      for (let dy = -wide; dy <= wide; dy++) {
        const y = py + dy;
        if (y < Math.max(0, y0) || y >= Math.min(h, y0 + size)) continue;
        for (let dx = -wide; dx <= wide; dx++) {
          const x = px + dx;
          const d = dx * dx + dy * dy;
          if (x < Math.max(0, x0) || x >= Math.min(w, x0 + size) || d > wide * wide + 1) continue;
          const a = alpha * (d > wide * wide ? 0.3 * halo : d === wide * wide ? 0.65 * halo : 1);
          const old = out[y * w + x];
          const r = (old & 255) + (((colour & 255) - (old & 255)) * a);
          const gr = ((old >> 8) & 255) + ((((colour >> 8) & 255) - ((old >> 8) & 255)) * a);
          const b = ((old >> 16) & 255) + ((((colour >> 16) & 255) - ((old >> 16) & 255)) * a);
          out[y * w + x] = packed(r & 255, gr & 255, b & 255);
        }
      }
    }
  }
}

function matrixMarks(fig, ctx) {
  const g = fig.grid;
  const v = fig.view;
  const { meta, ready, doubtful } = fig.data;
  const step = g.cell * v.k;
  ctx.font = `11px ${fig.theme.font}`;
  ctx.textBaseline = "middle";
  const at = fig.chosen ? (g.turn ? [fig.chosen[1], fig.chosen[0]] : fig.chosen) : [-1, -1];
  const name = (isLayer, i) => (isLayer ? `L${meta.layers[i]}` : `H${i}`);
  ctx.textAlign = "right";
  for (let r = 0; r < g.rows; r++) {
    const y = g.top + (r + 0.5) * step + v.y - g.gap / 2;
    ctx.fillStyle = at[0] === r ? fig.theme.text : fig.theme.muted;
    if (y > g.top && y < g.top + g.h) ctx.fillText(name(!g.turn, r), g.left - 6, y);
  }
  ctx.textAlign = "center";
  for (let c = 0; c < g.columns; c++) {
    const x = g.left + (c + 0.5) * step + v.x - g.gap / 2;
    ctx.fillStyle = at[1] === c ? fig.theme.text : fig.theme.muted;
    if (x > g.left && x < g.left + g.w && (step > 24 || c % 2 === 0)) ctx.fillText(name(g.turn, c), x, g.top / 2);
  }
  ctx.save();
  ctx.beginPath();
  ctx.rect(g.left - 2, g.top - 2, g.w + 2, g.h + 2);
  ctx.clip();
  const size = step - g.gap;
  const hatched = hatch(ctx, fig.theme);
  for (let l = 0; l < meta.layers.length; l++) {
    for (let k = 0; k < meta.heads; k++) {
      const [x, y] = matrixCorner(fig, l, k).map((p, axis) => p + (axis ? g.top : g.left));
      const i = l * meta.heads + k;
      if (ready && !ready[i]) { ctx.fillStyle = hatched; ctx.fillRect(x, y, size, size); }
      if (doubtful && doubtful[i]) {
        ctx.fillStyle = fig.theme.muted;
        ctx.beginPath();
        ctx.moveTo(x + size, y);
        ctx.lineTo(x + size - 9, y);
        ctx.lineTo(x + size, y + 9);
        ctx.fill();
      }
      const mine = (cell) => cell && cell[0] === l && cell[1] === k;
      if (!mine(fig.hover) && !mine(fig.chosen)) continue;
      ctx.strokeStyle = mine(fig.chosen) ? fig.theme.primary : fig.theme.text;
      ctx.lineWidth = mine(fig.chosen) ? 2.5 : 1;
      ctx.strokeRect(x - 0.5, y - 0.5, size + 1, size + 1);
    }
  }
  ctx.restore();
}

function matrixZoom(fig, factor, at) {
  const v = fig.view;
  const g = fig.grid;
  const k = Math.max(1, Math.min(12, v.k * factor));
  const [x, y] = at ? [at.x - g.left, at.y - g.top] : [g.w / 2, g.h / 2];
  v.x = x - ((x - v.x) * k) / v.k;
  v.y = y - ((y - v.y) * k) / v.k;
  v.k = k;
  matrixDraw(fig);
}

function matrixText(fig, [l, h], breaks) {
  const { meta, doubtful } = fig.data;
  const name = meta.names && meta.names[l][h];
  return [`L${meta.layers[l]} H${h}`, name, doubtful && doubtful[l * meta.heads + h] && "low trust"].filter(Boolean).join(breaks);
}

function matrixBuild(fig) {
  fig.view = { k: 1, x: 0, y: 0 };
  fig.bar = element("div", "hl-bar", fig.box);
  fig.legend = element("div", "hl-bar hl-legends", fig.box);
  fig.canvas = element("canvas", "hl-panning", fig.box);
  fig.note = element("div", "hl-note", fig.box);
  fig.redraw = () => matrixDraw(fig);
  const cv = fig.canvas;
  let start = null;
  let queued = false;
  const soon = () => {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => { queued = false; matrixDraw(fig); });
  };
  const hit = (p) => {
    const g = fig.grid;
    const step = g.cell * fig.view.k;
    const [row, column] = [Math.floor((p.y - g.top - fig.view.y) / step), Math.floor((p.x - g.left - fig.view.x) / step)];
    if (p.x < g.left || p.y < g.top || row >= g.rows || column >= g.columns) return null;
    return g.turn ? [column, row] : [row, column];
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
    const cell = hit(p);
    cv.style.cursor = cell ? "pointer" : "default";
    tooltip(fig, p.bx, p.by, cell && matrixText(fig, cell, "\n"));
    if (String(cell) !== String(fig.hover)) { fig.hover = cell; soon(); }
  };
  cv.onpointerup = (event) => {
    const was = start;
    start = null;
    const cell = was && !was.moved && hit(place(fig, cv, event));
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
}

function draw(component) {
  const data = unpack(component.data);
  if (data.meta.cursor) return drawCursor(component, data);
  const fig = mount(component, matrixBuild);
  fig.data = data;
  const { meta } = data;
  joinPair(fig, meta, (cell) => matrixText(fig, cell, " · "));
  fig.order = shuffled(fig.data.classes.length);
  fig.colours = Uint32Array.from(meta.colours, (colour) => packed(...rgba(colour).slice(0, 3)));
  fig.faded = packed(...rgba(fig.theme.muted).slice(0, 3));
  interactive(fig.canvas, meta.label);
  fig.note.textContent = meta.note;
  matrixBar(fig);
  matrixDraw(fig);
  return fig.close;
}
