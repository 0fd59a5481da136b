// Labels and numbers along a matrix: thinned to what fits, with those of lit rows and columns in full.

// A label of at most 14 characters that is no wider than `most` pixels in the font that is set; measured once.
function fitted(known, ctx, label, most) {
  if (!known.has(label)) {
    let length = Math.min(14, [...label].length);
    while (length > 1 && ctx.measureText(short(label, length)).width > most) length--;
    known.set(label, short(label, length));
  }
  return known.get(label);
}

// The number of the first row or column.
function heatmapFirst(meta, axis) {
  return (meta.first || [0, 0])[axis === "row" ? 0 : 1];
}

// A whole number with a minus sign for a hyphen.
function whole(value) {
  return String(value).replace("-", "−");
}

function heatmapAxes(fig, pane, ctx, g, x, y) {
  const { meta } = pane.data;
  const theme = fig.theme;
  const every = (step, numbered) => {
    const need = Math.max(1, Math.ceil((numbered ? 26 : 12) / step));
    return numbered ? [1, 2, 5, 10, 20, 50, 100, 200, 500].find((n) => n >= need) || need : need;
  };
  const draw = (axis, texts, n, step, cursor) => {
    const font = texts ? theme.mono : theme.font;
    const thin = every(step, !texts);
    const first = texts ? 0 : heatmapFirst(meta, axis);
    const indices = [];
    for (let i = (thin - (first % thin)) % thin; i < n; i += thin) indices.push(i); // on round numbers
    const put = (i, strong) => {
      ctx.save();
      if (axis === "row") ctx.translate(g.left - 6, y(i) + g.h / 2);
      else { ctx.translate(x(i) + g.w / 2, g.top - 6); if (texts) ctx.rotate(-Math.PI / 2); }
      ctx.font = `${strong ? "600 " : ""}11px ${font}`;
      ctx.textAlign = axis === "row" ? "right" : texts ? "left" : "center";
      ctx.textBaseline = axis === "row" || texts ? "middle" : "alphabetic";
      const text = fitted(pane.labels[strong ? 1 : 0], ctx, texts ? texts[i] : whole(first + i), g.room);
      if (strong) {
        const w = ctx.measureText(text).width + 6;
        ctx.fillStyle = theme.background;
        ctx.fillRect(axis === "row" ? 3 - w : texts ? -3 : -w / 2, axis === "row" || texts ? -8 : -11, w, 16);
      }
      ctx.fillStyle = strong ? theme.text : theme.muted;
      ctx.fillText(text, 0, 0);
      ctx.restore();
    };
    // Lit labels stand alone: none is printed over another, and no thin one shows half behind them.
    const room = axis === "row" || texts ? 13 : 30;
    const lit = [];
    for (const i of cursor) if (i !== undefined && lit.every((j) => Math.abs(i - j) * step >= room)) lit.push(i);
    indices.filter((i) => lit.every((j) => Math.abs(i - j) * step >= room)).forEach((i) => put(i, false));
    lit.forEach((i) => put(i, true));
  };
  const at = pane.cursor || [undefined, undefined];
  draw("row", meta.rows, g.rows, g.h, [...pane.bands.rows, at[0]]);
  draw("column", meta.columns, g.columns, g.w, [...pane.bands.columns, at[1]]);
  ctx.fillStyle = theme.text;
  ctx.font = `12px ${theme.font}`;
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  ctx.fillText(`${meta.column_title} →`, g.left, 0);
  ctx.save();
  ctx.translate(0, g.top + g.high);
  ctx.rotate(-Math.PI / 2);
  ctx.textAlign = "right";
  ctx.fillText(meta.upward ? `${meta.row_title} →` : `← ${meta.row_title}`, g.high, 0);
  ctx.restore();
}
