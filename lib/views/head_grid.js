// All layers × heads: thumbnails or score cells. The chosen head arrives alone ("cursor") for thumbnails.

function gridLayout(fig) {
  const { layers, heads, small } = fig.data.meta;
  const tiles = Boolean(fig.data.tiles);
  const [most, tall] = small ? [24, 190] : tiles ? [84, 640] : [64, 460];
  const left = small ? 22 : 32;
  const top = small ? 14 : 18;
  const gap = small ? 1 : 2;
  const fit = (rows, columns) => {
    const cell = Math.min(most, (fig.width - left) / columns, (tall - top) / rows);
    const w = tiles || small ? cell : Math.min(most, (fig.width - left) / columns);
    return { rows, columns, w: Math.max(3, Math.floor(w)), h: Math.max(3, Math.floor(tiles || small ? cell : Math.min(w, 28))) };
  };
  const upright = fit(layers.length, heads);
  const turned = fit(heads, layers.length);
  const turn = turned.w * turned.h > upright.w * upright.h * 1.9;
  return { ...(turn ? turned : upright), turn, left, top, gap };
}

const gridCell = (g, layer, head) => (g.turn ? [head, layer] : [layer, head]);

function gridDraw(fig) {
  if (!fig.data || !fig.width) return;
  const g = (fig.grid = gridLayout(fig));
  const { meta, tiles, codes, table } = fig.data;
  const ctx = surface(fig.canvas, g.left + g.columns * g.w, g.top + g.rows * g.h);
  ctx.imageSmoothingQuality = "high";
  const colour = (code) => packed(table[3 * code], table[3 * code + 1], table[3 * code + 2]);
  if (tiles && fig.atlasOf !== fig.data) {
    const [, , h, w] = tiles.shape;
    const n = meta.layers.length * meta.heads;
    fig.atlas = bitmap(w, h * n, (out) => { for (let i = 0; i < tiles.length; i++) out[i] = tiles[i] ? colour(tiles[i]) : 0; });
    fig.atlasOf = fig.data;
  }
  gridLabels(fig, ctx, g);
  const hatched = hatch(ctx, fig.theme);
  const faint = blend(fig.theme.text, fig.theme.background, 0.9);
  const put = codes && placer(meta);
  const value = codes && decoder(meta, codes);
  for (let l = 0; l < meta.layers.length; l++) {
    for (let h = 0; h < meta.heads; h++) {
      const [row, column] = gridCell(g, l, h);
      const x = g.left + column * g.w;
      const y = g.top + row * g.h;
      const [w, k] = [g.w - g.gap, g.h - g.gap];
      const i = l * meta.heads + h;
      if (tiles) {
        const [, , th, tw] = tiles.shape;
        ctx.fillStyle = fig.theme.soft;
        ctx.fillRect(x, y, w, k);
        ctx.imageSmoothingEnabled = tw > w * (window.devicePixelRatio || 1);
        ctx.drawImage(fig.atlas, 0, i * th, tw, th, x, y, w, k);
      } else if (!codes[i]) {
        ctx.fillStyle = meta.plain ? faint : hatched;
        ctx.fillRect(x, y, w, k);
      } else {
        const c = put(value(codes[i]));
        ctx.fillStyle = `rgb(${table[3 * c]},${table[3 * c + 1]},${table[3 * c + 2]})`;
        ctx.fillRect(x, y, w, k);
        if (!meta.small && w >= 36) gridNumber(ctx, fig, fig.data.scores[i], table, c, x + w / 2, y + k / 2, w - 4);
      }
    }
  }
  gridOutline(fig, ctx, g, fig.hover, fig.theme.text, 1);
  gridOutline(fig, ctx, g, fig.chosen, fig.theme.primary, meta.small ? 2 : 2.5);
}

// Where powers of ten do not fit, two decimals stand; the read-out has the rest.
function gridNumber(ctx, fig, value, table, c, x, y, room) {
  const light = 0.299 * table[3 * c] + 0.587 * table[3 * c + 1] + 0.114 * table[3 * c + 2];
  ctx.fillStyle = light > 140 ? "rgba(0,0,0,.78)" : "rgba(255,255,255,.85)";
  ctx.font = `11px ${fig.theme.font}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  const text = number(value);
  const brief = value.toFixed(2).replace(/^-?(?=0\.00$)/, "").replace("-", "−");
  ctx.fillText(Math.abs(value) < 1 && ctx.measureText(text).width > room ? brief : text, x, y + 0.5);
}

function gridLabels(fig, ctx, g) {
  const { meta } = fig.data;
  ctx.font = `${meta.small ? 9 : 11}px ${fig.theme.font}`;
  ctx.textBaseline = "middle";
  const layer = (i) => `L${meta.layers[i]}`;
  const head = (i) => `H${i}`;
  const thin = (step, need) => Math.max(1, Math.ceil(need / step));
  const bold = (at, i) => { ctx.fillStyle = at === i ? fig.theme.text : fig.theme.muted; };
  const at = fig.chosen ? gridCell(g, fig.chosen[0], fig.chosen[1]) : [-1, -1];
  ctx.textAlign = "right";
  for (let r = 0; r < g.rows; r += thin(g.h, meta.small ? 10 : 13)) {
    bold(at[0], r);
    ctx.fillText((g.turn ? head : layer)(r), g.left - 5, g.top + r * g.h + (g.h - g.gap) / 2);
  }
  ctx.textAlign = "center";
  for (let c = 0; c < g.columns; c += thin(g.w, meta.small ? 18 : 26)) {
    bold(at[1], c);
    ctx.fillText((g.turn ? layer : head)(c), g.left + c * g.w + (g.w - g.gap) / 2, g.top / 2);
  }
}

function gridOutline(fig, ctx, g, cell, colour, width, inset = 0) {
  if (!cell) return;
  const [row, column] = gridCell(g, cell[0], cell[1]);
  if (width > 1) gridOutline(fig, ctx, g, cell, "rgba(255,255,255,.9)", 1, 3);
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  const [x, y] = [g.left + column * g.w - g.gap / 2 + inset / 2, g.top + row * g.h - g.gap / 2 + inset / 2];
  ctx.strokeRect(x, y, g.w - inset, g.h - inset);
}

function gridText(fig, [l, h], breaks) {
  const { meta, scores } = fig.data;
  const name = meta.names && meta.names[l][h];
  const i = l * meta.heads + h;
  const score = scores && `${meta.value} ${Number.isFinite(scores[i]) ? number(scores[i]) : "no signal"}${meta.unit ? " " + meta.unit : ""}`;
  return [`L${meta.layers[l]} H${h}${name ? ` · ${name}` : ""}`, score].filter(Boolean).join(breaks);
}

function gridBuild(fig) {
  fig.bar = element("div", "hl-bar", fig.box);
  fig.canvas = element("canvas", "", fig.box);
  fig.read = element("div", "hl-read", fig.box);
  fig.read.setAttribute("role", "status");
  fig.note = element("div", "hl-note", fig.box);
  fig.redraw = () => gridDraw(fig);
  const hit = (event) => {
    const g = fig.grid;
    const p = place(fig, fig.canvas, event);
    const [row, column] = [Math.floor((p.y - g.top) / g.h), Math.floor((p.x - g.left) / g.w)];
    if (row < 0 || column < 0 || row >= g.rows || column >= g.columns) return [null, p];
    return [g.turn ? [column, row] : [row, column], p];
  };
  const choose = (cell, wait) => {
    fig.chosen = fig.own = cell;
    tellPair(fig);
    gridDraw(fig);
    clearTimeout(fig.timer);
    fig.timer = setTimeout(() => fig.send("choose", cell), wait);
  };
  fig.canvas.onpointermove = (event) => {
    const [cell, p] = hit(event);
    fig.canvas.style.cursor = cell ? "pointer" : "default";
    if (String(cell) !== String(fig.hover)) { fig.hover = cell; gridDraw(fig); }
    tooltip(fig, p.bx, p.by, cell && gridText(fig, cell, "\n"));
  };
  fig.canvas.onpointerleave = () => { fig.hover = null; gridDraw(fig); tooltip(fig); };
  fig.canvas.onclick = (event) => { const [cell] = hit(event); if (cell) choose(cell, 0); };
  fig.canvas.onkeydown = (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const { meta } = fig.data;
    const [dl, dh] = fig.grid.turn ? [step[1], step[0]] : step;
    const from = fig.chosen || [0, 0];
    const clamp = (v, n) => Math.max(0, Math.min(n - 1, v));
    choose([clamp(from[0] + dl, meta.layers.length), clamp(from[1] + dh, meta.heads)], 120);
  };
}

function gridBar(fig) {
  const { meta, codes, tiles, table } = fig.data;
  fig.bar.replaceChildren();
  fig.bar.hidden = meta.small && !meta.title;
  fig.bar.style.display = fig.bar.hidden ? "none" : "";
  element("span", "hl-title", fig.bar, meta.title);
  if (meta.small) return;
  if (tiles) colourBar(fig.bar, table, "0", "maximum");
  else if (codes) colourBar(fig.bar, table, number(meta.low), number(meta.high), meta.unit);
}

function draw(component) {
  const data = unpack(component.data);
  if (data.meta.cursor) return drawCursor(component, data);
  const fig = mount(component, gridBuild);
  fig.data = data;
  // Beside other pictures of the same head the small map speaks only of what was chosen in itself.
  const silent = (cell) => data.meta.small && String(cell) !== String(fig.own);
  fig.read.className = data.meta.small ? "hl-unseen" : "hl-read";
  fig.read.style.display = data.meta.pair ? "none" : "";
  joinPair(fig, data.meta, (cell) => (silent(cell) ? "" : gridText(fig, cell, " · ")));
  interactive(fig.canvas, data.meta.label);
  gridBar(fig);
  fig.note.textContent = data.meta.note;
  gridDraw(fig);
  return fig.close;
}
