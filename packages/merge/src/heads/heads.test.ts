import { expect, test } from 'vitest';
import { mergeText } from '../merge-text.ts';

/** Puts lines of ours behind one place of a text, and lines of theirs behind another. */
type Case = readonly [
  path: string,
  base: string,
  ours: readonly [after: string, put: string],
  theirs: readonly [after: string, put: string],
];

function conflictsOf([path, base, ours, theirs]: Case): number {
  const withPut = ([after, put]: Case[2]): string => {
    expect(base).toContain(after);
    return base.replace(after, `${after}${put}`);
  };
  const versions = { base, ours: withPut(ours), theirs: withPut(theirs) };
  const straight = mergeText(versions, { path }).conflicts;
  const swapped = { ...versions, ours: versions.theirs, theirs: versions.ours };
  expect(mergeText(swapped, { path }).conflicts).toBe(straight);
  return straight;
}

const PYTHON = 'import os\n\n\ndef first():\n    return 1\n\n\ndef last():\n    return 9\n';
const JAVA =
  'class A {\n  int first() {\n    return 1;\n  }\n\n  int last() {\n    return 9;\n  }\n}\n';
const CSHARP =
  'class A\n{\n    int First()\n    {\n        return 1;\n    }\n\n    int Last()\n    {\n        return 9;\n    }\n}\n';
const GO = 'package a\n\nfunc First() int {\n\treturn 1\n}\n\nfunc Last() int {\n\treturn 9\n}\n';
const RUST = 'impl A {\n    fn first() {}\n\n    fn other() {}\n\n    fn last() {}\n}\n';
const SQL = 'CREATE TABLE a (\n  id INTEGER,\n  name TEXT,\n  age INTEGER\n);\n';
const MAKE = 'first:\n\techo 1\n\nother:\n\techo 2\n\nlast:\n\techo 9\n';
const INI = '[a]\nx = 1\ny = 2\nz = 3\n\n[b]\nx = 1\ny = 2\n';
const TF =
  'resource "a" "first" {\n  size = 1\n}\n\nvariable "v" {\n}\n\nresource "a" "last" {\n  size = 9\n}\n';
const GRAPHQL =
  'type First {\n  id: ID\n}\n\ntype Other {\n  id: ID\n}\n\ntype Last {\n  id: ID\n}\n';
const PROTO = 'message A {\n  string first = 1;\n  string other = 2;\n  string last = 3;\n}\n';
const JSON5 =
  '{\n  first: 1,\n  other: 2,\n  last: 9,\n  list: [\n    { id: 1 },\n    {\n      id: 2,\n    },\n    {\n      id: 3,\n    },\n  ],\n}\n';
const YAML =
  'items:\n- id: 1\n  name: a\n- id: 2\n  name: b\nothers:\n- id: 1\n  name: a\n- id: 2\n  name: b\n';
const TOML = '[dependencies]\na = "1"\nb = "1"\nc = "1"\n\n[features]\nx = []\ny = []\n';
const SVELTE =
  '<script>\n  let first = 1;\n  let other = 2;\n  let last = 9;\n</script>\n<p>{first}</p>\n';

test.each<Case>([
  [
    'a.py',
    PYTHON,
    ['import os\n', '\n\ndef key(x):\n    return x\n'],
    ['return 9\n', '\n\ndef key(x):\n    return x + 1\n'],
  ],
  ['a.py', PYTHON, ['import os\n', 'LIMIT = 1\n'], ['return 9\n', '\n\nLIMIT = 2\n']],
  [
    'A.java',
    JAVA,
    ['class A {\n', '  int key(int x) {\n    return x;\n  }\n\n'],
    ['    return 9;\n  }\n', '\n  int key(int x) {\n    return x + 1;\n  }\n'],
  ],
  [
    'A.cs',
    CSHARP,
    ['class A\n{\n', '    int Key()\n    {\n        return 0;\n    }\n\n'],
    ['        return 9;\n    }\n', '\n    int Key()\n    {\n        return 10;\n    }\n'],
  ],
  [
    'a.go',
    GO,
    ['package a\n', '\nfunc Key() int {\n\treturn 0\n}\n'],
    ['\treturn 9\n}\n', '\nfunc Key() int {\n\treturn 10\n}\n'],
  ],
  [
    'a.rs',
    RUST,
    ['impl A {\n', '    fn key() { a() }\n\n'],
    ['    fn last() {}\n', '\n    fn key() { b() }\n'],
  ],
  [
    'a.sql',
    SQL,
    ['  id INTEGER,\n', '  note TEXT,\n'],
    ['  name TEXT,\n', "  note TEXT DEFAULT '',\n"],
  ],
  ['Makefile', MAKE, ['echo 1\n', '\nlint:\n\techo a\n'], ['echo 9\n', '\nlint:\n\techo b\n']],
  ['a.ini', INI, ['x = 1\n', 'level = 1\n'], ['z = 3\n', 'level = 2\n']],
  [
    'a.tf',
    TF,
    ['size = 1\n}\n', '\nresource "a" "key" {\n  size = 2\n}\n'],
    ['size = 9\n}\n', '\nresource "a" "key" {\n  size = 3\n}\n'],
  ],
  [
    'a.graphql',
    GRAPHQL,
    ['type First {\n  id: ID\n}\n', '\ntype Key {\n  a: Int\n}\n'],
    ['type Last {\n  id: ID\n}\n', '\ntype Key {\n  b: Int\n}\n'],
  ],
  [
    'a.proto',
    PROTO,
    ['first = 1;\n', '  string mine = 4;\n'],
    ['last = 3;\n', '  string theirs = 4;\n'],
  ],
  ['a.json5', JSON5, ['first: 1,\n', '  key: 1,\n'], ['last: 9,\n', '  key: 2,\n']],
  [
    'a.yaml',
    YAML,
    ['- id: 1\n  name: a\n', '- id: 7\n  name: x\n'],
    ['name: b\n', '- id: 7\n  name: y\n'],
  ],
  [
    'Cargo.toml',
    TOML,
    ['a = "1"\n', 'serde.workspace = true\n'],
    ['c = "1"\n', 'serde = { version = "1" }\n'],
  ],
  [
    'A.svelte',
    SVELTE,
    ['first = 1;\n', '  let total = 1;\n'],
    ['last = 9;\n', '  const total = 2;\n'],
  ],
])('%s: a name that both sides add at two places is a question', (...given) => {
  expect(conflictsOf(given)).toBe(1);
});

test.each<Case>([
  [
    'a.py',
    PYTHON,
    ['import os\n', '\n\ndef mine(x):\n    return x\n'],
    ['return 9\n', '\n\ndef theirs(x):\n    return x\n'],
  ],
  [
    'a.py',
    PYTHON,
    ['def first():\n', '    class A:\n        pass\n'],
    ['def last():\n', '    class A:\n        pass\n'],
  ],
  [
    'A.java',
    JAVA,
    ['class A {\n', '  int key(int x) {\n    return x;\n  }\n\n'],
    ['    return 9;\n  }\n', '\n  int key(String x) {\n    return 1;\n  }\n'],
  ],
  [
    'a.sql',
    `${SQL}SELECT\n  id AS a\nFROM a;\n\nSELECT\n  id AS b\nFROM a;\n`,
    ['  id AS a', ',\n  name AS n'],
    ['  id AS b', ',\n  name AS n'],
  ],
  ['a.ini', INI, ['x = 1\ny = 2\nz = 3\n', 'level = 1\n'], ['[b]\nx = 1\ny = 2\n', 'level = 2\n']],
  [
    'a.tf',
    TF,
    ['size = 1\n', '  ingress {\n    port = 1\n  }\n'],
    ['size = 9\n', '  ingress {\n    port = 1\n  }\n'],
  ],
  [
    'a.json5',
    JSON5,
    ['      id: 2,\n    },\n', '    {\n      id: 7,\n    },\n'],
    ['{ id: 1 },\n', '    {\n      id: 7,\n    },\n'],
  ],
  [
    'a.yaml',
    `items:\n- id: 1\n${'# between\n'.repeat(12)}others:\n- id: 2\n`,
    ['- id: 1\n', '- id: 7\n'],
    ['- id: 2\n', '- id: 7\n'],
  ],
  [
    'Cargo.toml',
    TOML,
    ['a = "1"\n', 'serde.workspace = true\n'],
    ['y = []\n', 'serde = ["dep:serde"]\n'],
  ],
])('%s: names that do not meet are kept', (...given) => {
  expect(conflictsOf(given)).toBe(0);
});

test.each<Case>([
  [
    'CHANGELOG.md',
    '# Log\n\n## Unreleased\n\n- One.\n- Two.\n\n## 1.0.0\n\n- Old.\n',
    ['- Two.\n', '- Three.\n'],
    ['## Unreleased\n\n', '## 1.1.0\n\n'],
  ],
  [
    'a.yaml',
    'app:\n  image: app\n  ports: 80\n',
    ['  ports: 80\n', '  memory: 512\n'],
    ['  image: app\n', 'worker:\n  image: web\n'],
  ],
  ['a.ini', '[a]\nx = 1\ny = 2\nz = 3\n', ['z = 3\n', 'w = 4\n'], ['x = 1\n', '\n[b]\n']],
])(
  '%s: lines that would land in a section which the other side has put in are a question',
  (...given) => {
    expect(conflictsOf(given)).toBe(1);
  },
);

test.each<Case>([
  [
    'a.md',
    '# A\n\nOne.\n\n# B\n\nTwo.\n',
    ['One.\n', '\n## Mine\n\nThree.\n'],
    ['Two.\n', '\n## Theirs\n\nFour.\n'],
  ],
  [
    'a.yaml',
    'a:\n  x: 1\nb:\n  x: 1\n',
    ['a:\n  x: 1\n', '  y: 2\n'],
    ['b:\n  x: 1\n', 'c:\n  x: 1\n'],
  ],
])('%s: sections beside each other are kept', (...given) => {
  expect(conflictsOf(given)).toBe(0);
});

const PO = 'msgid "one"\nmsgstr ""\n\n#: b.c:2\nmsgid "two"\nmsgstr ""\n';

test.each([
  ['the text of one message and the translation of another', 'one', 'two', 0],
  ['the text of a message and its translation', 'one', 'one', 1],
  ['the text of the last message and its translation', 'two', 'two', 1],
])('a catalogue of translations: %s', (_, text, translated, conflicts) => {
  const versions = {
    base: PO,
    ours: PO.replace(`msgid "${text}"`, `msgid ""\n"another ${text}"`),
    theirs: PO.replace(`"${translated}"\nmsgstr ""`, `"${translated}"\nmsgstr ""\n"eins"`),
  };
  expect(mergeText(versions, { path: 'fr.po' }).conflicts).toBe(conflicts);
  const swapped = { ...versions, ours: versions.theirs, theirs: versions.ours };
  expect(mergeText(swapped, { path: 'fr.po' }).conflicts).toBe(conflicts);
});

test('a heading put in above one that is underlined asks nothing about what is below that', () => {
  const base = 'App\n===\n\nOne.\n\nTwo.\n\nUse\n---\n\nThree.\n';
  const versions = {
    base,
    ours: `# Warning\n\nOurs.\n\n${base}`,
    theirs: base.replace('Two.', 'Two.\n\nMore.'),
  };
  expect(mergeText(versions, { path: 'README.md' }).conflicts).toBe(0);
});
