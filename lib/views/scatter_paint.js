// The points of a scatter as pixels: shapes drawn once, then laid over one another, in half the time of drawImage.
// What was painted is kept until data, view, selection or size change.

const stamping = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

// Every role has a shape of its own, in every colour; here in a square of 24.
const ROLE_SIGNS = "●■▲◆";
const ROLE_SHAPES = [
  (ctx) => ctx.arc(12, 12, 9, 0, 7),
  (ctx) => ctx.rect(4.5, 4.5, 15, 15),
  (ctx) => { ctx.moveTo(12, 2.5); ctx.lineTo(21.5, 19.5); ctx.lineTo(2.5, 19.5); ctx.closePath(); },
  (ctx) => { ctx.moveTo(12, 1.5); ctx.lineTo(22, 12); ctx.lineTo(12, 22.5); ctx.lineTo(2, 12); ctx.closePath(); },
];

// A role's shape, `right` and `down` of a pixel's corner: pixels covered, how far, how much of that is colour, not rim.
function scatterStamp(pane, role, radius, right, down) {
  const key = [role, radius, right, down].join();
  if (pane.stamps.has(key)) return pane.stamps.get(key);
  if (pane.stamps.size > 600) pane.stamps.clear();
  const middle = Math.ceil(radius * 1.33) + 1;
  const side = 2 * middle + 1;
  stamping.canvas.width = stamping.canvas.height = side;
  stamping.translate(middle + right, middle + down);
  stamping.scale((radius * 2.66) / 24, (radius * 2.66) / 24);
  stamping.translate(-12, -12);
  stamping.lineWidth = 1.5;
  stamping.beginPath();
  ROLE_SHAPES[role](stamping);
  stamping.strokeStyle = "rgba(0, 0, 0, 0.6)";
  stamping.stroke();
  stamping.fillStyle = "#fff";
  stamping.fill();
  const { data } = stamping.getImageData(0, 0, side, side);
  const stamp = [];
  for (let i = 0; i < side * side; i++) {
    if (data[4 * i + 3] > 5) stamp.push((i % side) - middle, Math.floor(i / side) - middle, data[4 * i + 3] / 255, data[4 * i] / 255);
  }
  pane.stamps.set(key, stamp);
  return stamp;
}

// Lays a stamp over premultiplied pixels; x, y: the pixel of its middle.
function scatterPress(out, w, h, stamp, x, y, [r, g, b], [rimR, rimG, rimB], alpha) {
  for (let s = 0; s < stamp.length; s += 4) {
    const px = x + stamp[s];
    const py = y + stamp[s + 1];
    if (px < 0 || py < 0 || px >= w || py >= h) continue;
    const a = stamp[s + 2] * alpha;
    const share = stamp[s + 3];
    const rest = 1 - a;
    const old = out[py * w + px];
    const mix = (rim, colour, shift) => (rim + (colour - rim) * share) * a + ((old >>> shift) & 255) * rest + 0.5;
    out[py * w + px] = packed(mix(rimR, r, 0) | 0, mix(rimG, g, 8) | 0, mix(rimB, b, 16) | 0, mix(255, 255, 24) | 0);
  }
}

// putImageData takes colours that are not yet multiplied by how opaque they are.
function scatterStraight(out) {
  for (let i = 0; i < out.length; i++) {
    const a = out[i] >>> 24;
    if (!a || a === 255) continue;
    const full = (shift) => Math.min(255, (((out[i] >>> shift) & 255) * 255) / a);
    out[i] = packed(full(0), full(8), full(16), a);
  }
}

// Calls for every point in sight and remembers the lit ones; `passes`: [are they lit, how opaque, how much larger].
function scatterEach(pane, passes, isLit, act) {
  pane.visible = [];
  for (const [pass, alpha, larger] of passes) {
    for (const i of pane.order) {
      if (isLit && Boolean(isLit(i)) !== pass) continue;
      const [x, y] = scatterPlace(pane, i);
      if (x < -9 || y < -9 || x > pane.grid.w + 9 || y > pane.grid.h + 9) continue;
      act(i, x, y, alpha, larger);
      if (pass) pane.visible.push(i);
    }
  }
}

function scatterPaint(fig, pane, ctx, passes, isLit) {
  const { data, view, grid: g } = pane;
  const { width: w, height: h } = pane.canvas;
  const ratio = ctx.getTransform().a;
  const key = [w, h, view.k, view.x, view.y, fig.theme.background].join();
  const old = pane.painted;
  if (!old || old.key !== key || old.data !== data || old.selected !== view.selected) {
    const image = old && old.image.width === w && old.image.height === h ? old.image : new ImageData(w, h);
    const out = new Uint32Array(image.data.buffer).fill(0);
    const rim = rgba(fig.theme.background);
    const colours = data.meta.colours.map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
    const { classes, roles } = data;
    scatterEach(pane, passes, isLit, (i, x, y, alpha, larger) => {
      const radius = Math.round(scatterRadius(pane, i) * larger * ratio * 4) / 4;
      const [left, top] = [Math.round(x * ratio * 2) / 2, Math.round(y * ratio * 2) / 2];
      const [column, row] = [Math.floor(left), Math.floor(top)];
      const stamp = scatterStamp(pane, roles ? roles[i] : 0, radius, left - column, top - row);
      scatterPress(out, w, h, stamp, column, row, colours[classes[i]], rim, alpha);
    });
    scatterStraight(out);
    pane.layer.canvas.width = w;
    pane.layer.canvas.height = h;
    pane.layer.putImageData(image, 0, 0);
    pane.painted = { key, data, selected: view.selected, image };
  }
  ctx.drawImage(pane.layer.canvas, 0, 0, w / ratio, h / ratio);
}
