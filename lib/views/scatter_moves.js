// How a scatter is moved: zoom, pan, selection, and which point is under the pointer.

function scatterHome(pane) { Object.assign(pane.view, { k: 1, x: 0, y: 0 }); pane.redraw(); }

function scatterZoom(fig, pane, factor, at) {
  const v = pane.view;
  const k = Math.max(0.8, Math.min(200, v.k * factor));
  const [cx, cy] = at ? [at.x - pane.grid.w / 2, at.y - pane.grid.h / 2] : [0, 0];
  v.x = cx - ((cx - v.x) * k) / v.k;
  v.y = cy - ((cy - v.y) * k) / v.k;
  v.k = k;
  pane.redraw();
}

function scatterSelect(pane, points) {
  pane.view.selected = new Set(points);
  pane.onSelect(points);
  pane.redraw();
}

function scatterNearest(pane, p) {
  const g = pane.grid;
  pane.index = pane.index || scatterIndex(pane.data.xy);
  const unplace = (value, middle, shift, start) => (((value - middle - shift) / pane.view.k + middle - start) / g.side) * 64;
  const bx = Math.floor(unplace(p.x, g.w / 2, pane.view.x, g.left));
  const by = 63 - Math.floor(unplace(p.y, g.h / 2, pane.view.y, g.top));
  const reach = Math.max(1, Math.ceil((12 * 64) / (g.side * pane.view.k)));
  let [best, least] = [null, 144];
  for (let x = bx - reach; x <= bx + reach; x++) {
    for (let y = by - reach; y <= by + reach; y++) {
      for (const i of (x >= 0 && y >= 0 && x < 64 && y < 64 && pane.index.get(x * 64 + y)) || []) {
        const [u, v] = scatterPlace(pane, i);
        const d = (u - p.x) ** 2 + (v - p.y) ** 2;
        if (d < least) { best = i; least = d; }
      }
    }
  }
  return best;
}

// The nearest visible point in a direction, for choosing without a mouse.
function scatterStep(pane, [dx, dy]) {
  const from = pane.hover !== null ? pane.hover : pane.chosen;
  const start = from === null || from === undefined ? [pane.grid.w / 2, pane.grid.h / 2] : scatterPlace(pane, from);
  let [best, least] = [from, Infinity];
  for (const i of pane.visible) {
    const [x, y] = scatterPlace(pane, i);
    const ahead = (x - start[0]) * dx + (y - start[1]) * dy;
    const aside = Math.abs((x - start[0]) * dy) + Math.abs((y - start[1]) * dx);
    if (i === from || ahead <= 0 || aside > ahead) continue;
    if (ahead + aside < least) { best = i; least = ahead + aside; }
  }
  if (best === null || best === undefined) return;
  pane.hover = best;
  pane.onHover(best);
  pane.redraw();
}

function scatterHandlers(fig, pane) {
  const cv = pane.canvas;
  let start = null;
  let queued = false;
  const soon = () => {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => { queued = false; pane.redraw(); });
  };
  cv.onpointerdown = (event) => {
    start = { ...place(fig, cv, event), shift: event.shiftKey, x0: pane.view.x, y0: pane.view.y, moved: false };
    cv.setPointerCapture(event.pointerId);
  };
  cv.onpointermove = (event) => {
    const p = place(fig, cv, event);
    if (!start) {
      const at = scatterNearest(pane, p);
      cv.style.cursor = at === null ? "grab" : "pointer";
      tooltip(fig, p.bx, p.by, at === null ? "" : scatterFacts(pane, at).join("\n"));
      if (at !== pane.hover) { pane.hover = at; pane.onHover(at); soon(); }
      return;
    }
    if (Math.hypot(p.x - start.x, p.y - start.y) > 3) start.moved = true;
    if (!start.moved) return;
    tooltip(fig);
    if (start.shift) pane.brush = [Math.min(start.x, p.x), Math.min(start.y, p.y), Math.abs(p.x - start.x), Math.abs(p.y - start.y)];
    else Object.assign(pane.view, { x: start.x0 + p.x - start.x, y: start.y0 + p.y - start.y });
    soon();
  };
  cv.onpointerup = (event) => {
    const was = start;
    start = null;
    if (!was) return;
    if (pane.brush) {
      const [x, y, w, h] = pane.brush;
      pane.brush = null;
      const inside = [];
      for (let i = 0; i < pane.data.xy.length / 2; i++) {
        const [u, v] = scatterPlace(pane, i);
        if (u >= x && v >= y && u <= x + w && v <= y + h) inside.push(i);
      }
      scatterSelect(pane, inside);
    } else if (!was.moved) {
      const at = scatterNearest(pane, place(fig, cv, event));
      if (at !== null) { pane.chosen = at; pane.onChoose(at); pane.redraw(); }
    }
  };
  cv.onpointerleave = () => { pane.hover = null; pane.onHover(null); tooltip(fig); soon(); };
  cv.onwheel = (event) => {
    const focused = cv.getRootNode().activeElement === cv;
    if (!focused && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    scatterZoom(fig, pane, Math.exp(-event.deltaY * 0.0018), place(fig, cv, event));
  };
  cv.onkeydown = (event) => {
    const { steps } = pane.data.meta;
    const moves = { a: [60, 0], d: [-60, 0], w: [0, 60], s: [0, -60] }[event.key];
    const pan = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (pan && event.shiftKey) scatterStep(pane, pan.map((v) => -Math.sign(v)));
    else if (event.key === "Enter" && pane.hover !== null) { pane.chosen = pane.hover; pane.onChoose(pane.hover); pane.redraw(); }
    else if (pan && steps) pane.onStep([-Math.sign(pan[1]), -Math.sign(pan[0])]);
    else if (pan || (moves && !event.ctrlKey && !event.metaKey)) { const [x, y] = pan || moves; pane.view.x += x; pane.view.y += y; pane.redraw(); }
    else if (event.key === "+" || event.key === "=") scatterZoom(fig, pane, 1.3);
    else if (event.key === "-") scatterZoom(fig, pane, 1 / 1.3);
    else if (event.key === "0") scatterHome(pane);
    else if (event.key === "Escape") scatterSelect(pane, []);
    else return;
    event.preventDefault();
  };
}
