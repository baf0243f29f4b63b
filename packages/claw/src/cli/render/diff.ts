import { type Colour, painted, type Screen, shown } from '../screen.ts';

/** Patches of some files. */
type Patches = { readonly files: readonly { readonly patch: string }[] };

/** Returns the patches, to the byte where they are piped on. */
export function diffLines({ files }: Patches, screen: Screen): readonly string[] {
  const text = files.map(({ patch }) => patch).join('');
  if (text === '') return [];
  const lines = text.replace(/\n$/, '').split('\n');
  if (screen.columns === null) return lines;
  let isHead = true;
  return lines.map((line) => {
    if (line.startsWith('diff --git ')) isHead = true;
    if (line.startsWith('@@ ')) isHead = false;
    return paintedLine(shown(line.replace(/\r$/, ''), screen), isHead, screen);
  });
}

function paintedLine(line: string, isHead: boolean, screen: Screen): string {
  const colour = isHead ? 'dim' : COLOURS[line[0] ?? ''];
  return colour === undefined ? line : painted(line, colour, screen);
}

const COLOURS: Readonly<Record<string, Colour>> = { '+': 'green', '-': 'red', '@': 'cyan' };
