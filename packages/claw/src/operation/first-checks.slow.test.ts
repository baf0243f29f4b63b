import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { prove } from '../proof/prove.ts';
import { openMemory } from '../proof/remembered-passes.ts';
import { ENVIRONMENT, temporaryProject, treeFile } from '../proof/testing/project.ts';
import { runFirstChecks } from './first-checks.ts';

const CHECK = 'tsc --noEmit -p . --extendedDiagnostics > told; code=$?; cat told; exit $code';
const MANY = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((letter) => `'${letter}'`).join(' | ');
const FILES = {
  'claw.config.yaml': `check: ['${CHECK}']\nkeep: [.tsbuildinfo, told]\n`,
  'package.json': '{"type":"module"}',
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      incremental: true,
      tsBuildInfoFile: '.tsbuildinfo',
      strict: true,
      module: 'nodenext',
      allowImportingTsExtensions: true,
      noEmit: true,
      lib: ['es2024'],
      types: [],
    },
    include: ['src'],
  }),
  // Some thousand types to work out.
  'src/many.ts': `export type Many = ${MANY};
    export type Words = \`\${Many}\${Many}\${Many}\`;
    export const words: Record<Words, number> | null = null;`,
  'src/value.ts': 'export const value: number = 1;',
  'src/user.ts': "import { value } from './value.ts'; export const user: number = value;",
};
const PACKAGES = resolve(import.meta.dirname, '../../../../node_modules');

/** A project in which TypeScript is installed. */
function typedProject() {
  const project = temporaryProject(FILES);
  fs.mkdirSync(join(project.root, 'node_modules/.bin'), { recursive: true });
  for (const name of ['typescript', '@typescript']) {
    fs.cpSync(join(PACKAGES, name), join(project.root, 'node_modules', name), { recursive: true });
  }
  fs.symlinkSync('../typescript/bin/tsc', join(project.root, 'node_modules/.bin/tsc'));
  return project;
}

/** Proves one changed file, and tells how many types were worked out. */
async function proveChange(root: string, path: string, text: string) {
  const memory = openMemory(root);
  const proof = await prove({
    root,
    paths: Object.keys(FILES),
    changed: new Map([[path, treeFile(text)]]),
    tests: [],
    presentTests: [],
    checks: [CHECK],
    keep: ['.tsbuildinfo', 'told'],
    testCommand: null,
    nodeModules: null,
    memory,
    environment: ENVIRONMENT,
  });
  const told = memory.readKept('told')?.toString() ?? '';
  return { ...proof, types: Number(/Types: +(\d+)/.exec(told)?.[1]) };
}

test('the first proof works out only the types of what changed, and finds what is wrong elsewhere by it', async () => {
  using cold = typedProject();
  const more = [`src/more.ts`, 'export const more = 1;'] as const;
  const first = await proveChange(cold.root, ...more);
  expect(first.ok).toBe(true);

  using warm = typedProject();
  await runFirstChecks(warm.root, ENVIRONMENT);
  const next = await proveChange(warm.root, ...more);
  expect(next.ok).toBe(true);
  expect(next.types).toBeLessThan(first.types / 2);

  const broken = await proveChange(warm.root, 'src/value.ts', "export const value = 'one';");
  expect(broken).toMatchObject({ ok: false, failures: [{ kind: 'check' }] });
  expect(broken.failures[0]?.text).toContain('src/user.ts');
});

test('files of another TypeScript version are not trusted', async () => {
  using project = typedProject();
  await runFirstChecks(project.root, ENVIRONMENT);
  const memory = openMemory(project.root);
  const kept = memory.readKept('.tsbuildinfo')?.toString() ?? '';
  const types = async (text: string) => {
    memory.writeKept(new Map([['.tsbuildinfo', Buffer.from(text)]]));
    return (await proveChange(project.root, 'src/more.ts', 'export const more = 1;')).types;
  };
  const known = await types(kept);
  const other = await types(kept.replace(/"version":"[^"]+"/, '"version":"7.0.0-other"'));
  expect(known).toBeLessThan(other / 2);
});

test('if a check fails, nothing is kept; only a cache is written', async () => {
  using project = typedProject();
  fs.writeFileSync(join(project.root, 'src/value.ts'), "export const value = 'one';");
  await runFirstChecks(project.root, ENVIRONMENT);
  expect(openMemory(project.root).readKept('.tsbuildinfo')).toBeNull();
  expect(fs.readdirSync(project.root).sort()).toEqual(
    ['.claw', 'claw.config.yaml', 'node_modules', 'package.json', 'src', 'tsconfig.json'].sort(),
  );
});
