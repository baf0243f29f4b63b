import fc from 'fast-check';
import type { Versions } from '../../packages/merge/src/versions.ts';

const TERMINATORS = ['\n', '\r\n'] as const;

/** Lines that are few enough to recur, some of them hard to tell from markers or line ends. */
const line = fc.constantFrom(
  'a',
  'b',
  'c',
  'd',
  '',
  '}',
  '\r',
  'x\r',
  '<<<<<<<',
  '<<<<<<< HEAD',
  '||||||| base',
  '=======',
  '========= heading',
  '>>>>>>> topic',
  '\xEF\xBB\xBF',
  '\xFF\x00',
);

const terminated = fc.tuple(line, fc.constantFrom(...TERMINATORS)).map((parts) => parts.join(''));

/** Texts of up to 12 short lines with any line ends, a last newline or none, a mark or none. */
export const wildText: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom('', '', '\xEF\xBB\xBF'), fc.array(terminated, { maxLength: 12 }), line)
  .map(([bom, lines, last]) => bom + lines.join('') + last);

/** Any bytes at all, read as latin1. */
export const anyBytes: fc.Arbitrary<string> = fc
  .uint8Array({ maxLength: 200 })
  .map((bytes) => Buffer.from(bytes).toString('latin1'));

/** Three unrelated texts. */
export const wildVersions: fc.Arbitrary<Versions<string>> = fc.record({
  base: wildText,
  ours: wildText,
  theirs: wildText,
});

type Edit = { readonly at: number; readonly remove: number; readonly insert: readonly string[] };

const edit = (words: fc.Arbitrary<string>): fc.Arbitrary<Edit> =>
  fc.record({
    at: fc.nat(1000),
    remove: fc.nat(3),
    insert: fc.array(words, { maxLength: 3 }),
  });

/**
 * Returns a text with newlines throughout and a few edits of it on each side, some of them the same.
 *
 * @param words the lines of the base, and those that edits put in
 */
export function editedVersions(words: {
  readonly base: fc.Arbitrary<readonly string[]>;
  readonly inserted: fc.Arbitrary<string>;
}): fc.Arbitrary<Versions<string>> {
  const edits = fc.array(edit(words.inserted), { maxLength: 4 });
  return fc
    .record({ base: words.base, ours: edits, theirs: edits, shared: edits })
    .map(({ base, ours, theirs, shared }) => ({
      base: textOf(base),
      ours: textOf([...shared, ...ours].reduce(applyEdit, base)),
      theirs: textOf([...shared, ...theirs].reduce(applyEdit, base)),
    }));
}

/** Edits of a text that has each line once. Lines put in are drawn from many and rarely recur. */
export const mostlyUniqueVersions: fc.Arbitrary<Versions<string>> = editedVersions({
  base: fc
    .integer({ min: 0, max: 40 })
    .map((n) => Array.from({ length: n }, (_, i) => `line ${i}`)),
  // One word: a change of a line that ends with the same number would be a part of this one.
  inserted: fc.nat(1_000_000).map((number) => `new${number}`),
});

/** Edits of a text in which most lines recur. */
export const repetitiveVersions: fc.Arbitrary<Versions<string>> = editedVersions({
  base: fc.array(fc.constantFrom('a', 'b', 'c', '}', ''), { maxLength: 30 }),
  inserted: fc.constantFrom('a', 'b', 'x', 'y', '}', ''),
});

/**
 * Edits of a text of packages, most of whose lines recur, where both sides put in one package more,
 * mostly at the same place.
 */
export const sharedBlockVersions: fc.Arbitrary<Versions<string>> = fc
  .record({
    packages: fc.integer({ min: 1, max: 5 }),
    block: fc.integer({ min: 1, max: 4 }),
    at: fc.tuple(fc.nat(5), fc.nat(9)),
    raised: fc.tuple(fc.subarray([0, 1, 2, 3, 4]), fc.subarray([0, 1, 2, 3, 4])),
  })
  .map(({ packages, block, at: [at, apart], raised }) => {
    const base = Array.from({ length: packages }, (_, index) => packageLines(`p${index}`, 1));
    const added = packageLines('added', block);
    const side = (place: number, higher: readonly number[]) => {
      const entries = base.map((lines, index) =>
        higher.includes(index) ? packageLines(`p${index}`, 2) : lines,
      );
      return textOf(entries.toSpliced(place % (packages + 1), 0, added).flat());
    };
    const other = apart === 0 ? at + 1 : at;
    return { base: textOf(base.flat()), ours: side(at, raised[0]), theirs: side(other, raised[1]) };
  });

/** Edits of a text of few different lines, where both sides put in the same blocks, mostly elsewhere. */
export const blockVersions: fc.Arbitrary<Versions<string>> = fc
  .record({
    base: fc.array(fc.constantFrom<string>('a', 'b', 'c', 'd', 'e', 'f', '}', ''), {
      maxLength: 14,
    }),
    block: fc.array(fc.constantFrom<string>('a', 'b', 'c', 'x', 'y', '}', ''), {
      minLength: 3,
      maxLength: 7,
    }),
    at: fc.tuple(fc.nat(14), fc.nat(14)),
    edits: fc.tuple(
      fc.array(edit(fc.constantFrom<string>('a', 'b', 'x', '}')), { maxLength: 1 }),
      fc.array(edit(fc.constantFrom<string>('a', 'b', 'y', '')), { maxLength: 1 }),
    ),
  })
  .map(({ base, block, at, edits }) => {
    const side = (index: 0 | 1) => {
      const place = at[index] % (base.length + 1);
      return textOf(edits[index].reduce(applyEdit, base.toSpliced(place, 0, ...block)));
    };
    return { base: textOf(base), ours: side(0), theirs: side(1) };
  });

function packageLines(name: string, version: number): readonly string[] {
  const depends = Array.from({ length: version - 1 }, (_, index) => `  needs ${index}`);
  return ['[package]', `name ${name}`, `version ${version}`, 'source', ...depends, ''];
}

function applyEdit(lines: readonly string[], { at, remove, insert }: Edit): readonly string[] {
  const start = at % (lines.length + 1);
  return [...lines.slice(0, start), ...insert, ...lines.slice(start + remove)];
}

function textOf(lines: readonly string[]): string {
  return lines.map((content) => `${content}\n`).join('');
}
