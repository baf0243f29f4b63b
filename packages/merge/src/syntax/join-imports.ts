/** An import of names on one line. */
const IMPORT = /^import (type )?\{ ([^{}]+) \} from (['"].*['"];?)$/;
/** Words of an import apart from its names. */
const FRAME = ['import', '{', '}', 'from', 'module'].length;
/** A longer line would be laid out otherwise. */
const MAX_LENGTH = 100;

/**
 * Joins imports that ours and theirs put in of the same module, so that the module is named once. Only what is a
 * line of its own in the text, and once, is joined.
 *
 * @returns the text, and how many words fewer it has
 */
export function joinImports(
  text: string,
  ours: readonly string[],
  theirs: readonly string[],
): { readonly text: string; readonly saved: number } {
  const lines = text.split('\n');
  let saved = 0;
  for (const own of ours) {
    const [, type = '', names = '', module] = IMPORT.exec(own) ?? [];
    const fresh = theirs.flatMap((line) => {
      const [, otherType = '', otherNames = '', other] = IMPORT.exec(line) ?? [];
      const isSame = module !== undefined && other === module && otherType === type;
      return isSame ? [{ line, names: otherNames }] : [];
    });
    const [other] = fresh;
    if (other === undefined || fresh.length > 1) continue;
    const joined = `import ${type}{ ${names}, ${other.names} } from ${module}`;
    const isOnce = [own, other.line].every(
      (line) => lines.filter((one) => one === line).length === 1,
    );
    if (!isOnce || joined.length > MAX_LENGTH) continue;
    lines[lines.indexOf(own)] = joined;
    lines.splice(lines.indexOf(other.line), 1);
    saved += FRAME + (type === '' ? 0 : 1);
  }
  return { text: lines.join('\n'), saved };
}
