const MAX_LENGTH = 240;

/**
 * Returns the line of a layer's intent notes that says what to keep, else their first; null without notes.
 *
 * @param notes of all sides, each below a heading with its layer and version
 */
export function layerNote(notes: string | null, layer: string): string | null {
  const [, section = ''] = (notes ?? '').split(new RegExp(`^# ${escaped(layer)} \\S+$`, 'm'));
  const own = section.split(/^# \S+ \d+\.\d+\.\d+\S*$/m)[0] ?? '';
  const lines = own.split('\n').filter((line) => /\w/.test(line) && !line.startsWith('#'));
  const note = lines.find((line) => /must keep/i.test(line)) ?? lines[0];
  if (note === undefined) return null;
  const plain = note.replaceAll('**', '').replace(/\s+/g, ' ').trim();
  return plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH - 1)}…` : plain;
}

function escaped(text: string): string {
  return text.replace(/[^\w]/g, '\\$&');
}
