// Small pictures of all layers: a profile above a map. Every panel is a button; arrows move between them.

const PANEL = { left: 24, right: 4, profile: 44, gap: 6, map: 104, foot: 16 };

function panelsBuild(fig) {
  fig.grid = element("div", "hl-panels", fig.box);
  fig.legend = element("div", "hl-bar hl-legends", fig.box);
  fig.note = element("div", "hl-note", fig.box);
  fig.redraw = () => panelsDraw(fig);
}

function panelsUpdate(fig) {
  const { meta, table } = fig.data;
  fig.grid.setAttribute("role", "group");
  fig.grid.setAttribute("aria-label", meta.label);
  rebuilt(fig.grid, meta.panels.map((panel) => panel.name), () => {
    fig.panels = meta.panels.map((panel, i) => panelButton(fig, panel, i));
  });
  fig.panels.forEach(({ button, note }, i) => {
    note.textContent = meta.panels[i].note;
    button.setAttribute("aria-label", `${meta.panels[i].name}. ${meta.panels[i].words}`);
  });
  fig.legend.replaceChildren();
  element("span", "hl-quiet", fig.legend, `${meta.row_title} ↑ · ${meta.column_title} →`);
  colourBar(fig.legend, table, meta.low_name, meta.high_name);
  fig.note.textContent = meta.note;
  fig.images = meta.panels.map((_, i) => panelImage(fig, i));
  panelsMark(fig, meta.chosen);
}

function panelButton(fig, panel, i) {
  const button = element("button", "hl-panel", fig.grid);
  button.type = "button";
  const head = element("span", "hl-bar", button);
  element("b", "", head, panel.name);
  const note = element("span", "hl-quiet", head);
  const canvas = element("canvas", "", button);
  const go = (to) => fig.panels[Math.max(0, Math.min(fig.panels.length - 1, to))].button.focus();
  button.onclick = () => { panelsMark(fig, i); fig.send("choose", [i]); };
  button.onkeydown = (event) => {
    const across = Math.max(1, Math.round(fig.grid.clientWidth / (button.offsetWidth + 8)));
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[event.key];
    if (step) { event.preventDefault(); go(i + step); }
  };
  canvas.onpointermove = (event) => panelTip(fig, i, canvas, event);
  canvas.onpointerleave = () => tooltip(fig);
  return { button, note, canvas };
}

function panelsMark(fig, chosen) {
  fig.panels.forEach(({ button }, i) => button.setAttribute("aria-pressed", String(i === chosen)));
}

// The codes are spaced by the square root, which is how sequential values are coloured.
function panelImage(fig, i) {
  const { codes, veil, table, meta } = fig.data;
  const [, rows, columns] = codes.shape;
  const put = placer(meta);
  const value = decoder(meta, codes);
  const place = (code) => (meta.kind === "diverging" ? put(value(code)) : Math.round((255 * (code - 1)) / 254));
  const ground = rgba(fig.theme.background);
  return bitmap(columns, rows, (out) => {
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < columns; c++) {
        const code = codes[(i * rows + r) * columns + c];
        const at = 3 * (code ? place(code) : 0);
        let colour = code ? [table[at], table[at + 1], table[at + 2]] : [...rgba(fig.theme.soft)];
        if (veil[r * columns + c] || !code) colour = [0, 1, 2].map((k) => Math.round(0.3 * colour[k] + 0.7 * (0.88 * ground[k] + 15)));
        out[(rows - 1 - r) * columns + c] = packed(...colour);
      }
    }
  });
}

function panelAxes(fig, width) {
  const { meta, codes } = fig.data;
  const [, rows, columns] = codes.shape;
  const wide = width - PANEL.left - PANEL.right;
  const top = PANEL.profile + PANEL.gap;
  const logs = meta.rows.map(Math.log);
  const step = rows > 1 ? (logs[rows - 1] - logs[0]) / (rows - 1) : 1;
  const [first, last] = meta.columns;
  const cell = columns > 1 ? (last - first) / (columns - 1) : 1;
  return {
    wide, top, first, last, cell, logs, step,
    x: (lag) => PANEL.left + ((lag - first + cell / 2) / (last - first + cell)) * wide,
    y: (scale) => top + PANEL.map * (1 - (Math.log(scale) - logs[0] + step / 2) / (logs[rows - 1] - logs[0] + step)),
  };
}

function panelsDraw(fig) {
  if (!fig.data || !fig.width) return;
  fig.panels.forEach((panel, i) => panelDraw(fig, panel, i));
}

function panelDraw(fig, { canvas, button }, i) {
  const { meta, codes, profile } = fig.data;
  const columns = codes.shape[2];
  const width = Math.max(90, button.clientWidth - 8);
  const height = PANEL.profile + PANEL.gap + PANEL.map + PANEL.foot;
  const ctx = surface(canvas, width, height);
  const g = panelAxes(fig, width);
  const panel = meta.panels[i];
  ctx.fillStyle = ctx.strokeStyle = "#3B7DD8";
  ctx.beginPath();
  ctx.moveTo(g.x(g.first), PANEL.profile);
  for (let c = 0; c < columns; c++) ctx.lineTo(g.x(g.first + c * g.cell), PANEL.profile - profile[i * columns + c] * (PANEL.profile - 4));
  ctx.lineTo(g.x(g.last), PANEL.profile);
  ctx.globalAlpha = 0.4;
  ctx.fill();
  ctx.globalAlpha = 1;
  ctx.stroke();
  ctx.strokeStyle = "#D98E04";
  ctx.setLineDash([3, 2]);
  for (const at of panel.rules) { ctx.beginPath(); ctx.moveTo(g.x(at), 2); ctx.lineTo(g.x(at), PANEL.profile); ctx.stroke(); }
  ctx.setLineDash([]);
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(fig.images[i], PANEL.left, g.top, g.wide, PANEL.map);
  ctx.strokeStyle = fig.theme.border;
  ctx.strokeRect(PANEL.left - 0.5, g.top - 0.5, g.wide + 1, PANEL.map + 1);
  for (const [scale, lag] of panel.rings) {
    for (const [colour, line] of [["#111", 3], ["#fff", 1.4]]) {
      ctx.strokeStyle = colour;
      ctx.lineWidth = line;
      ctx.beginPath();
      ctx.arc(g.x(lag), g.y(scale), 4.5, 0, 2 * Math.PI);
      ctx.stroke();
    }
  }
  ctx.lineWidth = 1;
  ctx.fillStyle = fig.theme.muted;
  ctx.font = `10px ${fig.theme.font}`;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (const tick of meta.row_ticks) ctx.fillText(String(tick), PANEL.left - 4, g.y(tick));
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  const span = g.last - g.first;
  const step = [5, 10, 20, 30, 50, 100, 200, 500].find((s) => (span / s) * 26 < g.wide) || 1000;
  for (let lag = Math.ceil(g.first / step) * step; lag <= g.last; lag += step) {
    ctx.fillText(String(lag).replace("-", "−"), Math.min(g.x(lag), width - 8), g.top + PANEL.map + 4);
  }
}

function panelTip(fig, i, canvas, event) {
  const { meta, codes, veil } = fig.data;
  const [, rows, columns] = codes.shape;
  const g = panelAxes(fig, canvas.clientWidth);
  const p = place(fig, canvas, event);
  const c = Math.floor(((p.x - PANEL.left) / g.wide) * columns);
  const r = rows - 1 - Math.floor(((p.y - g.top) / PANEL.map) * rows);
  if (c < 0 || r < 0 || c >= columns || r >= rows) { tooltip(fig); return; }
  const code = codes[(i * rows + r) * columns + c];
  const where = `${meta.row_title} ${number(meta.rows[r])} · ${meta.column_title} ${String(Math.round(g.first + c * g.cell)).replace("-", "−")}`;
  const shown = code ? `${meta.value} ${number(decoder(meta, codes)(code))}` : "not defined";
  tooltip(fig, p.bx, p.by, `${meta.panels[i].name}\n${where}\n${shown}${veil[r * columns + c] ? "\nedge of the window: do not trust" : ""}`);
}

function draw(component) {
  const fig = mount(component, panelsBuild);
  fig.data = unpack(component.data);
  panelsUpdate(fig);
  panelsDraw(fig);
  return fig.close;
}
