/**
 * Tells whether a path matches a glob of `**` (any folders), `*` and `?` (within one part).
 *
 * Names that begin with a dot match like any other, and `folder/**` matches the folder's own name too. So
 * neither `folder/.hidden` nor a file named like the folder evades a rule that protects it.
 */
export function matchesGlob(path: string, glob: string): boolean {
  return matchesParts(path.split('/'), glob.split('/'));
}

function matchesParts(path: readonly string[], glob: readonly string[]): boolean {
  const [pattern, ...rest] = glob;
  if (pattern === undefined) return path.length === 0;
  if (pattern === '**') {
    if (rest.length === 0) return true;
    return path.some((_, at) => matchesParts(path.slice(at), rest));
  }
  const [part, ...inner] = path;
  return part !== undefined && matchesPart(part, pattern) && matchesParts(inner, rest);
}

function matchesPart(part: string, pattern: string): boolean {
  const literal = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal.replace(/\*+/g, '.*').replace(/\?/g, '.')}$`, 'su').test(part);
}
