// One head on one text, on its own.

function draw(component) {
  const fig = mount(component, viewBuild);
  viewUpdate(fig, unpack(component.data));
  return fig.close;
}
