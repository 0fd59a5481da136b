// Shared by every view: reading the packet, theme colours, crisp canvases, tooltip, legend, switches.
// Text is set with textContent alone; handlers are assigned, so a second call replaces the first.

const figures = new WeakMap(); // root → what a figure keeps between two sets of data

function unpack(bytes) {
  const raw = bytes.byteOffset % 8 ? bytes.slice() : bytes;
  const length = new DataView(raw.buffer, raw.byteOffset).getUint32(0, true);
  const { meta, arrays } = JSON.parse(new TextDecoder().decode(raw.subarray(4, 4 + length)));
  const kinds = { uint8: Uint8Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, float32: Float32Array };
  const out = { meta };
  for (const [name, [dtype, shape, offset]] of Object.entries(arrays)) {
    const size = shape.reduce((a, b) => a * b, 1);
    out[name] = new kinds[dtype](raw.buffer, raw.byteOffset + 4 + length + offset, size);
    out[name].shape = shape;
  }
  return out;
}

function element(tag, name, parent, text) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

// Builds once per place on the page, then only hands over new data, theme and width.
function mount(component, build) {
  const root = component.parentElement;
  let fig = figures.get(root);
  if (!fig || !fig.box.isConnected) {
    fig = { box: element("div", "hl", root), redraw() {} };
    figures.set(root, fig);
    fig.tip = element("div", "hl-tip", fig.box);
    build(fig);
    fig.observer = new ResizeObserver(() => {
      if (fig.box.clientWidth === fig.width) return;
      fig.width = fig.box.clientWidth;
      fig.redraw();
    });
    fig.observer.observe(fig.box);
    document.fonts.load("12px 'Source Code Pro'").then(() => fig.redraw());
  }
  fig.send = (event, value) => component.setTriggerValue(event, value);
  fig.close = () => fig.observer.disconnect();
  fig.theme = readTheme(fig.box);
  fig.width = fig.box.clientWidth;
  return fig;
}

function readTheme(node) {
  const css = getComputedStyle(node);
  const get = (name, other) => css.getPropertyValue(`--st-${name}`).trim() || other;
  const background = get("background-color", "#ffffff");
  const text = get("text-color", "#31333f");
  return {
    background, text,
    soft: get("secondary-background-color", "#f0f2f6"),
    border: get("border-color", "#d0d3da"),
    primary: get("primary-color", "#ff4b4b"),
    font: get("font", "sans-serif"),
    mono: get("code-font", "monospace"),
    dark: brightness(background) < 0.5,
    muted: blend(text, background, 0.42),
  };
}

const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
function rgba(colour) {
  probe.canvas.width = probe.canvas.height = 1;
  probe.fillStyle = colour;
  probe.fillRect(0, 0, 1, 1);
  return probe.getImageData(0, 0, 1, 1).data;
}
function brightness(colour) {
  const [r, g, b] = rgba(colour);
  return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
}
function blend(a, b, share) {
  const [p, q] = [rgba(a), rgba(b)];
  return `rgb(${[0, 1, 2].map((i) => Math.round(p[i] * (1 - share) + q[i] * share)).join(",")})`;
}

// A canvas of w × h CSS pixels whose strokes are crisp on any screen.
function surface(canvas, w, h) {
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  canvas.width = Math.max(1, Math.round(w * ratio));
  canvas.height = Math.max(1, Math.round(h * ratio));
  canvas.style.width = `${w}px`;
  canvas.style.height = `${h}px`;
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, w, h);
  return ctx;
}

// A picture of w × h pixels from one colour (packed little-endian RGBA) per pixel.
function bitmap(w, h, paint) {
  const canvas = document.createElement("canvas");
  canvas.width = w;
  canvas.height = h;
  const ctx = canvas.getContext("2d");
  const image = ctx.createImageData(w, h);
  paint(new Uint32Array(image.data.buffer));
  ctx.putImageData(image, 0, 0);
  return canvas;
}

const packed = (r, g, b, a = 255) => ((a << 24) | (b << 16) | (g << 8) | r) >>> 0;

// Code → value, as lib/views/packet.py `restore` does it.
function decoder(meta, codes) {
  const steps = codes.BYTES_PER_ELEMENT === 1 ? 254 : 65534;
  const most = Math.max(Math.abs(meta.low), Math.abs(meta.high));
  if (meta.kind === "categorical") return (code) => (code ? code - 1 : NaN);
  if (meta.kind === "diverging") {
    return (code) => {
      const signed = (2 * (code - 1)) / steps - 1;
      return code ? most * signed * Math.abs(signed) : NaN;
    };
  }
  return (code) => (code ? meta.low + (meta.high - meta.low) * ((code - 1) / steps) ** 2 : NaN);
}

// Value → place in the colour table, 0–255.
function placer(meta, scale) {
  const { low, high, kind } = meta;
  if (kind === "categorical") return (v) => v;
  if (kind === "diverging") {
    const most = Math.max(Math.abs(low), Math.abs(high)) || 1;
    return (v) => Math.round(127.5 + 127.5 * Math.max(-1, Math.min(1, v / most)));
  }
  const span = high - low || 1;
  if (scale === "log") {
    const floor = logFloor(meta);
    const width = Math.log(high / floor) || 1;
    return (v) => Math.round(255 * Math.max(0, Math.min(1, Math.log(Math.max(v, floor) / floor) / width)));
  }
  return (v) => Math.round(255 * Math.max(0, Math.min(1, (v - low) / span)));
}
const logFloor = (meta) => (meta.low > 0 ? meta.low : meta.high * 1e-4);

function number(v) {
  if (!Number.isFinite(v)) return "—";
  const a = Math.abs(v);
  if (a === 0) return "0";
  if (a >= 10000 || a < 0.001) return power(v);
  const text = a >= 100 ? v.toFixed(0) : a >= 10 ? v.toFixed(1) : a >= 1 ? v.toFixed(2) : v.toFixed(3);
  return text.replace("-", "−");
}

function power(v) {
  const [digits, exponent] = v.toExponential(1).split("e");
  const raised = [...exponent.replace("+", "")].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");
  return `${digits.replace("-", "−").replace(/\.0$/, "")}×10${raised}`;
}

const short = (text, most) => ([...text].length > most ? [...text].slice(0, most - 1).join("") + "…" : text);
const count = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

function tooltip(fig, x, y, text) {
  const tip = fig.tip;
  if (!text) { tip.style.visibility = "hidden"; return; }
  tip.textContent = text;
  const left = x + 14 + tip.offsetWidth > fig.box.clientWidth ? x - tip.offsetWidth - 10 : x + 14;
  tip.style.left = `${Math.max(0, left)}px`;
  tip.style.top = `${y + 14}px`;
  tip.style.visibility = "visible";
}

// Where a pointer event is: within the canvas, and within the box (for the tooltip).
function place(fig, canvas, event) {
  const c = canvas.getBoundingClientRect();
  const b = fig.box.getBoundingClientRect();
  return { x: event.clientX - c.left, y: event.clientY - c.top, bx: event.clientX - b.left, by: event.clientY - b.top };
}

function interactive(canvas, label) {
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-label", label);
}

// Builds the inside of a bar anew only when what it shows has changed, so that its buttons keep the focus.
function rebuilt(parent, shown, build) {
  const key = JSON.stringify(shown);
  if (parent.shown === key) return;
  parent.shown = key;
  parent.replaceChildren();
  build();
}

// A row of buttons of which one is pressed.
function switches(parent, label, options, current, pick) {
  const set = element("div", "hl-set", parent);
  set.setAttribute("role", "group");
  set.setAttribute("aria-label", label);
  const buttons = options.map(([value, text]) => {
    const button = element("button", "", set, text);
    button.type = "button";
    button.onclick = () => { mark(value); pick(value); };
    return [value, button];
  });
  const mark = (value) => buttons.forEach(([v, b]) => b.setAttribute("aria-pressed", String(v === value)));
  mark(current);
  set.mark = mark;
  return set;
}

function colourBar(parent, table, low, high, unit) {
  const legend = element("span", "hl-legend", parent);
  element("span", "hl-quiet", legend);
  const bar = element("canvas", "", legend);
  bar.setAttribute("role", "img");
  bar.width = 256;
  bar.height = 1;
  const ctx = bar.getContext("2d");
  for (let i = 0; i < 256; i++) {
    ctx.fillStyle = `rgb(${table[3 * i]},${table[3 * i + 1]},${table[3 * i + 2]})`;
    ctx.fillRect(i, 0, 1, 1);
  }
  element("span", "hl-quiet", legend);
  colourEnds(legend, low, high, unit);
  return legend;
}

// What the two ends of a colour bar mean.
function colourEnds(legend, low, high, unit = "") {
  legend.children[0].textContent = low;
  legend.children[1].setAttribute("aria-label", `Colour scale from ${low} to ${high} ${unit}`);
  legend.children[2].textContent = unit ? `${high} ${unit}` : high;
}

function hatch(ctx, theme) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const t = tile.getContext("2d");
  t.fillStyle = theme.soft;
  t.fillRect(0, 0, 8, 8);
  t.strokeStyle = blend(theme.text, theme.background, 0.78);
  t.lineWidth = 1;
  t.beginPath();
  for (const shift of [-8, 0, 8]) { t.moveTo(shift, 8); t.lineTo(shift + 8, 0); }
  t.stroke();
  return ctx.createPattern(tile, "repeat");
}

function legends(parent, meta, roles) {
  parent.replaceChildren();
  const colon = meta.legend.length ? ":" : ""; // colours that speak for themselves have no entries
  if (meta.colour_title) element("span", "hl-key hl-quiet", parent, meta.colour_title + colon);
  for (const entry of meta.legend) {
    const key = element("span", "hl-key", parent);
    if (entry.colours.length === 1) element("i", "", key).style.background = entry.colours[0];
    else element("i", "hl-ramp", key).style.background = `linear-gradient(90deg, ${entry.colours.join(",")})`;
    element("span", "", key, entry.name + (entry.low === undefined ? "" : ` ${entry.low} – ${entry.high}`));
  }
  if (roles) element("span", "hl-key hl-quiet", parent, `● ${meta.role_names[0]}  ■ ${meta.role_names[1]}`);
}

// An order of n things in which no part of the list is drawn last: a step coprime to n.
function shuffled(n) {
  const gcd = (a, b) => (b ? gcd(b, a % b) : a);
  let step = Math.max(1, Math.round(n * 0.618));
  while (gcd(step, n) !== 1) step++;
  return Uint32Array.from({ length: n }, (_, i) => (i * step) % n);
}
