import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyBytes, wildText, wildVersions } from '../../../src/testing/texts.ts';
import type { Hunk } from '../src/lines/lines.ts';
import { mapVersions, splitLines } from '../src/lines/lines.ts';
import { hasMarkers, parseConflicts, renderConflicts } from '../src/markers.ts';
import { mergeLines } from '../src/merge-lines.ts';

const LABELS = { base: 'core', ours: 'telegram', theirs: 'your edits' };
const anyText = fc.oneof(wildText, anyBytes);
const anyLabel = fc.oneof(
  fc.string(),
  fc.constantFrom('', '\r', 'a\nb', '(no newline at end)', 'x (no newline at end)', '======='),
);
const anyLabels = fc.record({ base: anyLabel, ours: anyLabel, theirs: anyLabel });

/** Hunks of any content, in the form in which a merge gives them. */
const anyHunks: fc.Arbitrary<readonly Hunk[]> = fc
  .array(
    fc.record({ before: anyText, base: anyText, ours: anyText, theirs: anyText, after: anyText }),
    { maxLength: 3 },
  )
  .map((parts) =>
    parts.flatMap(({ before, base, ours, theirs, after }, index) => {
      const sides = mapVersions({ base, ours, theirs }, splitLines);
      const isLast = index === parts.length - 1;
      return [
        ...resolved(before === '' ? 'x\n' : before.replace(/(?<!\n)$/, '\n')),
        { kind: 'conflict' as const, ...sides },
        ...(isLast ? resolved(after) : []),
      ];
    }),
  );

function resolved(text: string): readonly Hunk[] {
  return text === '' ? [] : [{ kind: 'resolved', lines: splitLines(text) }];
}

describe('rendered conflicts', () => {
  test('parse back into the same hunks, whatever their bytes', () => {
    const law = (hunks: readonly Hunk[], labels: typeof LABELS) => {
      const { text, markerSize } = renderConflicts(hunks, labels);
      expect(parseConflicts(text, markerSize)).toEqual(hunks);
    };
    fc.assert(fc.property(anyHunks, anyLabels, law), { numRuns: 2000 });
  });

  test('parse back into what the merge gave', () => {
    const law = (versions: { base: string; ours: string; theirs: string }) => {
      const hunks = mergeLines(mapVersions(versions, splitLines));
      const { text, markerSize } = renderConflicts(hunks, LABELS);
      expect(parseConflicts(text, markerSize)).toEqual(hunks);
    };
    fc.assert(fc.property(wildVersions, law), { numRuns: 1000 });
  });

  test('name each side, and say which has no newline at its end', () => {
    const hunks: readonly Hunk[] = [
      { kind: 'resolved', lines: ['one\n'] },
      { kind: 'conflict', base: ['two\n'], ours: ['zwei'], theirs: ['deux\n', 'trois\n'] },
    ];
    expect(renderConflicts(hunks, LABELS)).toEqual({
      markerSize: 7,
      text: [
        'one',
        '<<<<<<< telegram (no newline at end)',
        'zwei',
        '||||||| core',
        'two',
        '=======',
        'deux',
        'trois',
        '>>>>>>> your edits',
        '',
      ].join('\n'),
    });
  });

  test('have markers that no line of the text can be taken for', () => {
    const hunks: readonly Hunk[] = [
      { kind: 'resolved', lines: ['Title\n', '===========\n'] },
      { kind: 'conflict', base: [], ours: ['a\n'], theirs: ['b\n'] },
    ];
    const { text, markerSize } = renderConflicts(hunks, LABELS);
    expect(markerSize).toBe(12);
    expect(text).toContain(`\n${'='.repeat(12)}\n`);
  });

  test('have labels that stay on their line', () => {
    const hunks: readonly Hunk[] = [{ kind: 'conflict', base: [], ours: ['a\n'], theirs: [] }];
    const { text } = renderConflicts(hunks, { ...LABELS, ours: 'a\r\n=======\nb' });
    expect(text.split('\n')[0]).toBe('<<<<<<< a ======= b');
  });
});

describe('parsing', () => {
  test('takes markers that make no whole conflict for content', () => {
    const text = 'a\n<<<<<<< x\nb\n=======\nc\n>>>>>>> y\nd';
    expect(parseConflicts(text, 7)).toEqual([{ kind: 'resolved', lines: splitLines(text) }]);
  });

  test('of any text keeps every line that is no marker', () => {
    const law = (text: string) => {
      expect(() => parseConflicts(text, 7)).not.toThrow();
    };
    fc.assert(fc.property(anyText, law));
  });
});

describe('left-over markers', () => {
  const conflict = '<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n';

  test.each([
    ['as git writes them', conflict],
    ['in diff3 style', conflict.replace('=======', '||||||| base\nx\n=======')],
    ['in the middle of a text', `x\n${conflict}y\n`],
    ['with CRLF', conflict.replaceAll('\n', '\r\n')],
    ['without a last newline', conflict.trimEnd()],
    ['without labels', conflict.replace(' HEAD', '').replace(' topic', '')],
    ['longer than seven', conflict.replace(/^([<=>])/gm, '$1$1')],
    ['after an opening marker that leads nowhere', `<<<<<<< x\n${conflict}`],
  ])('are found %s', (_, text) => {
    expect(hasMarkers(text)).toBe(true);
  });

  test.each([
    ['an underlined heading', 'Heading\n=======\n'],
    ['quoted mail', '>>>>>>> somebody wrote\n'],
    ['an opening marker alone', '<<<<<<< HEAD\na\n'],
    ['markers out of order', '>>>>>>> a\n=======\n<<<<<<< b\n'],
    ['markers that are indented', conflict.replace(/^/gm, ' ')],
    ['lengths that do not agree', conflict.replace('=======', '========')],
    ['a word glued to the marker', conflict.replace('<<<<<<< HEAD', '<<<<<<<HEAD')],
    ['nothing', ''],
  ])('are not found in %s', (_, text) => {
    expect(hasMarkers(text)).toBe(false);
  });

  test('are found in every conflict that a merge renders', () => {
    const law = (versions: { base: string; ours: string; theirs: string }) => {
      const hunks = mergeLines(mapVersions(versions, splitLines));
      fc.pre(hunks.some(({ kind }) => kind === 'conflict'));
      expect(hasMarkers(renderConflicts(hunks, LABELS).text)).toBe(true);
    };
    fc.assert(fc.property(wildVersions, law), { numRuns: 500 });
  });
});
