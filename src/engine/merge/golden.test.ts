import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TreeFile, Versions } from '../tree.ts';
import { mergeFiles } from './file.ts';
import { renderConflicts } from './markers.ts';

const FOLDER = join(import.meta.dirname, 'golden');
const SIGNS = { '␍': '\r', '␂': '\uFEFF', '␀': '\0' } as const;
const LABELS = { base: 'base', ours: 'ours', theirs: 'theirs' };

type Section = { readonly note: string | null; readonly text: string };

const names = readdirSync(FOLDER).filter((name) => name.endsWith('.golden.txt'));

test('there are at least forty golden merges', () => {
  expect(names.length).toBeGreaterThanOrEqual(40);
});

describe('golden merges', () => {
  test.each(names)('%s', (name) => {
    const sections = readGolden(readFileSync(join(FOLDER, name), 'utf8'));
    const versions = {
      base: fileOf(sections.get('base')),
      ours: fileOf(sections.get('ours')),
      theirs: fileOf(sections.get('theirs')),
    };
    expect(outcomeOf(versions)).toEqual(sections.get('expected'));
    const swapped = outcomeOf({ ...versions, ours: versions.theirs, theirs: versions.ours });
    expect(swapped.note).toBe(sections.get('expected')?.note);
  });
});

/** Sections by heading, with signs replaced by what they stand for. */
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
  return text
    .replace(/␄\n$/, '')
    .replaceAll(/[␍␂␀]/g, (sign) => SIGNS[sign as keyof typeof SIGNS]);
}

function fileOf(section: Section | undefined): TreeFile | null {
  if (section === undefined) throw new Error('a golden merge lacks one of its four sections');
  if (section.note === 'absent') return null;
  return { bytes: Buffer.from(section.text), isExecutable: false };
}

function outcomeOf(versions: Versions<TreeFile | null>): Section {
  const merge = mergeFiles(versions);
  if (merge.kind === 'clean') {
    if (merge.file === null) return { note: 'absent', text: '' };
    return { note: null, text: merge.file.bytes.toString() };
  }
  const { text } = renderConflicts(merge.hunks, LABELS);
  return { note: merge.conflict, text: Buffer.from(text, 'latin1').toString() };
}
