// One image and the attention between its patches, on its own.

function draw(component) {
  const fig = mount(component, patchBuild);
  patchUpdate(fig, unpack(component.data));
  return fig.close;
}
