import { expect, test } from 'vitest';
import { declarationAround } from './enclosing-declaration.ts';

/** Names the declaration around the line that says HERE. */
function around(path: string, text: string): string | null {
  const lines = text.split(/(?<=\n)/);
  const at = lines.findIndex((line) => line.includes('HERE'));
  return declarationAround(path, lines.slice(0, at), lines.slice(at, at + 1));
}

test.each([
  ['a.ts', 'export async function start(\n  port: number,\n) {\n  HERE\n', 'function start()'],
  [
    'a.ts',
    'class Host {\n  async run(turn) {\n    if (turn) {\n      HERE\n',
    'run() of class Host',
  ],
  ['a.ts', 'const run = async (turn) => {\n  HERE\n', 'function run()'],
  ['a.ts', 'const limits = {\n  HERE\n', 'limits'],
  ['a.ts', "test('it works', async () => {\n  HERE\n", "test 'it works'"],
  ['a.ts', 'function start() {\n}\nHERE\n', null],
  ['a.ts', 'function* steps() {\n  HERE\n', 'function steps()'],
  ['a.ts', 'export default defineConfig({\n  HERE\n', 'defineConfig()'],
  ['a.ts', 'subscribe(event, {\n  HERE\n', 'subscribe()'],
  ['a.py', 'class Host:\n    def run(self):\n        HERE\n', 'run() of class Host'],
  [
    'a.rs',
    'impl Host for A {\n    pub(crate) fn run(&self) {\n        HERE\n',
    'run() of impl Host for A',
  ],
  ['a.go', 'func (h *Host) Run() error {\n\tHERE\n', 'function Run()'],
  ['a.yaml', 'jobs:\n  test:\n    steps:\n      - HERE\n', 'jobs.test.steps'],
  ['a.json', '{\n  "scripts": {\n    "HERE": 1\n', 'scripts'],
  ['a.md', '# Title\n\n## Install\n\nHERE\n', '“Install”'],
  ['a.toml', '[package]\nname = "a"\nHERE = 1\n', '[package]'],
])('in %s the declaration is told by what encloses the line: %j is %j', (path, text, name) => {
  expect(around(path, text)).toBe(name);
});
