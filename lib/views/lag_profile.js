// A profile with bands: handles that are dragged or moved with the arrow keys. Sends [band, index of the lag].

const LANE = { left: 8, right: 8, handles: 22, foot: 18 };

function laneBuild(fig) {
  fig.bar = element("div", "hl-bar", fig.box);
  fig.canvas = element("canvas", "", fig.box);
  fig.read = element("div", "hl-read", fig.box);
  fig.read.setAttribute("role", "status");
  fig.note = element("div", "hl-note", fig.box);
  fig.redraw = () => laneDraw(fig);
  const at = (event) => place(fig, fig.canvas, event);
  const nearest = (p) => {
    const away = fig.at.map((lag) => Math.abs(laneX(fig, lag) - p.x));
    const best = away.indexOf(Math.min(...away));
    return away[best] < 16 ? best : -1;
  };
  fig.canvas.onpointerdown = (event) => {
    const band = nearest(at(event));
    if (band < 0) return;
    event.preventDefault();
    fig.canvas.setPointerCapture(event.pointerId);
    fig.canvas.focus();
    fig.held = band;
    fig.chosen = band;
    laneDraw(fig);
  };
  fig.canvas.onpointermove = (event) => {
    const p = at(event);
    if (fig.held === undefined) {
      const over = nearest(p) >= 0;
      fig.canvas.style.cursor = over ? "ew-resize" : "default";
      laneTip(fig, p);
      return;
    }
    tooltip(fig);
    laneMove(fig, fig.held, laneLag(fig, p.x));
  };
  const release = () => {
    if (fig.held === undefined) return;
    const band = fig.held;
    fig.held = undefined;
    laneSend(fig, band, 0);
  };
  fig.canvas.onpointerup = release;
  fig.canvas.onpointercancel = release;
  fig.canvas.onpointerleave = () => tooltip(fig);
  fig.canvas.onkeydown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageDown: -5, PageUp: 5 }[event.key];
    const other = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!step && !other) return;
    event.preventDefault();
    if (step) laneMove(fig, fig.chosen, Math.round(fig.at[fig.chosen]) + step * (event.shiftKey ? 5 : 1));
    else fig.chosen = (fig.chosen + other + fig.at.length) % fig.at.length;
    laneDraw(fig);
    laneSend(fig, fig.chosen, 350);
  };
}

const laneCount = (fig) => fig.data.profile.length;
const laneStep = (fig) => (fig.width - LANE.left - LANE.right) / Math.max(1, laneCount(fig) - 1);
const laneX = (fig, lag) => LANE.left + (lag - fig.data.meta.first) * laneStep(fig);
const laneLag = (fig, x) => fig.data.meta.first + Math.round((x - LANE.left) / laneStep(fig));

function laneMove(fig, band, lag) {
  const { first } = fig.data.meta;
  fig.at[band] = Math.max(first, Math.min(first + laneCount(fig) - 1, lag));
  laneDraw(fig);
}

function laneSend(fig, band, wait) {
  clearTimeout(fig.timer);
  fig.timer = setTimeout(() => fig.send("choose", [band, Math.round(fig.at[band]) - fig.data.meta.first]), wait);
}

function laneTip(fig, p) {
  const i = laneLag(fig, p.x) - fig.data.meta.first;
  const { profile, meta } = fig.data;
  if (i < 0 || i >= profile.length || p.y < 0) { tooltip(fig); return; }
  tooltip(fig, p.bx, p.by, `lag ${String(i + meta.first).replace("-", "−")}\n${meta.y_title} ${number(profile[i] * meta.top)}`);
}

function laneArea(ctx, fig, upper, lower) {
  ctx.beginPath();
  for (let i = 0; i < laneCount(fig); i++) ctx.lineTo(laneX(fig, fig.data.meta.first + i), upper(i));
  for (let i = laneCount(fig) - 1; i >= 0; i--) ctx.lineTo(laneX(fig, fig.data.meta.first + i), lower(i));
  ctx.fill();
}

function laneDraw(fig) {
  if (!fig.data || !fig.width) return;
  const { meta, profile, bands, low, high } = fig.data;
  const height = meta.height;
  const ctx = surface(fig.canvas, fig.width, height);
  const floor = height - LANE.foot;
  const up = (share) => floor - share * (floor - LANE.handles - 4);
  const n = laneCount(fig);
  fig.at.forEach((lag, band) => {
    const shift = Math.round(lag - meta.centres[band]);
    ctx.fillStyle = band === fig.chosen ? "#D98E04" : "#8A8F98";
    ctx.globalAlpha = band === fig.chosen ? 0.3 : 0.13;
    laneArea(ctx, fig, (i) => up(i - shift >= 0 && i - shift < n ? bands[band * n + i - shift] : 0), () => floor);
  });
  ctx.fillStyle = ctx.strokeStyle = "#3B7DD8";
  if (low) { ctx.globalAlpha = 0.3; laneArea(ctx, fig, (i) => up(high[i]), (i) => up(low[i])); }
  ctx.globalAlpha = 1;
  ctx.lineWidth = 1.6;
  ctx.beginPath();
  for (let i = 0; i < n; i++) ctx.lineTo(laneX(fig, meta.first + i), up(profile[i]));
  ctx.stroke();
  laneAxis(ctx, fig, floor);
  fig.at.forEach((lag, band) => laneHandle(ctx, fig, lag, band, floor));
  laneRead(fig);
}

function laneAxis(ctx, fig, floor) {
  const { meta } = fig.data;
  const last = meta.first + laneCount(fig) - 1;
  ctx.strokeStyle = fig.theme.border;
  ctx.lineWidth = 1;
  ctx.strokeRect(LANE.left - 0.5, floor - 0.5, fig.width - LANE.left - LANE.right + 1, 1);
  ctx.strokeStyle = "#D98E04";
  ctx.setLineDash([3, 3]);
  for (const [at] of meta.rules) { ctx.beginPath(); ctx.moveTo(laneX(fig, at), LANE.handles); ctx.lineTo(laneX(fig, at), floor); ctx.stroke(); }
  ctx.setLineDash([]);
  ctx.fillStyle = fig.theme.muted;
  ctx.font = `11px ${fig.theme.font}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  const step = [1, 2, 5, 10, 20, 50, 100, 200].find((s) => s * laneStep(fig) > 34) || 500;
  for (let lag = Math.ceil(meta.first / step) * step; lag <= last; lag += step) {
    ctx.fillText(String(lag).replace("-", "−"), Math.min(Math.max(laneX(fig, lag), 10), fig.width - 12), floor + 5);
  }
}

function laneHandle(ctx, fig, lag, band, floor) {
  const on = band === fig.chosen;
  const x = laneX(fig, lag);
  ctx.strokeStyle = ctx.fillStyle = on ? "#D98E04" : fig.theme.muted;
  ctx.lineWidth = on ? 2 : 1;
  ctx.beginPath();
  ctx.moveTo(x, LANE.handles - 4);
  ctx.lineTo(x, floor);
  ctx.stroke();
  ctx.beginPath();
  ctx.arc(x, LANE.handles - 10, on ? 7 : 5.5, 0, 2 * Math.PI);
  ctx.fill();
  if (on) { ctx.strokeStyle = fig.theme.background; ctx.lineWidth = 1.5; ctx.stroke(); }
}

function laneRead(fig) {
  fig.read.replaceChildren();
  element("b", "", fig.read, `Band ${fig.chosen + 1} about lag ${String(Math.round(fig.at[fig.chosen])).replace("-", "−")}`);
  element("span", "hl-quiet", fig.read, " · drag a handle, or use the arrow keys");
}

function draw(component) {
  const fig = mount(component, laneBuild);
  if (fig.held !== undefined) return fig.close; // a drag goes on over what the page sends
  fig.data = unpack(component.data);
  const { meta } = fig.data;
  fig.at = [...meta.centres];
  fig.chosen = meta.chosen;
  interactive(fig.canvas, meta.label);
  fig.bar.replaceChildren();
  element("span", "hl-title", fig.bar, meta.title);
  for (const [, name] of meta.rules.slice(0, 1)) element("span", "hl-quiet", fig.bar, `dashed: ${name}`);
  fig.note.textContent = meta.note;
  laneDraw(fig);
  return fig.close;
}
