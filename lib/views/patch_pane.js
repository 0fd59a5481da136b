// A photograph and its patches: what is chosen, how it is looked at, and what is said about it.

function patchBuild(fig) {
  const state = (fig.state = { mode: null, direction: "query", hover: null, chosen: null, threshold: null });
  fig.onHover = () => {};
  fig.bar = element("div", "hl-bar", fig.box);
  fig.chips = element("div", "hl-bar hl-chips", fig.box);
  fig.canvas = element("canvas", "", fig.box);
  fig.read = element("div", "hl-read", fig.box);
  fig.read.setAttribute("role", "status");
  fig.note = element("div", "hl-note", fig.box);
  fig.redraw = () => { if (fig.data && fig.width) patchDraw(fig); };
  const hit = (event) => {
    const { meta } = fig.data;
    const p = place(fig, fig.canvas, event);
    const [row, column] = [Math.floor(p.y / fig.cell[1]), Math.floor(p.x / fig.cell[0])];
    if (row < 0 || column < 0 || row >= meta.rows || column >= meta.columns) return null;
    return meta.prefix.length + row * meta.columns + column;
  };
  fig.canvas.onpointermove = (event) => { const at = hit(event); if (at !== state.hover) patchHover(fig, at); };
  fig.canvas.onpointerleave = () => patchHover(fig, null);
  fig.canvas.onclick = (event) => { const at = hit(event); if (at !== null) patchChoose(fig, at); };
  fig.canvas.onkeydown = (event) => {
    const { meta } = fig.data;
    const step = { ArrowUp: -meta.columns, ArrowDown: meta.columns, ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = Math.max(state.chosen, meta.prefix.length) + step;
    if (at >= meta.prefix.length && at < meta.prefix.length + meta.rows * meta.columns) patchChoose(fig, at, 150);
  };
}

function patchHover(fig, at) {
  fig.state.hover = at;
  patchDraw(fig);
  fig.onHover(at);
}

function patchChoose(fig, at, wait = 0) {
  fig.state.chosen = at;
  patchDraw(fig);
  patchChips(fig);
  clearTimeout(fig.timer);
  fig.timer = setTimeout(() => fig.send("choose", [at]), wait);
}

function patchBar(fig) {
  const { meta, table } = fig.data;
  const state = fig.state;
  rebuilt(fig.bar, [meta.title, meta.kind, meta.symmetric], () => {
    element("span", "hl-title", fig.bar, meta.title);
    fig.scale = colourBar(fig.bar, table, "", "");
    const pick = (side) => { state.direction = side; patchDraw(fig); patchChips(fig); };
    fig.direction = switches(fig.bar, "Direction", [["query", "attends to"], ["key", "attended by"]], state.direction, pick);
    fig.slider = patchSlider(fig);
    const modes = [["overlay", "Overlay"], ["arrows", "Strongest"], ["links", "Links"]];
    fig.modes = switches(fig.bar, "View", modes, state.mode, (mode) => { state.mode = mode; patchBar(fig); patchDraw(fig); patchChips(fig); });
  });
  fig.direction.mark(state.direction);
  fig.modes.mark(state.mode);
  fig.slider.say();
  const overlay = state.mode === "overlay";
  fig.scale.style.display = overlay ? "" : "none";
  fig.direction.style.display = overlay && !meta.symmetric ? "" : "none";
  fig.slider.style.display = state.mode === "links" ? "" : "none";
}

function patchSlider(fig) {
  const label = element("label", "hl-key", fig.bar, "links ≥ ");
  const slider = element("input", "hl-slider", label);
  const shown = element("b", "", label);
  slider.type = "range";
  slider.min = fig.data.meta.kind === "diverging" ? -1000 : 0;
  slider.max = 1000;
  slider.oninput = () => {
    fig.state.threshold = (fig.data.meta.high * slider.value * Math.abs(slider.value)) / 1e6;
    shown.textContent = number(fig.state.threshold);
    patchDraw(fig);
  };
  label.say = () => {
    slider.value = Math.round(1000 * signedRoot(fig.state.threshold / (fig.data.meta.high || 1)));
    shown.textContent = number(fig.state.threshold);
  };
  return label;
}

// CLS and registers have no place in the image: buttons, with the weight they take part in.
function patchChips(fig) {
  const { meta } = fig.data;
  fig.chips.style.display = meta.prefix.length ? "" : "none";
  rebuilt(fig.chips, meta.prefix, () => {
    fig.buttons = meta.prefix.map((name, i) => {
      const chip = element("button", "hl-chip", fig.chips, name);
      chip.type = "button";
      chip.onclick = () => patchChoose(fig, i);
      return chip;
    });
    element("span", "hl-quiet", fig.chips, "beside the image");
  });
  const from = fig.state.chosen;
  const [r, g, b] = rgba(meta.key_colour);
  fig.buttons.forEach((chip, i) => {
    const w = fig.weight(from, i);
    chip.setAttribute("aria-pressed", String(from === i));
    chip.style.borderColor = from === i ? meta.query_colour : "";
    chip.style.background = w > 0 && from !== i ? `rgba(${r},${g},${b},${0.65 * Math.sqrt(w / (meta.high || 1))})` : "";
    chip.title = `${patchName(fig, from)} → ${meta.prefix[i]}: ${number(w)}`;
  });
}

function patchName(fig, i) {
  const { meta } = fig.data;
  if (i < meta.prefix.length) return meta.prefix[i];
  const at = i - meta.prefix.length;
  return `row ${Math.floor(at / meta.columns)}, column ${at % meta.columns}`;
}

function patchDraw(fig) {
  const { meta } = fig.data;
  const state = fig.state;
  const wide = Math.min(fig.width, 640, (600 * meta.width) / meta.height, meta.width * 4);
  const high = (wide * meta.height) / meta.width;
  fig.cell = [wide / meta.columns, high / meta.rows];
  const ctx = surface(fig.canvas, Math.round(wide), Math.round(high));
  ctx.fillStyle = fig.theme.soft;
  ctx.fillRect(0, 0, wide, high);
  if (fig.photo) { ctx.imageSmoothingEnabled = meta.width > 64; ctx.drawImage(fig.photo, 0, 0, wide, high); }
  if (state.mode === "overlay") patchOverlay(fig, ctx, wide, high);
  else {
    if (state.mode === "links") patchGrey(ctx, wide, high);
    ctx.fillStyle = "rgba(8,10,14,.5)";
    ctx.fillRect(0, 0, wide, high);
    if (state.mode === "arrows") patchArrows(fig, ctx);
    else patchLinks(fig, ctx);
  }
  patchLines(fig, ctx, wide, high);
  const mark = (i, colour, width) => {
    if (i === null || i < meta.prefix.length) return;
    const [x, y] = patchCorner(fig, i);
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.strokeRect(x, y, fig.cell[0], fig.cell[1]);
  };
  mark(state.hover, "rgba(255,255,255,.9)", 1);
  mark(state.chosen, "rgba(0,0,0,.7)", 4);
  mark(state.chosen, state.direction === "query" ? meta.query_colour : meta.key_colour, 2.5);
  patchRead(fig);
}

// Green and pink lines are told from each other, and from what is beneath, on grey alone.
function patchGrey(ctx, wide, high) {
  ctx.globalCompositeOperation = "saturation";
  ctx.fillStyle = "#808080";
  ctx.fillRect(0, 0, wide, high);
  ctx.globalCompositeOperation = "source-over";
}

function patchCorner(fig, i) {
  const { meta } = fig.data;
  const at = i - meta.prefix.length;
  return [(at % meta.columns) * fig.cell[0], Math.floor(at / meta.columns) * fig.cell[1]];
}

function patchLines(fig, ctx, wide, high) {
  const { meta, windows } = fig.data;
  if (fig.cell[0] >= 7 && fig.state.mode === "overlay") {
    ctx.strokeStyle = "rgba(255,255,255,.14)";
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (let c = 1; c < meta.columns; c++) { const x = Math.round(c * fig.cell[0]) + 0.5; ctx.moveTo(x, 0); ctx.lineTo(x, high); }
    for (let r = 1; r < meta.rows; r++) { const y = Math.round(r * fig.cell[1]) + 0.5; ctx.moveTo(0, y); ctx.lineTo(wide, y); }
    ctx.stroke();
  }
  if (!windows) return;
  ctx.strokeStyle = "rgba(255,255,255,.8)";
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  for (let r = 0; r < meta.rows; r++) {
    for (let c = 0; c < meta.columns; c++) {
      const own = windows[r * meta.columns + c];
      const [x, y] = [c * fig.cell[0], r * fig.cell[1]];
      if (c + 1 < meta.columns && windows[r * meta.columns + c + 1] !== own) { ctx.moveTo(x + fig.cell[0], y); ctx.lineTo(x + fig.cell[0], y + fig.cell[1]); }
      if (r + 1 < meta.rows && windows[(r + 1) * meta.columns + c] !== own) { ctx.moveTo(x, y + fig.cell[1]); ctx.lineTo(x + fig.cell[0], y + fig.cell[1]); }
    }
  }
  ctx.stroke();
}

function patchRead(fig) {
  const { meta } = fig.data;
  const state = fig.state;
  const line = fig.read;
  line.replaceChildren();
  if (state.mode === "links") {
    element("b", "", line, count(fig.links[0], "link"));
    const most = fig.links[0] > fig.links[1] ? `, the strongest ${fig.links[1]} drawn` : "";
    element("span", "hl-quiet", line, most || ` between patches${meta.symmetric ? "" : ", query green to key pink"}`);
    element("span", "hl-quiet", line, ` · ${fig.links[2]} at `);
    element("b", "", line, patchName(fig, state.chosen));
    return;
  }
  element("b", "", line, patchName(fig, state.chosen));
  if (state.mode === "arrows") {
    const best = patchBest(fig, state.chosen);
    const partner = best < 0 ? "no partner" : `${best === state.chosen ? "itself" : patchName(fig, best)}, ${number(fig.weight(state.chosen, best))}`;
    const shapes = [!meta.symmetric && "circle: itself", meta.prefix.length && "square: CLS or register"];
    element("span", "hl-quiet", line, [` → ${partner}`, ...shapes].filter(Boolean).join(" · "));
    return;
  }
  const other = state.hover;
  if (other === null && meta.kind === "diverging") { element("span", "hl-quiet", line, " · red above zero, blue below; click another patch"); return; }
  if (other === null) { element("span", "hl-quiet", line, state.direction === "query" ? " looks where it is bright; click another patch" : " is looked at from where it is bright; click another patch"); return; }
  if (meta.symmetric) element("span", "hl-quiet", line, ` and ${patchName(fig, other)} · ${meta.value} `);
  else element("span", "hl-quiet", line, state.direction === "query" ? ` → ${patchName(fig, other)} · ${meta.value} ` : ` ← ${patchName(fig, other)} · ${meta.value} `);
  const w = fig.weight(state.chosen, other);
  element("b", "", line, Number.isNaN(w) ? "none" : number(w));
}

function patchUpdate(fig, data) {
  fig.data = data;
  const { meta, codes } = data;
  const state = fig.state;
  const n = meta.prefix.length + meta.rows * meta.columns;
  const value = decoder(meta, codes);
  fig.values = new Float32Array(n * n).fill(NaN);
  if (data.partners) {
    const most = data.partners.shape[1];
    codes.forEach((code, at) => { fig.values[Math.floor(at / most) * n + data.partners[at]] = value(code); });
  } else codes.forEach((code, at) => { fig.values[at] = value(code); });
  fig.weight = (a, b) => (state.direction === "query" || state.mode !== "overlay" ? fig.values[a * n + b] : fig.values[b * n + a]);
  if (state.from !== meta.chosen || state.n !== n) { state.chosen = meta.chosen; state.from = meta.chosen; }
  state.n = n;
  if (!state.mode) { state.mode = meta.mode; state.direction = meta.direction; }
  if (state.high !== meta.high) { state.threshold = meta.threshold; state.high = meta.high; }
  interactive(fig.canvas, meta.label);
  fig.note.textContent = meta.note;
  patchBar(fig);
  createImageBitmap(new Blob([data.image])).then((photo) => {
    if (fig.data !== data) return;
    fig.photo = photo;
    fig.redraw();
  });
  patchDraw(fig);
  patchChips(fig);
}
