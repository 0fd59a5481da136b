// A large picture and what is chosen in it may come as two mounts, so that a choice resends only itself.
// They find each other by the name in `meta.pair`, whichever is drawn first.
const pairs = new Map();
const pairOf = (name) => pairs.get(name) || pairs.set(name, {}).get(name);

function joinPair(fig, meta, words) {
  fig.pair = meta.pair ? pairOf(meta.pair) : null;
  fig.words = words;
  if (fig.pair) fig.pair.fig = fig;
  fig.chosen = (fig.pair ? fig.pair.chosen : meta.chosen) || null;
  tellPair(fig);
}

function tellPair(fig) {
  if (fig.pair) fig.pair.chosen = fig.chosen;
  const line = fig.pair ? fig.pair.line : fig.read;
  if (line) say(line, fig.chosen ? fig.words(fig.chosen) : "Choose a head.");
}

// A live region is read aloud whenever it is written to, so the same words are not written twice.
function say(line, text) {
  if (line.textContent !== text) line.textContent = text;
}

function drawCursor(component, { meta }) {
  const cursor = mount(component, (made) => {
    made.line = element("div", "hl-unseen", made.box); // the outline says it to the eye
    made.line.setAttribute("role", "status");
  });
  const pair = pairOf(meta.pair);
  pair.line = cursor.line;
  pair.chosen = meta.chosen;
  if (pair.fig && pair.fig.box.isConnected) {
    pair.fig.chosen = meta.chosen;
    tellPair(pair.fig);
    pair.fig.redraw();
  }
  return cursor.close;
}
