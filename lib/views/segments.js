// A cut text: coloured segments, the confidence of every gap as a curve, and a threshold that is dragged in the browser.

const SEG_PART = 9000; // characters drawn at once; longer texts are read part by part

function draw(component) {
  const fig = mount(component, segBuild);
  const data = unpack(component.data);
  fig.asked = data;
  segInflated(data.packed).then((packet) => {
    if (fig.asked !== data) return; // newer data came meanwhile
    segTake(fig, { behind: data.behind, ...unpack(packet), meta: data.meta });
  });
  return fig.close;
}

async function segInflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function segTake(fig, data) {
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
}

function segBuild(fig) {
  const bar = element("div", "hl-bar hl-segbar", fig.box);
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
  fig.row = element("div", "hl-bar hl-threshold", fig.box);
  element("label", "hl-quiet", fig.row, "Threshold").htmlFor = "hl-threshold";
  fig.slider = element("input", "", fig.row);
  Object.assign(fig.slider, { type: "range", min: 0, max: 1000, step: 1, id: "hl-threshold" });
  fig.value = element("span", "hl-token", fig.row);
  fig.back = element("button", "hl-plain", fig.row, "back to what was found");
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

// Gap i is a boundary; the same rule as Segmentation.at in Python: score counts the thresholds that it reaches, from 0 on.
function segCut(fig, i) {
  const { score, found } = fig.data;
  return fig.k === null ? found[i] === 1 : score[i] > fig.k;
}

// The confidence of gap i, 0 to 1.
const segSure = (fig, i) => Math.min(1, Math.max(0, (fig.data.score[i] - 0.5) / 1000));

// Boundaries, and true ones among them, behind what is shown of a very long text.
function segBehind(fig) {
  const { behind } = fig.data;
  if (!behind) return [0, 0];
  const [, wide] = behind.shape;
  const k = fig.k ?? wide - 1;
  return [behind[k], behind[wide + k]];
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
  const told = count(fig.spans.length + segBehind(fig)[0], meta.unit);
  fig.title.textContent = told;
  fig.scores.textContent = segScores(fig);
  const k = fig.k ?? (meta.threshold === null ? 500 : Math.round(1000 * meta.threshold));
  fig.slider.value = k;
  const whole = fig.k === null && meta.threshold === null;
  fig.value.textContent = whole ? "found as a whole" : (k / 1000).toFixed(2);
  fig.slider.setAttribute("aria-valuetext", `${(k / 1000).toFixed(2)}, ${told}`);
  fig.back.style.visibility = fig.k === null ? "hidden" : "visible";
  fig.curve.style.display = fig.row.style.display = fig.gaps.length ? "" : "none"; // one word has nothing to drag
  fig.pane.style.setProperty("--hl-digits", String(fig.spans.length).length);
  fig.note.textContent = meta.note;
  segPager(fig);
  segText(fig);
  segCurve(fig);
}

// Precision, recall and F1 of the boundaries shown, where the true ones are known.
function segScores(fig) {
  const { gold, meta } = fig.data;
  if (!gold) return "";
  const theirs = meta.true;
  let [mine, hit] = segBehind(fig);
  for (let i = 0; i < gold.length; i++) {
    const cut = segCut(fig, i);
    mine += cut; hit += cut && gold[i];
  }
  if (!mine && !theirs) return "no boundary, and none was to be found";
  const share = (a, b) => (b ? (a / b).toFixed(2) : "–");
  return `F1 ${share(2 * hit, mine + theirs)} · precision ${share(hit, mine)} · recall ${share(hit, theirs)}`;
}

function segPager(fig) {
  const last = fig.parts.length - 1;
  fig.pager.style.display = last ? "" : "none";
  rebuilt(fig.pager, [fig.part, last], () => {
    const go = (part) => {
      fig.part = Math.max(0, Math.min(last, part));
      fig.pane.scrollTop = 0;
      segDraw(fig);
    };
    const step = (text, by) => {
      const button = element("button", "hl-plain", fig.pager, text);
      button.type = "button";
      button.disabled = fig.part + by < 0 || fig.part + by > last;
      button.style.visibility = button.disabled ? "hidden" : "visible";
      button.onclick = () => go(fig.part + by);
    };
    step("‹ before", -1);
    const place = element("label", "hl-quiet", fig.pager, "part ");
    const field = element("input", "hl-field", place);
    Object.assign(field, { type: "number", min: 1, max: last + 1, value: fig.part + 1 });
    field.onchange = () => go((Math.round(Number(field.value)) || 1) - 1);
    place.append(` of ${last + 1}`);
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
  const { meta } = fig.data;
  const named = fig.k === meta.start; // names are those of the segments that Python knows
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
      if (named && meta.names[n]) element("span", "hl-chip", parent, meta.names[n]);
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
      const sure = element("span", "hl-quiet", row, gap < 0 || b > to ? "" : segSure(fig, gap).toFixed(2));
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
