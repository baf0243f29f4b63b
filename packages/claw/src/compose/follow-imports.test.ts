import { expect, test } from 'vitest';
import { followImports } from './follow-imports.ts';

const MOVES: Readonly<Record<string, string>> = {
  'src/util.ts': 'src/lib/util.ts',
  'src/box/index.ts': 'src/parts/box/index.ts',
  'src/data.json': 'data.json',
};
const PRESENT = new Set([...Object.values(MOVES), 'src/stays.ts', 'src/box.css']);

function follow(text: string, from = 'src/a.ts', to = from): string {
  const file = { bytes: Buffer.from(text), isExecutable: false };
  const places = {
    from,
    to,
    moved: (path: string) => MOVES[path] ?? path,
    has: (path: string) => PRESENT.has(path),
  };
  return followImports(file, places).file.bytes.toString();
}

test.each([
  ["import './util.ts';", "import './lib/util.ts';"],
  ["import { a } from './util.js';", "import { a } from './lib/util.js';"],
  ["export * from './util';", "export * from './lib/util';"],
  ['export { a } from "./util.ts";', 'export { a } from "./lib/util.ts";'],
  ["import type { A } from './util.ts';", "import type { A } from './lib/util.ts';"],
  ["type A = import('./util.ts').A;", "type A = import('./lib/util.ts').A;"],
  ["import a = require('./util');", "import a = require('./lib/util');"],
  ["const a = require('./util.js');", "const a = require('./lib/util.js');"],
  ["require.resolve('./util.js');", "require.resolve('./lib/util.js');"],
  ["const a = await import('./util.ts');", "const a = await import('./lib/util.ts');"],
  ["vi.mock('./util.ts', () => ({}));", "vi.mock('./lib/util.ts', () => ({}));"],
  ["await vi.importActual('./util.ts');", "await vi.importActual('./lib/util.ts');"],
  ["new URL('./util.ts', import.meta.url);", "new URL('./lib/util.ts', import.meta.url);"],
  ["import.meta.resolve('./util.ts');", "import.meta.resolve('./lib/util.ts');"],
  [
    "import d from './data.json' with { type: 'json' };",
    "import d from '../data.json' with { type: 'json' };",
  ],
  ["import b from './box';", "import b from './parts/box';"],
  ["import b from './box/index.js';", "import b from './parts/box/index.js';"],
  ["import w from './util.ts?worker';", "import w from './lib/util.ts?worker';"],
  // Neither moved nor a specifier.
  ["import './stays.ts';", "import './stays.ts';"],
  ["import './box.css';", "import './box.css';"],
  ["import 'util.ts';", "import 'util.ts';"],
  ["const a = './util.ts';", "const a = './util.ts';"],
  [
    "// import './util.ts'\nconst a = `import './util.ts'`;",
    "// import './util.ts'\nconst a = `import './util.ts'`;",
  ],
  ["readFileSync('./util.ts');", "readFileSync('./util.ts');"],
  // A text that cannot be parsed stays unchanged.
  ["import './util.ts'; }", "import './util.ts'; }"],
])('%s', (before, after) => {
  expect(follow(before)).toBe(after);
});

test('in a file that moves itself, every import is rewritten for its new place', () => {
  const text = "import './stays.ts';\nimport './util.ts';\nimport 'zod';\nimport './unknown.ts';\n";
  expect(follow(text, 'src/a.ts', 'src/app/a.ts')).toBe(
    "import '../stays.ts';\nimport '../lib/util.ts';\nimport 'zod';\nimport './unknown.ts';\n",
  );
  // If the folder moves as well, nothing changes.
  expect(follow("import './util.ts';", 'src/a.ts', 'src/lib/a.ts')).toBe("import './util.ts';");
});

test('other files, and other bytes of a file, stay as they are', () => {
  expect(follow("import './util.ts';", 'src/a.md')).toBe("import './util.ts';");
  const bytes = Buffer.concat([Buffer.from("import './util.ts'; // "), Buffer.from([0xe9, 0x0a])]);
  const places = {
    from: 'src/a.ts',
    to: 'src/a.ts',
    moved: (path: string) => MOVES[path] ?? path,
    has: () => true,
  };
  const followed = followImports({ bytes, isExecutable: true }, places);
  expect(followed.file.bytes.subarray(-2)).toEqual(Buffer.from([0xe9, 0x0a]));
  expect(followed).toMatchObject({
    file: { isExecutable: true },
    followed: [{ from: 'src/util.ts', to: 'src/lib/util.ts' }],
  });
});
