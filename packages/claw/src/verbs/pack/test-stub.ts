import { changedLines, splitLines, type TreeFile } from '@patchclaw/merge';
import { TEST_NOTE } from '../../package/templates.ts';
import type { PackedEdit } from './packed-edit.ts';

/** The facts about a codebase that a first test needs. */
export type TestedCodebase = {
  /** The command that test files are handed to, such as `node --test`, `npm test` or `pytest -q`. */
  readonly testCommand: string;
  readonly releaseFile: (path: string) => TreeFile | null;
};

/** The first test of a package, and its path in the package. */
export type TestStub = { readonly path: string; readonly text: string };

/** The subject of a test: names that a module exports, or a line that the skill writes. */
type Subject =
  | { readonly kind: 'names'; readonly path: string; readonly names: readonly string[] }
  | { readonly kind: 'line'; readonly path: string; readonly line: string };

const TEST = /[._](test|spec)\.[cm]?[jt]sx?$|(^|\/)(test_[^/]*|[^/]*_test|conftest)\.py$/;

/**
 * Returns a first test of a skill for its author to extend, in the language of the codebase and for its test runner.
 * It checks the names that a module of the skill exports, or looks for a line that the skill writes. Null if the
 * runner is unknown, or there is nothing to look for.
 */
export function testStub(
  name: string,
  codebase: TestedCodebase,
  edits: readonly PackedEdit[],
): TestStub | null {
  const command = writtenOut(codebase);
  const runner = RUNNERS.find(({ word }) => word.test(command));
  if (runner === undefined) return null;
  const present = edits.filter(({ path, after }) => after !== null && !TEST.test(path));
  const sorted = [...present].sort(
    (one, other) => Number(one.before !== null) - Number(other.before !== null),
  );
  if (runner.language === 'python') {
    const subject = subjectOf(sorted, pythonNames);
    if (subject === null) return null;
    const text = pythonTest(name, subject, runner.isPlain);
    return { path: `tests/test_${name.replace(/\W/g, '_')}.py`, text };
  }
  const isTyped =
    codebase.releaseFile('tsconfig.json') !== null ||
    edits.some(({ path }) => /\.[cm]?tsx?$/.test(path));
  // Jest takes modules of the newer kind through a compiler only.
  const isCommonJs = runner.from === null && !isTyped;
  const subject = subjectOf(sorted, isCommonJs ? () => [] : exportsOf);
  if (subject === null) return null;
  const ending = isTyped ? 'ts' : isCommonJs ? 'js' : 'mjs';
  const text = scriptTest(name, subject, { ...runner, isCommonJs });
  return { path: `tests/${name}.test.${ending}`, text };
}

type Runner =
  | {
      readonly word: RegExp;
      readonly language: 'script';
      /** The module of the function that defines a test; null where it is there without an import. */
      readonly from: string | null;
      readonly define: 'test' | 'it';
    }
  | { readonly word: RegExp; readonly language: 'python'; readonly isPlain: boolean };

/** Test runners by the word for them in a command; the first that fits counts. */
const RUNNERS: readonly Runner[] = [
  { word: /\bvitest\b/, language: 'script', from: 'vitest', define: 'test' },
  { word: /\bjest\b/, language: 'script', from: null, define: 'test' },
  { word: /\bmocha\b/, language: 'script', from: 'mocha', define: 'it' },
  { word: /\bbun test\b/, language: 'script', from: 'bun:test', define: 'test' },
  { word: /\bpy\.?test\b/, language: 'python', isPlain: true },
  { word: /\bunittest\b/, language: 'python', isPlain: false },
  { word: /\bnode\b/, language: 'script', from: 'node:test', define: 'test' },
];

/** Returns the command with the script of `package.json` that it names, if it names one. */
function writtenOut({ testCommand, releaseFile }: TestedCodebase): string {
  const [, script] = /^(?:npm|pnpm|yarn)(?: run)? ([\w:-]+)/.exec(testCommand.trim()) ?? [];
  const manifest = script === undefined ? null : releaseFile('package.json');
  if (script === undefined || manifest === null) return testCommand;
  try {
    const { scripts } = JSON.parse(manifest.bytes.toString('utf8'));
    return `${testCommand} ${scripts[script] ?? ''}`;
  } catch {
    return testCommand; // No manifest that can be read: the words of the command have to do.
  }
}

function subjectOf(
  edits: readonly PackedEdit[],
  namesIn: (path: string, file: TreeFile | null) => readonly string[],
): Subject | null {
  for (const { path, after } of edits) {
    const names = namesIn(path, after);
    if (names.length > 0) return { kind: 'names', path, names };
  }
  for (const edit of edits) {
    const line = lineOf(edit);
    if (line !== null) return { kind: 'line', path: edit.path, line };
  }
  return null;
}

function titleOf(name: string, subject: Subject): string {
  return subject.kind === 'names'
    ? `with ${name}, ${subject.path} exports ${subject.names.join(', ')}`
    : `with ${name}, ${subject.path} holds a line that it writes`;
}

type ScriptRunner = Pick<Extract<Runner, { language: 'script' }>, 'from' | 'define'> & {
  readonly isCommonJs: boolean;
};

function scriptTest(
  name: string,
  subject: Subject,
  { from, define, isCommonJs }: ScriptRunner,
): string {
  const use = (names: string, module: string) =>
    isCommonJs ? `const ${names} = require('${module}');` : `import ${names} from '${module}';`;
  return [
    use('assert', 'node:assert/strict'),
    ...(subject.kind === 'line' ? [use('{ readFileSync }', 'node:fs')] : []),
    ...(from === null ? [] : [`import { ${define} } from '${from}';`]),
    ...(subject.kind === 'names'
      ? [`import * as subject from ${quoted(`../../../${subject.path}`)};`]
      : []),
    '',
    `// ${TEST_NOTE} ${name} is applied.`,
    `${define}(${quoted(titleOf(name, subject))}, () => {`,
    ...(subject.kind === 'names'
      ? subject.names.map((one) => `  assert.ok(${quoted(one)} in subject);`)
      : [
          // Tests run at the top of the tree.
          `  const text = readFileSync(${quoted(subject.path)}, 'utf8');`,
          `  assert.ok(text.includes(${quoted(subject.line)}));`,
        ]),
    '});',
    '',
  ].join('\n');
}

/** @param isPlain whether a function is a test; otherwise tests are methods of a class */
function pythonTest(name: string, subject: Subject, isPlain: boolean): string {
  const word = name.replace(/\W/g, '_');
  const read = `Path(${pythonText(subject.path)}).read_text(encoding="utf-8")`;
  const title = `"""${titleOf(name, subject)
    .replace('exports', 'defines')
    .replace(/["\\]/g, '')}."""`;
  const body =
    subject.kind === 'names'
      ? [
          `tree = ast.parse(${read})`,
          'names = {node.name for node in tree.body if hasattr(node, "name")}',
          `missing = {${subject.names.map(pythonText).join(', ')}} - names`,
          isPlain ? 'assert not missing' : 'self.assertFalse(missing)',
        ]
      : [
          `text = ${read}`,
          isPlain
            ? `assert ${pythonText(subject.line)} in text`
            : `self.assertIn(${pythonText(subject.line)}, text)`,
        ];
  const indented = (lines: readonly string[], by: string) => lines.map((line) => by + line);
  return [
    ...(subject.kind === 'names' ? ['import ast'] : []),
    ...(isPlain ? [] : ['import unittest']),
    'from pathlib import Path',
    '',
    '',
    `# ${TEST_NOTE} ${name} is applied.`,
    ...(isPlain
      ? [`def test_${word}():`, ...indented([title, ...body], '    ')]
      : [
          'class SkillTest(unittest.TestCase):',
          `    def test_${word}(self):`,
          ...indented([title, ...body], '        '),
        ]),
    '',
  ].join('\n');
}

const MODULE = /\.[cm]?[jt]s$/;

/** Returns the names that a module exports; none for one that runs on import, which exports nothing. */
function exportsOf(path: string, file: TreeFile | null): readonly string[] {
  if (file === null || !MODULE.test(path) || path.endsWith('.d.ts')) return [];
  return namesBy(
    /^export\s+(?:async\s+)?(?:const|let|function\*?|class)\s+([A-Za-z_$][\w$]*)/gm,
    file,
  );
}

/** Returns the names of the functions and classes of a Python file, but for those that are its own affair. */
function pythonNames(path: string, file: TreeFile | null): readonly string[] {
  if (file === null || !path.endsWith('.py')) return [];
  return namesBy(/^(?:(?:async[ \t]+)?def|class)[ \t]+([A-Za-z]\w*)/gm, file);
}

function namesBy(pattern: RegExp, { bytes }: TreeFile): readonly string[] {
  const names = [...bytes.toString('utf8').matchAll(pattern)].flatMap(([, name]) => name ?? []);
  return [...new Set(names)].slice(0, 3);
}

/** Returns a line of an edited text that was not there before. */
function lineOf({ before, after }: PackedEdit): string | null {
  if (after === null || after.bytes.includes(0)) return null;
  const lines = splitLines(after.bytes.toString('utf8'));
  const known = new Set(
    splitLines(before?.bytes.toString('utf8') ?? '').map((line) => line.trim()),
  );
  const fresh = changedLines(before?.bytes ?? null, after.bytes).flatMap(([from, to]) =>
    lines.slice(from - 1, to).map((line) => line.trim()),
  );
  return fresh.find((line) => line !== '' && !known.has(line)) ?? null;
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n')}'`;
}

/** JSON's escapes are those of Python too. */
function pythonText(text: string): string {
  return JSON.stringify(text);
}
