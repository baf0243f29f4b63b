import fc from 'fast-check';
import { expect, test } from 'vitest';
import { internLines } from '../src/lines/interned-lines.ts';
import { mapVersions, splitLines } from '../src/lines/lines.ts';
import { alignRegions, linesOf } from '../src/lines/regions.ts';
import { mergeText } from '../src/merge-text.ts';
import { mergeFault } from '../src/syntax/faults/merge-defects.ts';
import type { Versions } from '../src/versions.ts';

const RUNS = { numRuns: 1500, seed: 1 };

/** A text as parts, each with its possible lines, and the text around the parts. */
type Format = {
  readonly path: string;
  readonly parts: readonly (readonly string[])[];
  readonly comment: string;
  readonly render: (parts: readonly string[]) => string;
};

const TYPESCRIPT: Format = {
  path: 'a.ts',
  parts: [
    [
      "import * as u from './a.ts';",
      "import u from './b.ts';",
      "import { u } from './c.ts';",
      "import { w as u, v } from './d.ts';",
      "import type { v } from './e.ts';",
      "import './f.ts';",
    ],
    [
      'const u = 1;',
      'let [v] = u;',
      'function u() {\n  return 1;\n}',
      'function v(a: 1): 1;\nfunction v(a: unknown) {\n  return a;\n}',
      'class v {}',
      'interface u {\n  a: 1;\n}',
      'type v = 1;',
      'var w;',
      '{\n  const u = 2;\n}',
    ],
    [
      'case 1:\n    one();',
      "case 'x':\n    two();",
      'case a.b:\n    break;',
      'default:\n    last();',
    ],
    ['a: 1,', 'b: 2,', 'get c() {\n    return 1;\n  },', 'set c(d) {},', '...rest,'],
    ['export default u;', 'export { u as default };', 'export { u, v };', 'export { w as v };'],
  ],
  comment: '//',
  render: ([imports, declared, cases, keys, exports]) =>
    `${imports}\nstart();\n\n${declared}\nnext();\n\nswitch (a) {\n${cases}}\n\n` +
    `const object = {\n${keys}};\n\n${exports}end();\n`,
};
const YAML: Format = {
  path: 'a.yaml',
  parts: [
    ['a: 1', 'b: [1, 2]', 'c: &c\n  d: 1', 'e:\n  - 1\n  - f: 2', '# a: 2', 'g: "x\n  y"'],
    ['  a: 1', '  b: {}', '  c:\n    a: 1', '  # c', '  d: |\n    a: 1'],
  ],
  comment: '#',
  render: ([top, inner]) => `${top}\nmap:\n  first: 1\n${inner}\nlast: 1\n`,
};
const ENV: Format = {
  path: '.env.example',
  parts: [
    ['A=1', 'A=2', 'export B=3', 'B=', '# A=3', 'C="x y"'],
    ['A=4', 'D=5', 'C='],
  ],
  comment: '#',
  render: ([top, rest]) => `FIRST=1\n${top}\nMIDDLE=1\n\n${rest}LAST=1\n`,
};

/** Draws three texts: a base, and the versions of two sides part by part. */
function versionsOf({ parts, comment, render }: Format): fc.Arbitrary<Versions<string>> {
  const drawn = parts.map((lines) => {
    const line = fc.constantFrom(...lines);
    const edit = fc.record({
      at: fc.nat(5),
      remove: fc.nat(1),
      insert: fc.array(line, { maxLength: 1 }),
    });
    const edits = fc.array(edit, { maxLength: 2 });
    const base = fc.array(line, { maxLength: 2 });
    return fc.tuple(base, edits, edits).map(([drawn, mine, other]) => {
      // Lines that both sides keep, so that what they do around them is clean.
      const before = [...[1, 2, 3, 4].map((keep) => `${comment} ${keep}`), ...drawn];
      const apply = (edits: typeof mine) =>
        edits.reduce((all, { at, remove, insert }) => all.toSpliced(at, remove, ...insert), before);
      return { base: before, ours: apply(mine), theirs: apply(other) };
    });
  });
  return fc.tuple(...drawn).map((all) => {
    const text = (name: keyof Versions<unknown>) =>
      render(all.map((part) => part[name].map((line) => `${line}\n`).join('')));
    return { base: text('base'), ours: text('ours'), theirs: text('theirs') };
  });
}

test.each([TYPESCRIPT, YAML, ENV])(
  'what is clean parses and has nothing twice that no input has twice: $path',
  (format) => {
    const { path } = format;
    let clean = 0;
    let flawedByLines = 0;
    const law = (texts: Versions<string>) => {
      const merged = mergeText(texts, { path });
      if (merged.conflicts === 0) clean++;
      if (merged.conflicts === 0) expect(faultOf(path, merged.text, texts)).toBe(null);
      const aligned = alignedText(texts);
      if (aligned !== null && faultOf(path, aligned, texts) !== null) {
        flawedByLines++;
        expect(merged.text).not.toBe(aligned);
      }
    };
    fc.assert(fc.property(versionsOf(format), law), RUNS);
    // Else there was nothing to see.
    expect(clean).toBeGreaterThan(200);
    expect(flawedByLines).toBeGreaterThan(20);
  },
);

test('a side of all conflicts leaves nothing twice by the lines around them', () => {
  let open = 0;
  const law = (texts: Versions<string>) => {
    const merged = mergeText(texts, { path: 'a.ts' });
    if (merged.conflicts === 0) return;
    open++;
    for (const side of ['ours', 'theirs'] as const) {
      const text = chooseSide(merged.text, side);
      const fault = faultOf('a.ts', text, texts);
      if (fault?.kind === 'twice') expect(fault).toBe(null);
    }
  };
  fc.assert(fc.property(versionsOf(TYPESCRIPT), law), RUNS);
  expect(open).toBeGreaterThan(100);
});

/** Returns the text that alignment alone makes, without any check; null where lines are disputed. */
function alignedText(texts: Versions<string>): string | null {
  const lines = mapVersions(texts, splitLines);
  const regions = alignRegions(internLines(lines));
  if (regions.some(({ kind }) => kind === 'conflict')) return null;
  return regions.flatMap((region) => linesOf(region, lines)).join('');
}

function faultOf(path: string, merged: string, texts: Versions<string>) {
  const file = (text: string) => ({ bytes: Buffer.from(text), isExecutable: false });
  return mergeFault(path, file(merged), mapVersions(texts, file));
}

function chooseSide(marked: string, side: 'ours' | 'theirs'): string {
  return marked.replaceAll(
    /^<{7} .*\n([\s\S]*?)^\|{7} .*\n[\s\S]*?^={7}\n([\s\S]*?)^>{7} .*\n/gm,
    (_, ours: string, theirs: string) => (side === 'ours' ? ours : theirs),
  );
}
