// What is drawn over a photograph: the overlay of one patch, the strongest arrow of each, all strong links.

const signedRoot = (share) => Math.sign(share) * Math.sqrt(Math.abs(share));

function patchOverlay(fig, ctx) {
  const { meta, table } = fig.data;
  const { chosen } = fig.state;
  const signed = meta.kind === "diverging";
  let most = 0;
  const n = meta.rows * meta.columns;
  const weights = Array.from({ length: n }, (_, i) => fig.weight(chosen, meta.prefix.length + i));
  // A patch's product with itself may dwarf all others: signed colours end at the largest of another patch.
  weights.forEach((w, i) => { if (Math.abs(w) > most && !(signed && meta.prefix.length + i === chosen)) most = Math.abs(w); });
  const put = placer({ kind: meta.kind, low: signed ? -most : 0, high: most || 1 });
  colourEnds(fig.scale, signed ? number(-most) : "0", number(most), "· root scale");
  weights.forEach((w, i) => {
    const [x, y] = patchCorner(fig, meta.prefix.length + i);
    const root = Math.max(-1, Math.min(1, signedRoot(w / (most || 1))));
    const c = put(root * most);
    ctx.fillStyle = Number.isNaN(w) ? "rgba(128,128,128,.85)" : `rgba(${table[3 * c]},${table[3 * c + 1]},${table[3 * c + 2]},${0.62 + 0.14 * Math.abs(root)})`;
    const [x0, y0] = [Math.round(x), Math.round(y)];
    ctx.fillRect(x0, y0, Math.round(x + fig.cell[0]) - x0, Math.round(y + fig.cell[1]) - y0);
  });
}

function patchArrow(ctx, x0, y0, x1, y1, head) {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  for (const turn of [2.6, -2.6]) { ctx.moveTo(x1, y1); ctx.lineTo(x1 + head * Math.cos(angle + turn), y1 + head * Math.sin(angle + turn)); }
  ctx.stroke();
}

// The key of largest positive weight, −1 if none; a symmetric matrix is about other patches than itself.
function patchBest(fig, i) {
  const { meta } = fig.data;
  const n = meta.prefix.length + meta.rows * meta.columns;
  let best = -1;
  for (let j = 0; j < n; j++) if (!(meta.symmetric && i === j) && fig.weight(i, j) > (best < 0 ? 0 : fig.weight(i, best))) best = j;
  return best;
}

function patchArrows(fig, ctx) {
  const { meta } = fig.data;
  const n = meta.prefix.length + meta.rows * meta.columns;
  const size = Math.min(fig.cell[0], fig.cell[1]);
  ctx.lineWidth = Math.max(1, size / 16);
  for (let i = meta.prefix.length; i < n; i++) {
    const best = patchBest(fig, i);
    if (best < 0) continue;
    const [x, y] = patchCorner(fig, i).map((v, axis) => v + fig.cell[axis] / 2);
    ctx.strokeStyle = ctx.fillStyle = "#fff";
    ctx.globalAlpha = Math.max(0.25, Math.sqrt(fig.weight(i, best) / (meta.high || 1)));
    if (best === i) { ctx.beginPath(); ctx.arc(x, y, size * 0.22, 0, 7); ctx.stroke(); }
    else if (best < meta.prefix.length) ctx.strokeRect(x - size * 0.18, y - size * 0.18, size * 0.36, size * 0.36);
    else { const [u, v] = patchCorner(fig, best).map((w, axis) => w + fig.cell[axis] / 2); patchArrow(ctx, x, y, u, v, size * 0.3); }
  }
  ctx.globalAlpha = 1;
}

function patchLinks(fig, ctx) {
  const { meta } = fig.data;
  const n = meta.prefix.length + meta.rows * meta.columns;
  const links = [];
  for (let i = meta.prefix.length; i < n; i++) for (let j = meta.symmetric ? i + 1 : meta.prefix.length; j < n; j++) if (i !== j && fig.weight(i, j) >= fig.state.threshold) links.push([i, j, fig.weight(i, j)]);
  links.sort((a, b) => b[2] - a[2]);
  const own = links.filter(([i, j]) => i === fig.state.chosen || j === fig.state.chosen).length;
  fig.links = [links.length, Math.min(links.length, 4000), own];
  for (const [i, j, w] of links.slice(0, 4000)) {
    const [x, y] = patchCorner(fig, i).map((v, axis) => v + fig.cell[axis] / 2);
    const [u, v] = patchCorner(fig, j).map((c, axis) => c + fig.cell[axis] / 2);
    const line = ctx.createLinearGradient(x, y, u, v);
    line.addColorStop(0, meta.query_colour);
    line.addColorStop(1, meta.key_colour);
    ctx.strokeStyle = line;
    ctx.globalAlpha = Math.max(0.3, Math.sqrt(Math.max(w, 0) / (meta.high || 1)));
    ctx.lineWidth = 1.25;
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(u, v);
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
}
