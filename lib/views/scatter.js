// One scatter on its own.

function draw(component) {
  const fig = mount(component, (made) => {
    made.pane = scatterPane(made, made.box);
    made.redraw = () => made.pane.redraw();
  });
  fig.pane.onChoose = (point) => fig.send("choose", [point]);
  fig.pane.onSelect = (points) => fig.send("select", points);
  fig.pane.onStep = (step) => fig.send("step", step);
  fig.pane.update(unpack(component.data));
  return fig.close;
}
