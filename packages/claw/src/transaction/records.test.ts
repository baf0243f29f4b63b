import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commitSteps } from './commit.ts';
import { dropTransaction, listTransactions, readTransaction } from './records.ts';
import { recover, rollBack } from './recover.js';
import { temporaryFolder } from './testing/folder.ts';
import { everyKind, layOutBefore, snapshot } from './testing/scenario.ts';

test('a record holds every byte that was replaced and written', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOutBefore(root);
  const now = () => new Date('2026-11-21T08:00:00Z');
  const { id } = commitSteps(root, everyKind(root), { now });
  expect(listTransactions(root)).toMatchObject([
    { id, verb: 'apply', committedAt: '2026-11-21T08:00:00.000Z' },
  ]);
  const transaction = readTransaction(root, id);
  const file = (path: string) => {
    const found = transaction.files.find((one) => one.path === path);
    return [found?.before?.bytes.toString() ?? null, found?.after?.bytes.toString() ?? null];
  };
  expect(file('src/a.ts')).toEqual(['one\n', 'two\n']);
  expect(file('src/new/run.sh')).toEqual([null, 'run\n']);
  expect(file('src/gone/only.ts')).toEqual(['alone in its folder\n', null]);
  expect(file('.claw/state.yaml')).toEqual(['state: before\n', 'state: after\n']);
  expect(transaction.files.find(({ path }) => path === 'src/mode.sh')).toMatchObject({
    before: { isExecutable: false },
    after: { isExecutable: true },
  });
  const [packages, base] = transaction.swaps;
  expect(base).toEqual({ path: '.claw/base', hadFolder: false, kept: null });
  expect(packages?.path).toBe('node_modules');
  const kept = join(root, packages?.kept ?? '', 'pkg/index.js');
  expect(fs.readFileSync(kept, 'utf8')).toBe('old package\n');
});

test('the written bytes are kept apart from the file that the owner edits in place', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOutBefore(root);
  const { id } = commitSteps(root, everyKind(root));
  fs.appendFileSync(join(root, 'src/a.ts'), 'an edit\n');
  const file = readTransaction(root, id).files.find(({ path }) => path === 'src/a.ts');
  expect(file?.after?.bytes.toString()).toBe('two\n');
});

test('kept bytes that were altered are not handed out', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOutBefore(root);
  const { id } = commitSteps(root, everyKind(root));
  for (const name of fs.readdirSync(join(root, '.claw/backup', id, 'before'))) {
    fs.appendFileSync(join(root, '.claw/backup', id, 'before', name), 'x');
  }
  expect(() => readTransaction(root, id)).toThrow(
    expect.objectContaining({ code: 'DIGEST_MISMATCH' }),
  );
});

test('a dropped transaction is gone', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOutBefore(root);
  const { id } = commitSteps(root, everyKind(root));
  dropTransaction(root, id);
  expect(listTransactions(root)).toEqual([]);
  expect(() => readTransaction(root, id)).toThrow(
    expect.objectContaining({ code: 'NOTHING_TO_UNDO' }),
  );
});

test('a rollback puts back every byte and mode', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOutBefore(root);
  const before = snapshot(root);
  const { id } = commitSteps(root, everyKind(root));
  expect(rollBack(root, id)).toEqual({ outcome: 'rolled-back', differs: [] });
  expect(snapshot(root)).toEqual(before);
  expect(listTransactions(root)).toEqual([]);
});

test('a rollback that meets an edit does nothing and names the file', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOutBefore(root);
  const { id } = commitSteps(root, everyKind(root));
  fs.appendFileSync(join(root, 'src/a.ts'), 'an edit\n');
  const edited = snapshot(root);
  expect(rollBack(root, id)).toEqual({ outcome: 'refused', differs: ['src/a.ts'] });
  expect(snapshot(root)).toEqual(edited);
});

test('only the newest transaction can be rolled back', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOutBefore(root);
  const first = commitSteps(root, everyKind(root));
  commitSteps(root, {
    verb: 'customize',
    summary: 'one more',
    stateBefore: null,
    stateAfter: null,
    steps: [
      {
        kind: 'write',
        path: 'later.ts',
        bytes: Buffer.from('x'),
        isExecutable: false,
        before: null,
      },
    ],
  });
  expect(rollBack(root, first.id).outcome).toBe('refused');
});

test('a rollback that was killed goes on going back', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOutBefore(root);
  const before = snapshot(root);
  const { id } = commitSteps(root, everyKind(root));
  // The state that a kill right after its first rename leaves.
  fs.mkdirSync(join(root, '.claw/tx', id));
  const record = join(root, '.claw/backup', id, 'record.json');
  fs.renameSync(record, join(root, '.claw/tx', id, 'rollback.json'));
  expect(recover(root).outcome).toBe('rolled-back');
  expect(snapshot(root)).toEqual(before);
});
