// A scatter beside the document or image of its points; what is lit in one is lit in the other.

function linkedPart(fig) {
  const part = { box: element("div", "hl-part", fig.grid), send() {}, redraw() {} };
  part.tip = element("div", "hl-tip", part.box);
  return part;
}

function linkedBuild(fig) {
  fig.grid = element("div", "hl-linked", fig.box);
  fig.left = linkedPart(fig);
  fig.right = linkedPart(fig);
  fig.pane = scatterPane(fig.left, fig.left.box);
  fig.redraw = () => {
    for (const part of [fig.left, fig.right]) { part.width = part.box.clientWidth; part.theme = fig.theme; }
    fig.pane.redraw();
    fig.right.redraw();
  };
}

// Which token of the document a point is: { side, index }, or null for points of other documents.
function linkedToken(fig, point) {
  const { query_points: queries, key_points: keys } = fig.data;
  if (point === null) return null;
  const query = queries.indexOf(point);
  if (query >= 0) return { side: "query", index: query };
  const key = keys.indexOf(point);
  return key >= 0 ? { side: "key", index: key } : null;
}

const linkedPoint = (fig, { side, index }) => fig.data[`${side}_points`][index];

// Links from the point of a token to those of its strongest partners.
function linkedLight(fig, at, weight) {
  const from = at ? linkedPoint(fig, at) : -1;
  fig.pane.links = null;
  fig.pane.hover = from >= 0 ? from : null;
  if (from >= 0) {
    const other = at.side === "query" ? "key" : "query";
    const places = fig.data[`${other}_points`];
    const partners = Array.from(places.keys()).filter((i) => places[i] >= 0 && weight(at, i) > 0);
    partners.sort((a, b) => weight(at, b) - weight(at, a));
    const best = partners.slice(0, 12);
    const most = best.length ? weight(at, best[0]) : 1;
    fig.pane.links = {
      links: Int32Array.from(best.flatMap((i) => [from, places[i]])),
      link_weights: Uint8Array.from(best, (i) => Math.round((255 * weight(at, i)) / most)),
    };
  }
  fig.pane.redraw();
}

function linkedText(fig) {
  const part = fig.right;
  if (!part.shared) {
    viewBuild(part);
    part.shared.onFocus = (focus) => {
      const at = focus[focus.length - 1];
      linkedLight(fig, at, ({ side, index }, i) => (side === "query" ? part.shared.weight(index, i) : part.shared.weight(i, index)));
    };
  }
  const shared = part.shared;
  part.send = () => {
    const point = shared.held.length ? linkedPoint(fig, shared.held[shared.held.length - 1]) : -1;
    if (point >= 0) fig.send("choose", [point]);
  };
  viewUpdate(part, unpack(fig.data.source));
  fig.pane.onHover = (point) => { shared.hover(linkedToken(fig, point)); };
  fig.pane.onChoose = (point) => {
    const at = linkedToken(fig, point);
    if (at && !shared.held.some((other) => other.side === at.side && other.index === at.index)) { shared.held = []; shared.hold(at); } else fig.send("choose", [point]);
  };
}

function linkedImage(fig) {
  const part = fig.right;
  if (!part.state) patchBuild(part);
  const light = (index) => linkedLight(fig, { side: part.state.direction, index }, (at, i) => part.weight(at.index, i));
  part.onHover = (index) => light(index === null ? part.state.chosen : index);
  part.send = (event, [index]) => {
    const point = linkedPoint(fig, { side: part.state.direction, index });
    light(index);
    if (point >= 0) fig.send("choose", [point]);
  };
  patchUpdate(part, unpack(fig.data.source));
  fig.pane.onHover = (point) => {
    const at = linkedToken(fig, point);
    part.state.hover = at ? at.index : null;
    patchDraw(part);
    if (at) light(at.index);
  };
  fig.pane.onChoose = (point) => {
    const at = linkedToken(fig, point);
    if (!at) { fig.send("choose", [point]); return; }
    part.state.direction = at.side;
    patchBar(part);
    patchChoose(part, at.index);
  };
}

function draw(component) {
  const fig = mount(component, linkedBuild);
  fig.data = unpack(component.data);
  if (fig.source !== fig.data.meta.source) {
    fig.source = fig.data.meta.source;
    fig.right.box.remove();
    fig.right = linkedPart(fig);
  }
  for (const part of [fig.left, fig.right]) { part.width = part.box.clientWidth; part.theme = fig.theme; }
  fig.pane.onSelect = (points) => fig.send("select", points);
  fig.pane.onStep = (step) => fig.send("step", step);
  fig.pane.resting = true; // both sides ask for the points: they are drawn once, at the end
  fig.pane.update(unpack(fig.data.points));
  if (fig.source === "head_view") linkedText(fig);
  else linkedImage(fig);
  fig.pane.resting = false;
  fig.pane.redraw();
  return fig.close;
}
