import type { Entry } from './entry.ts';

const INSTALL = /\b(?:install|add)\b/;
const PACKAGE = /^\s+([A-Za-z0-9][\w.+-]*)(?:[:=@~<>][^\s;&|]*)?\s+\\$/;

/** Reads the packages, one a line, that a Dockerfile installs. */
export function readDockerfile(lines: readonly string[]): readonly Entry[] {
  const counts = new Map<string, number>();
  let list: string | null = null;
  return lines.map((line, start): Entry => {
    const end = start + 1;
    const [, key] = PACKAGE.exec(line) ?? [];
    if (list !== null && key !== undefined) return { start, end, list, key };
    const isHead = line.endsWith('\\') && INSTALL.test(lastCommand(line));
    const count = (counts.get(line) ?? 0) + 1;
    counts.set(line, count);
    list = isHead ? `${line} ${count}` : null;
    return { start, end, list: '', key: null };
  });
}

function lastCommand(line: string): string {
  return line.slice(Math.max(...['&', '|', ';'].map((sign) => line.lastIndexOf(sign))) + 1);
}
