// A cut text: coloured segments, the confidence of every gap as a curve, and a threshold that is dragged in the browser.

const SEG_PART = 9000; // characters drawn at once; longer texts are read part by part
const SEG_HIGH = 104; // height of the curve

function draw(component) {
  const fig = mount(component, segBuild);
  const data = unpack(component.data);
  const { meta } = data;
  if (fig.id !== meta.id) Object.assign(fig, { id: meta.id, k: meta.start, part: 0, high: 0 });
  fig.data = data;
  fig.text = new TextDecoder().decode(data.text);
  let at = 0;
  fig.gaps = Uint32Array.from(data.steps, (step) => (at += step));
  fig.parts = segParts(fig);
  fig.part = Math.min(fig.part, fig.parts.length - 1);
  fig.slider.setAttribute("aria-label", `Threshold of the confidence, ${meta.label}`);
  fig.redraw();
  return fig.close;
}

function segBuild(fig) {
  const bar = element("div", "hl-bar", fig.box);
  fig.title = element("span", "hl-title", bar);
  fig.title.setAttribute("aria-live", "polite");
  fig.scores = element("span", "hl-quiet", bar);
  fig.way = "lines";
  switches(bar, "How the text is laid out", [["lines", "One a line"], ["running", "Running"]], fig.way, (way) => {
    Object.assign(fig, { way, high: 0 });
    segText(fig);
  });
  fig.pane = element("div", "hl-seg", fig.box);
  fig.pane.tabIndex = 0;
  fig.pane.setAttribute("role", "region");
  fig.pane.setAttribute("aria-label", "The text in segments");
  fig.pager = element("div", "hl-bar hl-pager", fig.box);
  fig.curve = element("canvas", "", fig.box);
  fig.curve.setAttribute("role", "img");
  const row = element("div", "hl-bar hl-threshold", fig.box);
  element("label", "hl-quiet", row, "Threshold").htmlFor = "hl-threshold";
  fig.slider = element("input", "", row);
  Object.assign(fig.slider, { type: "range", min: 0, max: 1000, step: 1, id: "hl-threshold" });
  fig.value = element("span", "hl-token", row);
  fig.back = element("button", "hl-plain", row, "back to what was found");
  fig.back.type = "button";
  fig.note = element("div", "hl-note", fig.box);
  fig.slider.oninput = () => segMove(fig, Number(fig.slider.value));
  fig.slider.onchange = () => fig.send("choose", [fig.k]);
  fig.back.onclick = () => { segMove(fig, null); fig.send("choose", [1001]); };
  segPointer(fig);
  fig.redraw = () => {
    if (!fig.data || !fig.width) return;
    if (fig.drawn !== fig.width) Object.assign(fig, { drawn: fig.width, high: 0 });
    segDraw(fig);
  };
}

// Where parts end: at gaps, so that no word is cut; one part where the text is short.
function segParts(fig) {
  const ends = [];
  let from = 0;
  for (let i = 0; i < fig.gaps.length; i++) {
    if (fig.gaps[i] - from > SEG_PART && fig.text.length - fig.gaps[i] > SEG_PART / 3) ends.push((from = fig.gaps[i]));
  }
  return [...ends, fig.text.length].map((end, i) => [i ? ends[i - 1] : 0, end]);
}

function segMove(fig, k) {
  if (k === fig.k) return;
  fig.k = k;
  if (!fig.waiting) fig.waiting = requestAnimationFrame(() => { fig.waiting = 0; segDraw(fig); });
}

// Gap i is a boundary; the same rule as Segmentation.at in Python.
function segCut(fig, i) {
  const { score, found } = fig.data;
  return fig.k === null ? found[i] === 1 : score[i] > 0 && score[i] >= fig.k / 1000;
}

// Segments as [start, end, gap behind] without white space at either end, blank ones left out.
function segSpans(fig) {
  const spans = [];
  let from = 0;
  const add = (end, gap) => {
    const piece = fig.text.slice(from, end);
    const bare = piece.trim();
    const start = from + piece.indexOf(bare);
    if (bare) spans.push([start, start + bare.length, gap]);
    from = end;
  };
  for (let i = 0; i < fig.gaps.length; i++) if (segCut(fig, i)) add(fig.gaps[i], i);
  add(fig.text.length, -1);
  return spans;
}

function segDraw(fig) {
  const { meta } = fig.data;
  fig.spans = segSpans(fig);
  const many = fig.spans.length === 1 ? meta.unit : `${meta.unit}s`;
  const told = `${fig.spans.length.toLocaleString("en")} ${many}`;
  fig.title.textContent = told;
  fig.scores.textContent = segScores(fig);
  const k = fig.k ?? (meta.threshold === null ? 500 : Math.round(1000 * meta.threshold));
  fig.slider.value = k;
  const whole = fig.k === null && meta.threshold === null;
  fig.value.textContent = whole ? "found as a whole" : (k / 1000).toFixed(2);
  fig.slider.setAttribute("aria-valuetext", `${(k / 1000).toFixed(2)}, ${told}`);
  fig.back.style.visibility = fig.k === null ? "hidden" : "visible";
  fig.note.textContent = meta.note;
  segPager(fig);
  segText(fig);
  segCurve(fig);
}

// Precision, recall and F1 of the boundaries shown, where the true ones are known.
function segScores(fig) {
  const { gold, meta } = fig.data;
  if (!gold) return "";
  let [hit, mine, theirs] = [0, 0, meta.unreachable];
  for (let i = 0; i < gold.length; i++) {
    const cut = segCut(fig, i);
    mine += cut; theirs += gold[i]; hit += cut && gold[i];
  }
  if (!mine && !theirs) return "no boundary, and none was to be found";
  const share = (a, b) => (b ? (a / b).toFixed(2) : "–");
  return `F1 ${share(2 * hit, mine + theirs)} · precision ${share(hit, mine)} · recall ${share(hit, theirs)}`;
}

function segPager(fig) {
  const last = fig.parts.length - 1;
  fig.pager.style.display = last ? "" : "none";
  rebuilt(fig.pager, [fig.part, last], () => {
    const step = (text, by) => {
      const button = element("button", "hl-plain", fig.pager, text);
      button.type = "button";
      button.disabled = fig.part + by < 0 || fig.part + by > last;
      button.style.visibility = button.disabled ? "hidden" : "visible";
      button.onclick = () => { fig.part += by; fig.pane.scrollTop = 0; segDraw(fig); };
    };
    step("‹ before", -1);
    element("span", "hl-quiet", fig.pager, `part ${fig.part + 1} of ${last + 1}`);
    step("after ›", 1);
  });
}

// Two tints for sentences; a colour of its own for each topic.
function segTint(fig, n) {
  const { theme, data } = fig;
  const colours = data.meta.colours.length ? data.meta.colours : [theme.primary, theme.text];
  const share = data.meta.colours.length ? 0.8 : n % 2 ? 0.945 : 0.84;
  return blend(colours[n % colours.length], theme.background, share);
}

function segText(fig) {
  const [from, to] = fig.parts[fig.part];
  const { score, meta } = fig.data;
  const named = meta.names.length && meta.names.length === fig.spans.length;
  const lines = document.createDocumentFragment();
  const parent = fig.way === "lines" ? lines : element("div", "hl-running", lines);
  if (parent !== lines) parent.dir = "auto";
  fig.rows = new Map();
  let shown = from;
  fig.spans.forEach(([a, b, gap], n) => {
    if (b <= from || a >= to) return;
    const [start, end] = [Math.max(a, from), Math.min(b, to)];
    const text = (a < from ? "… " : "") + fig.text.slice(start, end) + (b > to ? " …" : "");
    if (fig.way === "running") {
      parent.append(document.createTextNode(fig.text.slice(shown, start)));
      if (named) element("span", "hl-chip", parent, meta.names[n]);
      const span = element("span", "hl-piece", parent, text);
      span.style.background = segTint(fig, n);
      fig.rows.set(n, span);
    } else {
      const row = element("div", "hl-row", parent);
      row.style.background = segTint(fig, n);
      element("span", "hl-quiet", row, String(n + 1));
      const middle = element("div", "hl-line", row);
      middle.dir = "auto";
      if (named && meta.names[n]) element("div", "hl-name", middle, meta.names[n]);
      element("div", "", middle, text);
      const sure = element("span", "hl-quiet", row, gap < 0 || b > to ? "" : score[gap].toFixed(2));
      sure.title = "Confidence of the boundary after this segment";
      fig.rows.set(n, row);
    }
    shown = end;
  });
  const top = fig.pane.scrollTop;
  fig.pane.replaceChildren(lines);
  fig.pane.style.height = ""; // the box may grow with the threshold, but nothing beneath it moves while that is dragged
  if (!fig.held) fig.high = Math.max(fig.high, fig.pane.offsetHeight);
  fig.pane.style.height = `${fig.high}px`;
  fig.pane.scrollTop = top;
}

const segX = (fig, offset) => {
  const [from, to] = fig.parts[fig.part];
  return 26 + ((offset - from) / Math.max(1, to - from)) * (fig.width - 34);
};
const segY = (k) => 6 + (1 - k / 1000) * (SEG_HIGH - 24);

function segCurve(fig) {
  const { score, gold, meta } = fig.data;
  const { theme } = fig;
  const ctx = surface(fig.curve, fig.width, SEG_HIGH);
  const [from, to] = fig.parts[fig.part];
  ctx.font = `11px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (const k of [0, 500, 1000]) {
    ctx.fillText(String(k / 1000), 20, segY(k));
    ctx.fillRect(26, segY(k), fig.width - 34, k ? 0.25 : 0.75);
  }
  const wide = fig.gaps.length < 400 ? 2 : 1;
  let cuts = 0;
  for (let i = 0; i < fig.gaps.length; i++) {
    if (fig.gaps[i] < from || fig.gaps[i] > to) continue;
    const cut = segCut(fig, i);
    cuts += cut;
    const [x, y] = [segX(fig, fig.gaps[i]), segY(1000 * score[i])];
    ctx.fillStyle = cut ? theme.primary : theme.muted;
    ctx.fillRect(x - wide / 2, y, wide, segY(0) - y);
    if (cut) ctx.fillRect(x - wide, y - 1, 2 * wide, 2 * wide);
    if (gold && gold[i]) {
      ctx.fillStyle = meta.gold_colour;
      ctx.beginPath();
      ctx.moveTo(x, segY(0) + 3); ctx.lineTo(x - 3.5, segY(0) + 9); ctx.lineTo(x + 3.5, segY(0) + 9);
      ctx.fill();
    }
  }
  const k = fig.k ?? (meta.threshold === null ? null : 1000 * meta.threshold);
  if (k !== null) {
    ctx.strokeStyle = theme.text;
    ctx.setLineDash([5, 4]);
    ctx.beginPath(); ctx.moveTo(26, segY(k)); ctx.lineTo(fig.width - 8, segY(k)); ctx.stroke();
    ctx.setLineDash([]);
    ctx.fillStyle = theme.text;
    ctx.beginPath(); ctx.arc(fig.width - 8, segY(k), 4.5, 0, 7); ctx.fill();
  }
  fig.curve.setAttribute("aria-label", `Confidence of a boundary along the text; ${count(cuts, "boundary").replace("boundarys", "boundaries")} in this part.`);
}

// Dragging anywhere near the line moves the threshold; a click goes to the segment; hovering tells a gap.
function segPointer(fig) {
  const k = (event) => Math.max(0, Math.min(1000, Math.round(1000 * (1 - (place(fig, fig.curve, event).y - 6) / (SEG_HIGH - 24)))));
  const line = () => segY(fig.k ?? (fig.data.meta.threshold === null ? 500 : 1000 * fig.data.meta.threshold));
  const near = (event) => Math.abs(place(fig, fig.curve, event).y - line()) < 9;
  fig.curve.onpointerdown = (event) => {
    fig.held = near(event);
    if (fig.held) { fig.curve.setPointerCapture(event.pointerId); tooltip(fig); return; }
    const gap = segNearest(fig, place(fig, fig.curve, event).x);
    const n = fig.spans.findIndex(([, b]) => b >= fig.gaps[gap]);
    const row = fig.rows.get(n);
    if (row) fig.pane.scrollTop += row.getBoundingClientRect().top - fig.pane.getBoundingClientRect().top - 60;
  };
  fig.curve.onpointermove = (event) => {
    if (fig.held) { segMove(fig, k(event)); return; }
    fig.curve.style.cursor = near(event) ? "ns-resize" : "pointer";
    const at = place(fig, fig.curve, event);
    const gap = segNearest(fig, at.x);
    if (gap < 0) return;
    const cut = fig.gaps[gap];
    const around = `${fig.text.slice(Math.max(0, cut - 28), cut).trim()} ¦ ${fig.text.slice(cut, cut + 28).trim()}`;
    const gold = fig.data.gold && fig.data.gold[gap] ? " · a true boundary" : "";
    tooltip(fig, at.bx, at.by, `${around.replace(/\s+/g, " ")}\nconfidence ${fig.data.score[gap].toFixed(2)}${gold}`);
  };
  fig.curve.onpointerleave = () => { if (!fig.held) tooltip(fig); };
  fig.curve.onpointerup = fig.curve.onpointercancel = () => {
    const moved = fig.held && fig.k !== null;
    fig.held = false;
    if (moved) { segDraw(fig); fig.send("choose", [fig.k]); }
  };
}

// The highest gap within a few pixels, else the nearest: index, −1 where the text has none.
function segNearest(fig, x) {
  const [from, to] = fig.parts[fig.part];
  let [best, worth] = [-1, Infinity];
  for (let i = 0; i < fig.gaps.length; i++) {
    if (fig.gaps[i] < from || fig.gaps[i] > to) continue;
    const off = Math.abs(segX(fig, fig.gaps[i]) - x);
    const price = off < 4 ? -fig.data.score[i] : off;
    if (price < worth) [best, worth] = [i, price];
  }
  return best;
}
