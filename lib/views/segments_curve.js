// The confidence of every gap of a cut text as a curve, and what a pointer does on it.

const SEG_HIGH = 104; // height of the curve

const segX = (fig, offset) => {
  const [from, to] = fig.parts[fig.part];
  return 26 + ((offset - from) / Math.max(1, to - from)) * (fig.width - 34);
};
const segY = (k) => 6 + (1 - k / 1000) * (SEG_HIGH - 24);

function segCurve(fig) {
  const { gold, meta } = fig.data;
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
    const [x, y] = [segX(fig, fig.gaps[i]), segY(1000 * segSure(fig, i))];
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
    tooltip(fig, at.bx, at.by, `${around.replace(/\s+/g, " ")}\nconfidence ${segSure(fig, gap).toFixed(2)}${gold}`);
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
