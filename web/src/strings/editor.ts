/** Words of the editor: palette, outline, properties, tools, files. */
export const editor = {
  paletteAndOutline: 'Palette and outline',
  properties: 'Properties',
};
