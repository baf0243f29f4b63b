import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { renderConflicts } from '../src/markers.ts';
import { type FileMerge, mergeFiles } from '../src/merge-files.ts';
import { languageOf } from '../src/syntax/language.ts';
import type { TreeFile } from '../src/versions.ts';

const FOLDER = join(import.meta.dirname, '../golden');
const SIGNS = { '␍': '\r', '␂': '\uFEFF', '␀': '\0' } as const;
const OURS_FIRST = 'ours first';
const LABELS = { base: 'base', ours: 'ours', theirs: 'theirs' };

type Section = { readonly note: string | null; readonly text: string };

const names = readdirSync(FOLDER).filter((name) => name.endsWith('.golden.txt'));

test('there are at least forty golden merges by lines, and as many by syntax', () => {
  const bySyntax = names.filter((name) => languageOf(pathOf(name)) !== null);
  expect(bySyntax.length).toBeGreaterThanOrEqual(40);
  expect(names.length - bySyntax.length).toBeGreaterThanOrEqual(40);
});

describe('golden merges', () => {
  test.each(names)('%s', (name) => {
    const sections = readGolden(readFileSync(join(FOLDER, name), 'utf8'));
    const versions = {
      base: fileOf(sections.get('base')),
      ours: fileOf(sections.get('ours')),
      theirs: fileOf(sections.get('theirs')),
    };
    const path = pathOf(name);
    const merge = mergeFiles(versions, { path });
    const swapped = mergeFiles(
      { ...versions, ours: versions.theirs, theirs: versions.ours },
      { path },
    );
    const expected = sections.get('expected');
    if (expected?.note === OURS_FIRST) {
      expect(outcomeOf(merge)).toEqual({ note: null, text: expected.text });
      expect(swapped).not.toEqual(merge);
      expect(lettersOf(swapped)).toEqual(lettersOf(merge));
    } else {
      expect(outcomeOf(merge)).toEqual(expected);
      expect(swapSides(swapped)).toEqual(merge);
    }
  });
});

function pathOf(name: string): string {
  return name.slice(0, -'.golden.txt'.length);
}

/** Returns the characters of a clean merge, whatever its order and layout. */
function lettersOf(merge: FileMerge): readonly string[] {
  const { note, text } = outcomeOf(merge);
  expect(note).toBe(null);
  return text
    .replaceAll(/[\s,;'"]/g, '')
    .split('')
    .toSorted();
}

/** Reads the sections by heading, with signs replaced by the characters that they represent. */
function readGolden(golden: string): ReadonlyMap<string, Section> {
  const [, ...parts] = golden.split(/^--- (?=(?:base|ours|theirs|expected)\b)/m);
  return new Map(
    parts.map((part) => {
      const [heading = '', ...lines] = part.split('\n');
      const [, name = '', note = null] = /^(\w+)(?: \((.+)\))?$/.exec(heading) ?? [];
      return [name, { note, text: fromSigns(lines.join('\n')) }];
    }),
  );
}

function fromSigns(text: string): string {
  return text.replace(/␄\n$/, '').replaceAll(/[␍␂␀]/g, (sign) => SIGNS[sign as keyof typeof SIGNS]);
}

function fileOf(section: Section | undefined): TreeFile | null {
  if (section === undefined) throw new Error('a golden merge lacks one of its four sections');
  if (section.note === 'absent') return null;
  return { bytes: Buffer.from(section.text), isExecutable: false };
}

function outcomeOf(merge: FileMerge): Section {
  if (merge.kind === 'clean') {
    if (merge.file === null) return { note: 'absent', text: '' };
    return { note: null, text: merge.file.bytes.toString() };
  }
  const { text } = renderConflicts(merge.hunks, LABELS);
  return { note: merge.conflict, text: Buffer.from(text, 'latin1').toString() };
}

function swapSides(merge: FileMerge): FileMerge {
  if (merge.kind === 'clean') return merge;
  const hunks = merge.hunks.map((hunk) =>
    hunk.kind === 'resolved' ? hunk : { ...hunk, ours: hunk.theirs, theirs: hunk.ours },
  );
  return { ...merge, hunks };
}
