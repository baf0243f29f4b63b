import { mapVersions, mergeTexts, type Versions } from '@patchclaw/merge';

const MAX_LENGTH = 4000;

/** Merges lines word by word; null where words are in conflict too, or the lines are many. */
export function mergeWords(sides: Versions<readonly string[]>): string | null {
  const texts = mapVersions(sides, (lines) => lines.join(''));
  if (Object.values(texts).some((text) => text.length === 0 || text.length > MAX_LENGTH)) {
    return null;
  }
  // A word as a line: whatever it holds is written so that no line ends within it.
  const asLines = mapVersions(texts, (text) =>
    (text.match(/\w+|\s+|[^\w\s]/g) ?? []).map((word) => `${JSON.stringify(word)}\n`).join(''),
  );
  const merged = mergeTexts(asLines);
  if (merged.kind === 'conflict') return null;
  const words = merged.text.split('\n').filter((line) => line !== '');
  return words.map((word) => String(JSON.parse(word))).join('');
}
