import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Codebase,
  commitAll,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { versioned } from '../releases.ts';

const RUNS = Number(process.env['CLAW_HISTORIES_RUNS'] ?? 4);
const FILES = 3;

/** Upstream's commits change the upper half of a file, the owner's the lower one: git merges them without a question. */
const Upstream = fc.record({
  file: fc.nat(FILES - 1),
  isTagged: fc.boolean(),
  isNewFile: fc.boolean(),
});
const Own = fc.record({
  kind: fc.constantFrom('edit', 'edit', 'file', 'mark', 'version', 'merge', 'squash'),
  file: fc.nat(FILES - 1),
});
/** Ways to adopt: what is named as upstream, rightly or not, and how the edits are parted. */
const ADOPTIONS = [
  'adopt origin/main',
  'adopt origin --by commit',
  'adopt origin/main --by branch',
  'adopt origin/main --by folder',
  'adopt main',
] as const;
const Case = fc.record({
  upstream: fc.array(Upstream, { minLength: 3, maxLength: 6 }),
  fork: fc.nat(),
  own: fc.array(Own, { minLength: 1, maxLength: 5 }),
  init: fc.constantFrom('plain', 'plain', 'HEAD', 'HEAD~1', 'fork', 'none', ...ADOPTIONS),
  /** The owner's branch and tags are in `origin` as well, as in a fork on a server. */
  isPushed: fc.boolean(),
  /** The first target is older than the commit that the owner began from. */
  isBack: fc.boolean(),
  targets: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
  isCommitted: fc.boolean(),
});
type Drawn = typeof Case extends fc.Arbitrary<infer T> ? T : never;

const START = `${Array.from({ length: 8 }, (_, at) => `line ${at}`).join('\n')}\n`;
const path = (file: number): string => `src/f${file}.txt`;

/** Puts a line of its own between two halves of a file, which stay apart. */
function insert(codebase: Codebase, file: number, line: string, isUpper: boolean): void {
  const lines = codebase.read(path(file)).split('\n');
  const at = isUpper ? 1 : lines.length - 2;
  codebase.write({ [path(file)]: [...lines.slice(0, at), line, ...lines.slice(at)].join('\n') });
}

/** Makes upstream's history. Returns, for each commit, the lines that it has brought so far. */
function writeUpstream(
  upstream: Codebase,
  commits: Drawn['upstream'],
): readonly (readonly string[])[] {
  const lines: string[] = [];
  return commits.map(({ file, isTagged, isNewFile }, at) => {
    const line = `upstream ${at}`;
    if (isNewFile) upstream.write({ [`src/up${at}.txt`]: `${line}\n` });
    else insert(upstream, file, line, true);
    upstream.write({ 'package.json': versioned(`1.${at + 1}.0`) });
    commitAll(upstream, line);
    upstream.git('tag', `at-${at}-of-the-test`);
    if (isTagged) upstream.git('tag', `v1.${at + 1}.0`);
    lines.push(line);
    return [...lines];
  });
}

/** Does one thing of the owner's. Returns the line that must stay from then on, or null. */
function act(codebase: Codebase, { kind, file }: Drawn['own'][number], at: string): string | null {
  const line = `own ${at}`;
  if (kind === 'edit') insert(codebase, file, line, false);
  else if (kind === 'file')
    codebase.write({ [`src/own${at.replaceAll(' ', '-')}.txt`]: `${line}\n` });
  else if (kind === 'mark') codebase.git('tag', `pre-update-${at.replaceAll(' ', '-')}`);
  else if (kind === 'version') codebase.git('tag', `v0.${at.replaceAll(/\D/g, '')}.1`);
  else if (kind === 'merge')
    codebase.git('merge', '--quiet', '--no-edit', '-X', 'ours', 'origin/main~1');
  else {
    // git does not know afterwards that upstream's lines are upstream's.
    codebase.git('merge', '--quiet', '--squash', '-X', 'ours', 'origin/main~1');
    commitAll(codebase, 'squashed');
  }
  if (kind !== 'edit' && kind !== 'file') return null;
  commitAll(codebase, line);
  return line;
}

/** Adopts in one of the ways. All that was committed is recorded, and composes to the very tree that is there. */
async function adopt(codebase: Codebase, way: string): Promise<void> {
  const { code, json } = await codebase.claw(...way.split(' '));
  expect([code, json.error]).toEqual([0, null]);
  const status = await codebase.claw('status');
  expect(status.json.data).toMatchObject({ edits: [] });
  expect(await codebase.claw('verify')).toMatchObject({ code: 0 });
}

function textOf(codebase: Codebase): string {
  const files = Object.entries(codebase.tree()).filter(([name]) => name.startsWith('src/'));
  return files.map(([, content]) => String(content)).join('\n');
}

test('no line that the owner has committed since the histories parted goes without a conflict', async () => {
  await fc.assert(
    fc.asyncProperty(Case, async (drawn) => {
      await using upstream = temporaryCodebase({
        'package.json': versioned('1.0.0'),
        ...Object.fromEntries(Array.from({ length: FILES }, (_, file) => [path(file), START])),
      });
      upstream.git('init', '--quiet', '--initial-branch=main');
      commitAll(upstream, 'start');
      const brought = writeUpstream(upstream, drawn.upstream);
      const fork = drawn.fork % brought.length;
      await using codebase = openCodebase(
        realpathSync(mkdtempSync(join(tmpdir(), 'claw-codebase-'))),
      );
      codebase.git('clone', '--quiet', upstream.root, '.');
      codebase.git('reset', '--quiet', '--hard', `at-${fork}-of-the-test`);
      const own = drawn.own.flatMap((one, at) => act(codebase, one, `before ${at}`) ?? []);

      const release = drawn.init === 'fork' ? `at-${fork}-of-the-test` : drawn.init;
      if (drawn.isPushed) codebase.git('update-ref', 'refs/remotes/origin/mine', 'HEAD');
      const entry = textOf(codebase);
      if (drawn.init === 'plain') await codebase.claw('init');
      else if (drawn.init.startsWith('adopt')) await adopt(codebase, drawn.init);
      else if (drawn.init !== 'none') await codebase.claw('init', '--release', release);
      expect(textOf(codebase)).toBe(entry);
      for (const [at, target] of drawn.targets.entries()) {
        // Later ones go forward: going back takes out what came with an update since, at the owner's word.
        const isBack = drawn.isBack && at === 0;
        const wanted = isBack ? target % (fork + 1) : fork + (target % (brought.length - fork));
        const before = textOf(codebase);
        const { code, json } = await codebase.claw('--yes', 'update', `at-${wanted}-of-the-test`);
        const after = textOf(codebase);
        if (code !== 0) expect(after).toBe(before);
        expect(own.filter((line) => !after.includes(line))).toEqual([]);
        if (code === 0 && json.error === null && at === 0 && !isBack) {
          const missing = (brought[wanted] ?? []).filter((line) => !after.includes(line));
          expect(missing).toEqual([]);
        }
        own.push(
          ...drawn.own
            .slice(0, 1)
            .flatMap((one) => act(codebase, { ...one, kind: 'edit' }, `after ${at}`) ?? []),
        );
        if (drawn.isCommitted) commitAll(codebase, 'the update');
      }
    }),
    { numRuns: RUNS },
  );
});
