// One head: lines ⇄ heatmap ⇄ text over the same weights. Hovering, holding and direction are shared.

const MODE_NAMES = { lines: "Lines", heatmap: "Heatmap", text: "Text" };

function sharedState(fig) {
  const shared = { held: [], hovered: null, direction: "query", mode: null, onFocus() {} };
  shared.size = (side) => fig.data.codes.shape[side === "query" ? 0 : 1];
  shared.weight = (q, k) => fig.values[q * fig.data.codes.shape[1] + k];
  shared.side = () => shared.direction;
  shared.focus = () => (shared.hovered ? [shared.hovered] : shared.held);
  shared.isFocus = (side, i) => shared.focus().some((at) => at.side === side && at.index === i);
  // Sum over the tokens in focus, for every token of the other side.
  shared.sum = (target) => {
    const focus = shared.focus().filter((at) => at.side !== target);
    if (!focus.length) return null;
    const n = shared.size(target);
    const out = new Float32Array(n);
    for (const { index } of focus) {
      for (let i = 0; i < n; i++) {
        const w = target === "key" ? shared.weight(index, i) : shared.weight(i, index);
        if (w > 0) out[i] += w;
      }
    }
    return out;
  };
  // With nothing in focus the text shows where all queries together look.
  shared.overall = () => {
    const out = new Float32Array(shared.size("key"));
    for (let q = 0; q < shared.size("query"); q++) for (let k = 0; k < out.length; k++) { const w = shared.weight(q, k); if (w > 0) out[k] += w; }
    return out;
  };
  shared.shade = (target) => {
    const all = shared.mode === "text" && target === "key" && !shared.focus().length;
    const sum = all ? shared.overall() : shared.sum(target);
    if (!sum) return null;
    const rests = target === "key" ? fig.data.meta.rests : [];
    const largest = (apart) => sum.reduce((a, w, i) => (apart && rests[i] ? a : Math.max(a, w)), 0);
    const most = largest(false) || 1;
    // Rows mostly rest on special tokens and the first: words are compared with words, or none would show.
    const words = largest(true) || most;
    return sum.map((w, i) => w / (rests[i] ? most : words));
  };
  // Share of what is in focus that rests on special tokens and the first position.
  shared.resting = () => {
    const sum = shared.sum("key");
    if (!sum) return 0;
    const all = sum.reduce((a, w) => a + w, 0);
    return all ? sum.reduce((a, w, i) => a + (fig.data.meta.rests[i] ? w : 0), 0) / all : 0;
  };
  shared.masked = (target) => {
    const focus = shared.focus().filter((at) => at.side !== target);
    if (!focus.length) return null;
    const all = (i) => focus.every(({ index }) => Number.isNaN(target === "key" ? shared.weight(index, i) : shared.weight(i, index)));
    return Array.from({ length: shared.size(target) }, (_, i) => all(i));
  };
  shared.hover = (at) => {
    if (JSON.stringify(at) === JSON.stringify(shared.hovered)) return;
    shared.hovered = at;
    shared.pair = null;
    viewPaint(fig, shared);
  };
  shared.hold = (at) => {
    const i = shared.held.findIndex((other) => other.side === at.side && other.index === at.index);
    if (i >= 0) shared.held.splice(i, 1);
    else {
      if (shared.held.length && shared.held[0].side !== at.side) shared.held = [];
      shared.held.push(at);
      shared.direction = at.side;
      if (fig.marks) fig.marks.mark(at.side);
      viewPartner(fig, shared, at);
    }
    viewPaint(fig, shared);
  };
  shared.key = (event, reveal) => {
    const at = shared.hovered || shared.held[shared.held.length - 1] || { side: shared.direction, index: -1 };
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (step) {
      const next = { side: at.side, index: Math.max(0, Math.min(shared.size(at.side) - 1, at.index + step)) };
      shared.hover(next);
      reveal(next);
    } else if ((event.key === "Enter" || event.key === " ") && shared.hovered) shared.hold(shared.hovered);
    else if (event.key === "Escape") { shared.held = []; shared.hover(null); viewPaint(fig, shared); } else return;
    event.preventDefault();
  };
  return shared;
}

function viewPartner(fig, shared, at) {
  const sum = shared.sum(at.side === "query" ? "key" : "query") || [];
  let best = 0;
  for (let i = 1; i < sum.length; i++) if (sum[i] > sum[best]) best = i;
  const pair = at.side === "query" ? [at.index, best] : [best, at.index];
  if (!Number.isNaN(shared.weight(...pair))) { fig.panes.heatmap.chosen = pair; fig.send("choose", pair); }
}

function viewPaint(fig, shared) {
  const focus = shared.focus();
  const heat = fig.panes.heatmap;
  heat.bands = { rows: focus.filter((a) => a.side === "query").map((a) => a.index), columns: focus.filter((a) => a.side === "key").map((a) => a.index) };
  if (shared.mode !== "heatmap") heat.cursor = null;
  fig.panes[shared.mode].redraw();
  fig.clear.style.visibility = shared.held.length ? "visible" : "hidden";
  shared.onFocus(focus);
  viewRead(fig, shared);
}

function viewShaded(fig) {
  const { meta } = fig.data;
  const apart = meta.rests.some(Boolean);
  return `Shaded by all tokens' ${meta.value} together${apart ? ", words on their own scale" : ""}. `;
}

function viewRead(fig, shared) {
  const { meta } = fig.data;
  const focus = shared.focus();
  if (shared.mode === "heatmap" && fig.panes.heatmap.cursor) { heatmapRead(fig.panes.heatmap); return; }
  const line = fig.read;
  line.replaceChildren();
  const token = (side, i) => {
    element("span", "hl-token", line, short((side === "query" ? meta.rows : meta.columns)[i], 22));
    element("span", "hl-quiet", line, ` ${i}`);
  };
  if (!focus.length) {
    const said = { lines: "The strongest lines of every token. ", text: shared.direction === "query" ? viewShaded(fig) : "" }[shared.mode] || "";
    element("span", "hl-quiet", line, `${said}Point at a token for its own; click to hold it, several add up.`);
    return;
  }
  focus.slice(0, 4).forEach(({ side, index }, i) => { if (i) element("span", "hl-quiet", line, " + "); token(side, index); });
  if (focus.length > 4) element("span", "hl-quiet", line, ` + ${focus.length - 4} more`);
  const target = focus[0].side === "query" ? "key" : "query";
  const relation = meta.symmetric ? "  is alike to  " : target === "key" ? "  attends to  " : "  is attended by  ";
  element("span", "hl-quiet", line, relation);
  const sum = shared.sum(target);
  const order = [...sum.keys()].sort((a, b) => sum[b] - sum[a]).slice(0, 4);
  order.filter((i) => sum[i] > 0).forEach((i, n) => {
    if (n) element("span", "hl-quiet", line, " · ");
    token(target, i);
    element("b", "", line, ` ${number(sum[i])}`);
  });
  const resting = shared.resting();
  if (target === "key" && resting >= 0.3) {
    const where = meta.rests_on ? ` on ${meta.rests_on}` : "";
    element("span", "hl-quiet", line, ` · ${Math.round(100 * resting)} % rests${where}; words have their own scale`);
  }
}

function viewMode(fig, shared, mode) {
  shared.mode = mode;
  for (const [name, holder] of Object.entries(fig.holders)) holder.style.display = name === mode ? "" : "none";
  viewPaint(fig, shared);
}

function viewBar(fig, shared) {
  const { meta } = fig.data;
  fig.bar.replaceChildren();
  element("span", "hl-title", fig.bar, meta.title);
  fig.clear = element("button", "hl-plain", fig.bar, "Clear held");
  fig.clear.type = "button";
  fig.clear.onclick = () => { shared.held = []; viewPaint(fig, shared); };
  const both = [["query", "attends to"], ["key", "attended by"]];
  if (meta.symmetric) fig.marks = null; // one direction is as good as the other
  else fig.marks = switches(fig.bar, "Direction", both, shared.direction, (side) => {
    shared.direction = side;
    shared.held = shared.held.map(({ index }) => ({ side, index })).filter((at) => at.index < shared.size(side));
    viewPaint(fig, shared);
  });
  if (meta.modes.length > 1) {
    switches(fig.bar, "View", meta.modes.map((m) => [m, MODE_NAMES[m]]), shared.mode, (mode) => viewMode(fig, shared, mode));
  }
}

function viewBuild(fig) {
  const shared = (fig.shared = sharedState(fig));
  fig.bar = element("div", "hl-bar", fig.box);
  fig.holders = {};
  for (const mode of ["lines", "heatmap", "text"]) fig.holders[mode] = element("div", "", fig.box);
  fig.panes = {
    lines: linesPane(fig, fig.holders.lines, shared),
    heatmap: heatmapPane(fig, fig.holders.heatmap),
    text: textPane(fig, fig.holders.text, shared),
  };
  fig.read = element("div", "hl-read hl-two", fig.box);
  fig.read.setAttribute("role", "status");
  fig.note = element("div", "hl-note", fig.box);
  const heat = fig.panes.heatmap;
  fig.holders.heatmap.append(heat.bar); // beneath its picture: pictures of every mode begin at one height
  heat.bare = true;
  heat.read.remove();
  heat.note.remove();
  heat.read = fig.read;
  heat.onHover = (cell) => { shared.hovered = null; viewRead(fig, shared); if (cell) heatmapRead(heat); };
  heat.onChoose = (cell) => {
    shared.held = [{ side: "query", index: cell[0] }];
    shared.direction = "query";
    fig.marks?.mark("query");
    viewPaint(fig, shared);
    fig.send("choose", cell);
  };
  fig.redraw = () => { if (fig.data && fig.width) fig.panes[shared.mode].redraw(); };
}

function viewUpdate(fig, data) {
  const shared = fig.shared;
  const text = JSON.stringify([data.meta.rows, data.meta.columns]);
  if (text !== shared.text) { shared.held = []; shared.hovered = null; shared.text = text; }
  fig.data = data;
  const value = decoder(data.meta, data.codes);
  fig.values = Float32Array.from(data.codes, value);
  shared.most = data.meta.high;
  if (!data.meta.modes.includes(shared.mode)) shared.mode = data.meta.mode;
  fig.note.textContent = data.meta.note;
  interactive(fig.panes.lines.canvas, `${data.meta.label} Lines ${data.meta.symmetric ? "between tokens" : "from queries to keys"}; arrow keys move from token to token, Enter holds one.`);
  viewBar(fig, shared);
  fig.panes.heatmap.update(data);
  fig.panes.text.fill();
  viewMode(fig, shared, shared.mode);
}
