// One small scatter per layer and head, painted pixel by pixel into a single picture.

const MATRIX = { left: 32, top: 18, gap: 4, high: 800, cell: 150 };

// Layers downwards in one to four blocks side by side, or across: whatever makes the largest pictures.
function matrixLayout(fig) {
  const { layers, heads } = fig.data.meta;
  const n = layers.length;
  const { left, top, gap } = MATRIX;
  const layout = (blocks, turn) => {
    const rows = turn ? heads : Math.ceil(n / blocks);
    const columns = turn ? n : heads;
    const wide = (fig.width - left * blocks) / (columns * blocks);
    const cell = Math.max(12, Math.floor(Math.min(MATRIX.cell, wide, MATRIX.high / rows)));
    return { rows, columns, blocks, turn, cell };
  };
  const options = [layout(1, false), layout(1, true), layout(2, false), layout(3, false), layout(4, false)];
  const useful = options.filter((o) => (o.blocks - 1) * o.rows < n || o.turn);
  const largest = Math.max(...useful.map((o) => o.cell));
  const best = useful.filter((o) => o.cell > largest / 1.12).reduce((a, b) => (b.rows * b.cell < a.rows * a.cell * 0.8 ? b : a));
  const block = left + best.columns * best.cell;
  return { ...best, left, top, gap, block, w: block * best.blocks - left, h: best.rows * best.cell };
}

// The row, column and block of a head, and its upper left corner within the zoomed picture.
function matrixSpot(g, layer, head) {
  if (g.turn) return [head, layer, 0];
  return [layer % g.rows, head, Math.floor(layer / g.rows)];
}

function matrixCorner(fig, layer, head) {
  const g = fig.grid;
  const [row, column, block] = matrixSpot(g, layer, head);
  const v = fig.view;
  return [(column * g.cell + block * g.block) * v.k + v.x, row * g.cell * v.k + v.y];
}

// The points come with the rest, or apart: then only those that the rest belongs to are drawn.
function matrixPointsOf({ data, pair }) {
  if (data.points) return data.points;
  return pair && pair.parcel && pair.parcel.meta.parcel === data.meta.points ? pair.parcel.points : null;
}

function matrixDraw(fig) {
  if (!fig.data || !fig.width) return;
  const g = (fig.grid = matrixLayout(fig));
  fig.points = matrixPointsOf(fig);
  if (!fig.points) return;
  const v = fig.view;
  v.x = Math.min(0, Math.max(g.w * (1 - v.k), v.x));
  v.y = Math.min(0, Math.max(g.h * (1 - v.k), v.y));
  const ctx = surface(fig.canvas, g.left + g.w, g.top + g.h);
  const ratio = fig.canvas.width / (g.left + g.w);
  ctx.putImageData(matrixPainted(fig, ctx, ratio), Math.round(g.left * ratio), Math.round(g.top * ratio));
  matrixMarks(fig, ctx);
}

// All points as pixels; kept until data, size or zoom change, so that another choice paints no point again.
function matrixPainted(fig, ctx, ratio) {
  const g = fig.grid;
  const v = fig.view;
  const [w, h] = [Math.round(g.w * ratio), Math.round(g.h * ratio)];
  const key = [w, h, g.cell, v.k, v.x, v.y, fig.theme.background].join();
  const old = fig.painted;
  if (old && old.key === key && old.data === fig.data && old.points === fig.points) return old.image;
  const image = ctx.createImageData(w, h);
  const out = new Uint32Array(image.data.buffer);
  const { meta, ready, doubtful } = fig.data;
  const ground = packed(...rgba(fig.theme.dark ? fig.theme.soft : "#f6f7f9").slice(0, 3));
  const size = Math.round((g.cell * v.k - g.gap) * ratio);
  for (let l = 0; l < meta.layers.length; l++) {
    for (let k = 0; k < meta.heads; k++) {
      const [x, y] = matrixCorner(fig, l, k).map((at) => Math.round(at * ratio));
      if (x + size < 0 || y + size < 0 || x > w || y > h) continue;
      for (let r = Math.max(0, y); r < Math.min(h, y + size); r++) out.fill(ground, r * w + Math.max(0, x), r * w + Math.max(0, Math.min(w, x + size)));
      const i = l * meta.heads + k;
      if (!ready || ready[i]) matrixPoints(fig, out, w, h, i, x, y, size, ratio, doubtful && doubtful[i] ? 0.55 : 1);
    }
  }
  fig.painted = { key, data: fig.data, points: fig.points, image };
  return image;
}

// A soft round dot of some radius in device pixels: offsets and the share of each pixel that it covers.
function matrixDot(radius) {
  const reach = Math.ceil(radius);
  const dot = [];
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const cover = Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(dx, dy)));
      if (cover > 0.04) dot.push([dx, dy, cover]);
    }
  }
  return dot;
}

// Points blended one over another in an order in which none of them is always last.
function matrixPoints(fig, out, w, h, tile, x0, y0, size, ratio, strength) {
  const { points } = fig;
  const { classes, hits } = fig.data;
  const n = fig.order.length;
  const shift = classes.length > n ? tile * n : 0; // colours of each head's own
  const full = points.BYTES_PER_ELEMENT === 1 ? 255 : 65535;
  const pad = Math.max(2, size * 0.055);
  const span = size - 2 * pad;
  const crowd = Math.sqrt((size * size) / n); // pixels between points if they were spread evenly
  const radius = Math.max(0.62 * ratio, Math.min(3.2 * ratio, crowd * 0.34));
  const base = Math.max(0.3, Math.min(0.85, 0.16 * crowd + 0.24)) * strength;
  for (const pass of hits ? [0, 1] : [1]) {
    const lit = hits && pass;
    const dot = matrixDot(lit ? Math.max(radius * 1.5, 1.5 * ratio) : radius);
    const alpha = hits ? (lit ? 0.95 : 0.16) * strength : base;
    for (const i of fig.order) {
      if (hits && hits[i] !== pass) continue;
      const px = Math.round(x0 + pad + (points[2 * (tile * n + i)] / full) * span);
      const py = Math.round(y0 + pad + (1 - points[2 * (tile * n + i) + 1] / full) * span);
      const colour = hits && !pass ? fig.faded : fig.colours[classes[shift + i]];
      for (const [dx, dy, cover] of dot) {
        const [x, y] = [px + dx, py + dy];
        if (x < Math.max(0, x0) || y < Math.max(0, y0) || x >= Math.min(w, x0 + size) || y >= Math.min(h, y0 + size)) continue;
        const a = alpha * cover;
        const old = out[y * w + x];
        const r = (old & 255) + ((colour & 255) - (old & 255)) * a;
        const gr = ((old >> 8) & 255) + (((colour >> 8) & 255) - ((old >> 8) & 255)) * a;
        const b = ((old >> 16) & 255) + (((colour >> 16) & 255) - ((old >> 16) & 255)) * a;
        out[y * w + x] = packed(r & 255, gr & 255, b & 255);
      }
    }
  }
}

// Names of rows and columns, of every block of layers.
function matrixNames(fig, ctx) {
  const g = fig.grid;
  const v = fig.view;
  const { meta } = fig.data;
  const step = g.cell * v.k;
  ctx.font = `11px ${fig.theme.font}`;
  ctx.textBaseline = "middle";
  const [row, column, block] = fig.chosen ? matrixSpot(g, ...fig.chosen) : [-1, -1, -1];
  const name = (isLayer, i) => (isLayer ? `L${meta.layers[i]}` : `H${i}`);
  const last = v.k > 1 ? 1 : g.blocks; // zoomed, the names of the block at the edge are enough
  for (let b = 0; b < last; b++) {
    const at = v.k > 1 ? Math.max(0, Math.min(g.blocks - 1, Math.floor(-v.x / (g.block * v.k)))) : b;
    const left = g.left + (v.k > 1 ? 0 : b * g.block);
    ctx.textAlign = "right";
    for (let r = 0; r < g.rows; r++) {
      const layer = at * g.rows + r;
      if (!g.turn && layer >= meta.layers.length) continue;
      const y = g.top + (r + 0.5) * step + v.y - g.gap / 2;
      ctx.fillStyle = row === r && block === at ? fig.theme.text : fig.theme.muted;
      if (y > g.top && y < g.top + g.h) ctx.fillText(name(!g.turn, g.turn ? r : layer), left - 6, y);
    }
  }
  ctx.textAlign = "center";
  for (let b = 0; b < g.blocks; b++) {
    for (let c = 0; c < g.columns; c++) {
      const x = g.left + (c + 0.5) * step + b * g.block * v.k + v.x - g.gap / 2;
      ctx.fillStyle = column === c && block === b ? fig.theme.text : fig.theme.muted;
      if (x > g.left && x < g.left + g.w && (step > 24 || c % 2 === 0)) ctx.fillText(name(g.turn, c), x, g.top / 2);
    }
  }
}

function matrixMarks(fig, ctx) {
  const g = fig.grid;
  const { meta, ready, doubtful } = fig.data;
  matrixNames(fig, ctx);
  ctx.save();
  ctx.beginPath();
  ctx.rect(g.left - 3, g.top - 3, g.w + 3, g.h + 3);
  ctx.clip();
  const size = g.cell * fig.view.k - g.gap;
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

// The head under a place of the canvas, or null.
function matrixHit(fig, p) {
  const g = fig.grid;
  const v = fig.view;
  const { layers, heads } = fig.data.meta;
  const [x, y] = [(p.x - g.left - v.x) / v.k, (p.y - g.top - v.y) / v.k];
  if (p.x < g.left || p.y < g.top || x < 0 || y < 0) return null;
  const block = Math.floor(x / g.block);
  const [row, column] = [Math.floor(y / g.cell), Math.floor((x - block * g.block) / g.cell)];
  if (row >= g.rows || column >= g.columns || block >= g.blocks) return null;
  const cell = g.turn ? [column, row] : [block * g.rows + row, column];
  return cell[0] < layers.length && cell[1] < heads ? cell : null;
}

function matrixZoom(fig, factor, at) {
  const v = fig.view;
  const g = fig.grid;
  const k = Math.max(1, Math.min(16, v.k * factor));
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
