import type { Versions } from '../../packages/merge/src/versions.ts';

type Random = () => number;
type Edit = (lines: readonly string[], random: Random) => readonly string[];

const WORDS = 'group message turn outbox lease channel store agent task plan'.split(' ');

/**
 * Made-up source files with a few edits on each side, the same in every run: 50 to 2,000 lines,
 * most of them short, with the braces and blank lines that real files repeat.
 */
export function makeCorpus(files: number): readonly Versions<string>[] {
  const random = seededRandom(20_261);
  return Array.from({ length: files }, () => {
    // Squared, so that small files are as common as they are in a codebase.
    const base = sourceFile(50 + Math.floor(1950 * random() ** 2), random);
    const versions = { base, ours: edited(base, random), theirs: edited(base, random) };
    return {
      base: textOf(versions.base),
      ours: textOf(versions.ours),
      theirs: textOf(versions.theirs),
    };
  });
}

function sourceFile(length: number, random: Random): readonly string[] {
  const lines = Array.from({ length: 8 }, () => importLine(random));
  while (lines.length < length) lines.push('', ...functionLines(random));
  return lines.slice(0, length);
}

function functionLines(random: Random): readonly string[] {
  const body = Array.from({ length: 3 + Math.floor(random() * 12) }, () => statement(random));
  return [`export function ${name(random)}(${word(random)}: string): void {`, ...body, '}'];
}

function statement(random: Random): string {
  const kinds = [
    () => `  const ${name(random)} = ${word(random)}.${word(random)};`,
    () => `  if (${word(random)} === null) return;`,
    () => `  ${name(random)}(${word(random)});`,
    () => '  }',
    () => '',
  ];
  return kinds[Math.floor(random() * kinds.length)]?.() ?? '';
}

function importLine(random: Random): string {
  return `import { ${name(random)} } from './${word(random)}.ts';`;
}

const EDITS: readonly Edit[] = [
  (lines, random) => splice(lines, 1 + Math.floor(random() * 7), 0, [importLine(random)]),
  (lines, random) => splice(lines, place(lines, random), 1, [statement(random)]),
  (lines, random) => splice(lines, place(lines, random), 0, ['', ...functionLines(random)]),
  (lines, random) => splice(lines, place(lines, random), 1 + Math.floor(random() * 10), []),
  (lines, random) => {
    const start = place(lines, random);
    const block = lines.slice(start, start + 8).map((line) => (line === '' ? line : `  ${line}`));
    return splice(lines, start, block.length, block);
  },
  (lines, random) => [...lines, '', ...functionLines(random)],
];

function edited(lines: readonly string[], random: Random): readonly string[] {
  let result = lines;
  for (let count = 1 + Math.floor(random() * 6); count > 0; count--) {
    result = EDITS[Math.floor(random() * EDITS.length)]?.(result, random) ?? result;
  }
  return result;
}

function place(lines: readonly string[], random: Random): number {
  return Math.floor(random() * lines.length);
}

function splice(
  lines: readonly string[],
  start: number,
  remove: number,
  insert: readonly string[],
): readonly string[] {
  return [...lines.slice(0, start), ...insert, ...lines.slice(start + remove)];
}

function name(random: Random): string {
  return `${word(random)}${Math.floor(random() * 1000)}`;
}

function word(random: Random): string {
  return WORDS[Math.floor(random() * WORDS.length)] ?? '';
}

function textOf(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

function seededRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
