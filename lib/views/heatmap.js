// One matrix on its own.

function draw(component) {
  const fig = mount(component, (made) => {
    made.pane = heatmapPane(made, made.box);
    made.redraw = () => made.pane.redraw();
  });
  fig.data = unpack(component.data);
  fig.pane.onChoose = (cell) => fig.send("choose", cell);
  fig.pane.update(fig.data);
  return fig.close;
}
