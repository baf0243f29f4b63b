/**
 * Tells whether a text holds a forgotten conflict: an opening marker line, a divider and a closing one, in
 * this order. A divider alone is a Markdown heading, an opening alone is prose. Binary files hold none.
 */
export function hasConflictMarkers(bytes: Buffer): boolean {
  if (!bytes.includes('<<<<<<<') || bytes.includes(0)) return false;
  let next = 0;
  for (const line of bytes.toString('latin1').split('\n')) {
    const marker = MARKERS[next];
    if (marker?.test(line) !== true) continue;
    next += 1;
    if (next === MARKERS.length) return true;
  }
  return false;
}

const MARKERS = [/^<{7}( .*)?\r?$/, /^={7}\r?$/, /^>{7}( .*)?\r?$/];
