/**
 * Tells whether a path matches a glob of `**` (any folders), `*` and `?` (within one part).
 *
 * Names that begin with a dot match like any other, and `folder/**` matches the folder's own name too. So
 * neither `folder/.hidden` nor a file named like the folder evades a rule that protects it.
 */
export function matchesGlob(path: string, glob: string): boolean {
  return matchesParts({ path: path.split('/'), glob: glob.split('/') }, 0, 0);
}

type Parts = { readonly path: readonly string[]; readonly glob: readonly string[] };

/** Compares the parts of a path from one on with those of a glob from one on. */
function matchesParts(parts: Parts, at: number, of: number): boolean {
  const { path, glob } = parts;
  const pattern = glob[of];
  if (pattern === undefined) return at === path.length;
  if (pattern === '**') {
    if (of === glob.length - 1) return true;
    for (let from = at; from < path.length; from += 1) {
      if (matchesParts(parts, from, of + 1)) return true;
    }
    return false;
  }
  const part = path[at];
  return part !== undefined && matchesPart(part, pattern) && matchesParts(parts, at + 1, of + 1);
}

function matchesPart(part: string, pattern: string): boolean {
  if (!/[*?]/.test(pattern)) return part === pattern;
  const literal = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal.replace(/\*+/g, '.*').replace(/\?/g, '.')}$`, 'su').test(part);
}
