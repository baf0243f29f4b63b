/**
 * A list in a file of some kind. `item` writes one member: `key` is its name, `value` what it says.
 *
 * `ordered` lists are those whose order has meaning: two insertions at one place are a question.
 */
export type Family = {
  readonly name: string;
  readonly path: string;
  readonly isOrdered?: true;
  readonly item: (key: string, value: number) => string;
  readonly write: (items: readonly string[]) => string;
};

const lines = (items: readonly string[]) => items.map((item) => `${item}\n`).join('');
const commas = (items: readonly string[]) => items.join(',\n');
const between =
  (head: string, foot: string, join = lines) =>
  (items: readonly string[]) =>
    `${head}${join(items)}${foot}`;

const property = (key: string, value: number) => `  ${key}: ${value},`;
const importLine = (key: string) => `import { ${key} } from './${key}.ts';`;
const REST = '\nexport const rest = 1;\n';

/** Kinds of lists that people add to, and what is around them. */
export const FAMILIES: readonly Family[] = [
  { name: 'imports', path: 'a.ts', item: importLine, write: between('', REST) },
  {
    name: 'imports of a script that begins with #!',
    path: 'a.mjs',
    item: (key) => `import { ${key} } from './${key}.js';`,
    write: between('#!/usr/bin/env node\n', REST),
  },
  {
    name: 'imports below a comment, with // further down',
    path: 'a.ts',
    item: importLine,
    write: between('', '\n// The rest.\nexport const rest = 1; // One.\n'),
  },
  {
    name: 'names of one import, on one line',
    path: 'a.ts',
    item: (key) => key,
    write: (items) => `import { ${items.join(', ')} } from './all.ts';\n${REST}`,
  },
  {
    name: 'names of one import, on lines',
    path: 'a.ts',
    item: (key) => `  ${key},`,
    write: between('import {\n', `} from './all.ts';\n${REST}`),
  },
  {
    name: 'interface',
    path: 'a.ts',
    item: (key, value) => `  readonly ${key}: ${value};`,
    write: between('export interface Options {\n', '}\n'),
  },
  {
    name: 'type literal with comments',
    path: 'a.ts',
    item: (key, value) => `  /** The ${key}. */\n  ${key}?: ${value};`,
    write: between('export type Options = {\n', '};\n'),
  },
  {
    name: 'enum with values',
    path: 'a.ts',
    item: (key, value) => `  ${key} = '${value}',`,
    write: between('export enum Kind {\n', '}\n'),
  },
  {
    name: 'class members',
    path: 'a.ts',
    item: (key, value) => `\n  ${key}(): number {\n    return ${value};\n  }`,
    write: between('export class Store {\n  private count = 0;\n', '}\n'),
  },
  {
    name: 'object',
    path: 'a.ts',
    item: property,
    write: between('export const settings = {\n', '};\n'),
  },
  {
    name: 'object without a last comma',
    path: 'a.js',
    item: (key, value) => `  ${key}: ${value}`,
    write: between('module.exports = {\n', '\n};\n', commas),
  },
  {
    name: 'object of objects without a last comma',
    path: 'a.ts',
    item: (key, value) => `  ${key}: {\n    value: ${value},\n  }`,
    write: between('export const settings = {\n', '\n};\n', commas),
  },
  {
    name: 'object behind a comment, with // beside members',
    path: 'a.ts',
    item: (key, value) => `  ${key}: ${value}, // The ${key}.`,
    write: between('// Settings.\nexport const settings = {\n', '};\n'),
  },
  {
    name: 'union type',
    path: 'a.ts',
    item: (key) => `  | '${key}'`,
    write: (items) => `export type Kind =\n${items.join('\n')};\n`,
  },
  {
    name: 'JSON map',
    path: 'a.json',
    item: (key, value) => `  "${key}": ${value}`,
    write: between('{\n', '\n}\n', commas),
  },
  {
    name: 'JSON dependencies',
    path: 'package.json',
    item: (key, value) => `    "${key}": "^${value}.0.0"`,
    write: between('{\n  "name": "app",\n  "dependencies": {\n', '\n  }\n}\n', commas),
  },
  {
    name: 'JSON map of maps',
    path: 'a.json',
    item: (key, value) => `  "${key}": {\n    "value": ${value}\n  }`,
    write: between('{\n', '\n}\n', commas),
  },
  {
    name: 'YAML map',
    path: 'a.yaml',
    item: (key, value) => `${key}: ${value}`,
    write: between('', ''),
  },
  {
    name: 'YAML map in a map',
    path: 'a.yml',
    item: (key, value) => `    ${key}: ${value}`,
    write: between('jobs:\n  env:\n', '  steps: []\nname: x\n'),
  },
  {
    name: 'YAML map of maps, with comments',
    path: 'a.yaml',
    item: (key, value) =>
      `  # The ${key}.\n  ${key}:\n    image: ${key}:${value}\n    ports: [${value}]\n`,
    write: between('services:\n', 'volumes: {}\n'),
  },
  {
    name: 'YAML map of maps with lists',
    path: 'ci.yml',
    item: (key, value) =>
      `  ${key}:\n    runs-on: linux\n    steps:\n      - uses: checkout\n      - run: ${key} ${value}`,
    write: between('on: push\njobs:\n', 'env: {}\n'),
  },
  {
    name: 'JSON map of maps with several fields',
    path: 'messages.json',
    item: (key, value) =>
      `  "${key}": {\n    "message": "${key}",\n    "count": ${value},\n    "kind": "button",\n    "note": ""\n  }`,
    write: between('{\n', '\n}\n', commas),
  },
  {
    name: '.env',
    path: '.env',
    item: (key, value) => `${key.toUpperCase()}=${value}`,
    write: between('', ''),
  },
  {
    name: '.env with comments',
    path: '.env.example',
    item: (key, value) => `\n# The ${key}.\n${key.toUpperCase()}=${value}`,
    write: between('# Settings\nHOME_PAGE=1\n', ''),
  },
  {
    name: 'TOML table',
    path: 'a.toml',
    item: (key, value) => `${key} = "${value}"`,
    write: between('[dependencies]\n', '\n[features]\ndefault = []\n'),
  },
  {
    name: 'Dockerfile packages',
    path: 'Dockerfile',
    item: (key) => `      ${key} \\`,
    write: between(
      'FROM debian\nRUN apt-get update && apt-get install -y \\\n',
      '    && rm -rf /var/lib/apt/lists/*\n',
    ),
  },
  {
    name: 'Markdown table',
    path: 'a.md',
    item: (key, value) => `| ${key} | ${value} |`,
    write: between('# Names\n\n| name | value |\n|---|---|\n', '\nThe end.\n'),
  },
  {
    name: 'Markdown list',
    path: 'README.md',
    item: (key, value) => `- [${key}](docs/${key}.md): ${value}`,
    write: between('# Pages\n\n', '\nThe end.\n'),
  },
  {
    name: 'functions of a module',
    path: 'a.ts',
    item: (key, value) => `\nexport function ${key}(): number {\n  return ${value};\n}`,
    write: between("import { one } from './one.ts';\n", ''),
  },
  {
    name: 'array',
    path: 'a.ts',
    isOrdered: true,
    item: (key, value) => `  ['${key}', ${value}],`,
    write: between('export const all = [\n', '];\n'),
  },
  {
    name: 'statements',
    path: 'a.ts',
    isOrdered: true,
    item: (key, value) => `  ${key}(${value});`,
    write: between('export function run(): void {\n', '}\n'),
  },
  {
    name: 'YAML list',
    path: 'a.yaml',
    isOrdered: true,
    item: (key, value) => `  - ${key}: ${value}`,
    write: between('steps:\n', 'name: x\n'),
  },
  {
    name: 'plain text',
    path: 'a.txt',
    isOrdered: true,
    item: (key, value) => `${key} is ${value}.`,
    write: between('First.\n', 'Last.\n'),
  },
];
