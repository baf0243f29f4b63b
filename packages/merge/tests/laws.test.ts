import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  anyBytes,
  blockVersions,
  mostlyUniqueVersions,
  repetitiveVersions,
  sharedBlockVersions,
  wildText,
  wildVersions,
} from '../../../src/testing/texts.ts';
import type { Hunk } from '../src/lines/lines.ts';
import { contentOf, mapVersions, splitLines } from '../src/lines/lines.ts';
import { mergeLines } from '../src/merge-lines.ts';
import { mergeTexts } from '../src/merge-text.ts';
import { formatOf } from '../src/syntax/language.ts';
import type { Versions } from '../src/versions.ts';

const RUNS = { numRuns: 1000 };
const lfVersions = fc.oneof(mostlyUniqueVersions, repetitiveVersions, blockVersions);
const anyVersions = fc.oneof(
  wildVersions,
  lfVersions,
  fc.record({ base: anyBytes, ours: anyBytes, theirs: anyBytes }),
);

// mergeLines itself, without the shortcuts that mergeTexts takes for equal texts.
function mergeFully(versions: Versions<string>): readonly Hunk[] {
  return mergeLines(mapVersions(versions, splitLines));
}

function joined(hunks: readonly Hunk[]): string | null {
  if (hunks.some(({ kind }) => kind === 'conflict')) return null;
  return hunks.flatMap((hunk) => (hunk.kind === 'resolved' ? hunk.lines : [])).join('');
}

describe('a side that changed nothing yields the other, to the byte', () => {
  const texts = fc.oneof(wildText, anyBytes);

  test('ours', () => {
    const law = (base: string, theirs: string) => {
      expect(joined(mergeFully({ base, ours: base, theirs }))).toBe(theirs);
    };
    fc.assert(fc.property(texts, texts, law), RUNS);
  });

  test('theirs', () => {
    const law = (base: string, ours: string) => {
      expect(joined(mergeFully({ base, ours, theirs: base }))).toBe(ours);
    };
    fc.assert(fc.property(texts, texts, law), RUNS);
  });

  test('both sides equal', () => {
    const law = (base: string, side: string) => {
      expect(joined(mergeFully({ base, ours: side, theirs: side }))).toBe(side);
    };
    fc.assert(fc.property(texts, texts, law), RUNS);
  });
});

test('swapping the sides exchanges them in conflicts and changes nothing else', () => {
  const law = (versions: Versions<string>) => {
    const swapped = mergeFully({ ...versions, ours: versions.theirs, theirs: versions.ours });
    const back = swapped.map((hunk) =>
      hunk.kind === 'resolved' ? hunk : { ...hunk, ours: hunk.theirs, theirs: hunk.ours },
    );
    expect(back).toEqual(mergeFully(versions));
  };
  fc.assert(fc.property(lfVersions, law), RUNS);
});

test('no line is invented, and none is glued to another', () => {
  const law = (versions: Versions<string>) => {
    const bare = (text: string) => text.replace(/^\xEF\xBB\xBF/, '');
    const contents = (text: string) => splitLines(bare(text)).map(contentOf);
    // The empty one: a text may be its byte-order mark and nothing else.
    const known = new Set(['', ...Object.values(versions).flatMap(contents)]);
    for (const hunk of mergeFully(versions)) {
      if (hunk.kind !== 'resolved') continue;
      for (const line of hunk.lines) {
        expect(known.has(contentOf(line)) || known.has(contentOf(bare(line)))).toBe(true);
      }
      // Joining and splitting again leaves whole lines unchanged.
      expect(splitLines(hunk.lines.join(''))).toEqual(hunk.lines);
    }
  };
  fc.assert(fc.property(fc.oneof(wildVersions, lfVersions), law), RUNS);
});

test('resolved and conflict hunks take turns, and no hunk is empty', () => {
  const law = (versions: Versions<string>) => {
    let previous: Hunk['kind'] | null = null;
    for (const hunk of mergeFully(versions)) {
      if (hunk.kind === 'resolved') {
        expect(previous).not.toBe('resolved');
        expect(hunk.lines.length).toBeGreaterThan(0);
      } else {
        expect(hunk.ours).not.toEqual(hunk.theirs);
      }
      previous = hunk.kind;
    }
  };
  fc.assert(fc.property(anyVersions, law), RUNS);
});

test('a text merge takes no shortcut that the line merge would not agree with', () => {
  const law = (versions: Versions<string>) => {
    const hunks = mergeFully(versions);
    const text = joined(hunks);
    expect(mergeTexts(versions)).toEqual(
      text === null ? { kind: 'conflict', hunks } : { kind: 'clean', text },
    );
  };
  fc.assert(fc.property(anyVersions, law), RUNS);
});

test('a line that stands once in every version is in the result or in a conflict', () => {
  const law = (versions: Versions<string>) => {
    const lines = mapVersions(versions, splitLines);
    const isEverywhere = (line: string) =>
      Object.values(lines).every((side) => side.filter((other) => other === line).length === 1);
    const present = mergeFully(versions).flatMap((hunk) =>
      hunk.kind === 'resolved' ? hunk.lines : [...hunk.ours, ...hunk.theirs],
    );
    for (const line of lines.base.filter(isEverywhere)) expect(present).toContain(line);
  };
  fc.assert(fc.property(mostlyUniqueVersions, law), RUNS);
});

describe('a block that both sides brought in is once in a clean result', () => {
  test.each([
    ['packages', sharedBlockVersions, 100],
    ['blocks of few lines', blockVersions, 100],
    ['lines that recur', repetitiveVersions, 25],
    ['unrelated texts', wildVersions, 0],
  ] as const)('%s', (_, drawn, atLeast) => {
    let seen = 0;
    const law = (versions: Versions<string>) => {
      const merged = mergeTexts(versions);
      const blocks = blocksBroughtIn(versions);
      if (merged.kind !== 'clean' || blocks.length === 0) return;
      seen++;
      const text = fenced(contentsIn(merged.text));
      for (const block of blocks) {
        if (isApart(block, text) && !block.includes('name added')) continue;
        expect(countOf(block.split('\n'), text), block).toBe(1);
      }
    };
    fc.assert(fc.property(drawn, law), { ...RUNS, seed: 1 });
    // Else there was nothing to see.
    expect(seen).toBeGreaterThanOrEqual(atLeast);
  });

  test('golden merges', () => {
    const folder = join(import.meta.dirname, '../golden');
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.golden.txt'))) {
      const golden = readFileSync(join(folder, name), 'utf8');
      const [, base = '', ours = '', theirs = ''] = golden.split(/^--- \w+.*\n/m);
      const merged = mergeTexts(
        { base, ours, theirs },
        formatOf(name.slice(0, -'.golden.txt'.length)),
      );
      if (merged.kind !== 'clean') continue;
      for (const block of blocksBroughtIn({ base, ours, theirs })) {
        const text = fenced(contentsIn(merged.text));
        if (isApart(block, text)) continue;
        expect(countOf(block.split('\n'), text), `${name}: ${block}`).toBe(1);
      }
    }
  });
});

/**
 * Returns all runs of lines, three or more with a letter or digit, that each side has once and the base not.
 */
function blocksBroughtIn(versions: Versions<string>): readonly string[] {
  const { base, ours, theirs } = mapVersions(versions, contentsIn);
  const [within, other] = [fenced(ours), fenced(theirs)];
  const blocks: string[] = [];
  for (let start = 0; start < ours.length; start++) {
    for (let end = start + 3; end <= ours.length; end++) {
      const block = ours.slice(start, end);
      if (countOf(block, other) === 0) break;
      const words = block.filter((line) => /[\p{L}\p{N}]/u.test(line));
      const isNew = words.length >= 3 && countOf(block, fenced(base)) === 0;
      if (isNew && countOf(block, within) === 1 && countOf(block, other) === 1) {
        blocks.push(block.join('\n'));
      }
    }
  }
  return blocks;
}

/** Tells whether a block is twice, more than ten lines apart: two pieces of code may have a part in common. */
function isApart(block: string, text: string): boolean {
  const parts = text.split(`\n${block}\n`);
  return parts.length > 2 && parts.slice(1, -1).every((part) => part.split('\n').length > 10);
}

function countOf(block: readonly string[], text: string): number {
  const wanted = fenced(block);
  let count = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) count++;
  return count;
}

function fenced(lines: readonly string[]): string {
  return `\n${lines.join('\n')}\n`;
}

function contentsIn(text: string): readonly string[] {
  return splitLines(text.replace(/^\xEF\xBB\xBF/, '')).map(contentOf);
}
