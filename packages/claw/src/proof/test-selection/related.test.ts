import { expect, test } from 'vitest';
import { proofFiles } from '../proof-files.ts';
import { treeFile } from '../testing/project.ts';
import { relatedTests } from './related.ts';

function related(
  changed: readonly string[],
  files: Readonly<Record<string, string>>,
  lone: readonly string[] = [],
) {
  const tree = new Map(Object.entries(files).map(([path, text]) => [path, treeFile(text)]));
  const tests = Object.keys(files).filter((path) => /test/.test(path));
  const all = proofFiles({ root: '/nowhere', paths: [], changed: tree, tests: [] });
  return relatedTests({ changed, lone: new Set(lone) }, new Set(tests), all);
}

const FILES = {
  'src/a.ts': '',
  'src/a.test.ts': "import './a.ts';",
  'src/b.ts': "import { a } from './a.ts';",
  'src/b.test.ts': "import './b.ts';",
  'src/c.ts': "import './b.ts';",
  'test/c.test.ts': "import '../src/c.ts';",
  'test/direct.test.ts': "import '../src/a.ts';",
  'src/other.test.ts': "import './other.ts';",
  'src/other.ts': '',
};

test('tests come nearest first: beside the file, then those that import it, then further', async () => {
  expect(await related(['src/a.ts'], FILES)).toEqual([
    'src/a.test.ts',
    'test/direct.test.ts',
    'src/b.test.ts',
    'test/c.test.ts',
  ]);
});

test('a test that changed itself comes first; what nothing concerns is not there', async () => {
  expect(await related(['src/c.ts', 'src/other.test.ts'], FILES)).toEqual([
    'src/other.test.ts',
    'test/c.test.ts',
  ]);
  expect(await related(['README.md'], FILES)).toEqual([]);
});

test('a deleted file concerns those that still import it', async () => {
  const { 'src/a.ts': _gone, ...rest } = FILES;
  expect(await related(['src/a.ts'], rest)).toContain('src/b.test.ts');
});

test('tests of other languages are found beside the file, by their names', async () => {
  const files = {
    'pkg/a.go': '',
    'pkg/a_test.go': '',
    'pkg/b_test.go': '',
    'lib/tests/test_shop.py': '',
    'lib/shop.py': '',
    'app/__tests__/view.tsx': '',
    'app/view.tsx': '',
  };
  expect(await related(['pkg/a.go'], files)).toEqual(['pkg/a_test.go']);
  expect(await related(['lib/shop.py'], files)).toEqual(['lib/tests/test_shop.py']);
  expect(await related(['app/view.tsx'], files)).toEqual(['app/__tests__/view.tsx']);
});

test('a module that reads a folder imports what is there, but is not concerned by a file that comes or goes', async () => {
  const files = {
    'src/tools/send.ts': '',
    'src/tools/parts/text.ts': '',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a module
    'src/tool.ts': 'const folder = `${import.meta.dirname}/tools`;',
    'src/tool.test.ts': "import './tool.ts';",
    'src/channels/all.ts': 'export function all(folder = import.meta.dirname) {}',
    'src/channels/one.ts': '',
    'test/channels.test.ts': "import '../src/channels/all.ts';",
    'src/page.test.ts': "readFileSync(join(import.meta.dirname, '../docs/page.md'));",
    'docs/page.md': '',
  };
  expect(await related(['src/tools/send.ts'], files)).toEqual(['src/tool.test.ts']);
  expect(await related(['src/tools/parts/text.ts'], files)).toEqual([]);
  expect(await related(['src/channels/one.ts'], files)).toEqual(['test/channels.test.ts']);
  expect(await related(['docs/page.md'], files)).toEqual(['src/page.test.ts']);
  expect(await related(['src/tools/send.ts'], files, ['src/tools/send.ts'])).toEqual([]);
});
