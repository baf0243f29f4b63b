import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as engine from '../../src/engine/index.ts';
import { addSkill, type Codebase, openCodebase } from '../../src/testing/codebase.ts';
import { contextOf } from './in-process.ts';

const TEXT = Array.from({ length: 12 }, (_, n) => `line ${n}\n`).join('');
const CORE = { 'a.txt': TEXT, 'b/c.txt': TEXT };
const NAMES = ['alpha', 'beta', 'gamma', 'mover'] as const;

/** Each skill changes a line of its own in both files and adds one file; the last one moves a file. */
function addSkills(codebase: Codebase): void {
  for (const [n, name] of NAMES.slice(0, 3).entries()) {
    const changed = TEXT.replace(`line ${3 * n + 1}\n`, `${name}\n`);
    addSkill(codebase, name, {
      core: '0.0.1',
      add: { [`${name}/new.txt`]: TEXT },
      modify: { 'a.txt': [TEXT, changed], 'b/c.txt': [TEXT, changed] },
    });
  }
  addSkill(codebase, 'mover', {
    core: '0.0.1',
    base: { 'b/c.txt': TEXT },
    manifest: { file_ops: [{ type: 'move', from: 'b/c.txt', to: 'd/e/f.txt' }] },
  });
}

/** What the tree has to be: a function of which skills are in, and of the owner's edits. */
function expected(applied: ReadonlySet<string>, edits: ReadonlyMap<string, string>) {
  const edit = (file: string, text: string) => text.replace('line 11\n', edits.get(file) ?? '$&');
  let changed = TEXT;
  for (const [n, name] of NAMES.slice(0, 3).entries()) {
    if (applied.has(name)) changed = changed.replace(`line ${3 * n + 1}\n`, `${name}\n`);
  }
  const added = [...applied].filter((name) => name !== 'mover');
  return {
    'a.txt': edit('a', changed),
    [applied.has('mover') ? 'd/e/f.txt' : 'b/c.txt']: edit('c', changed),
    ...Object.fromEntries(added.map((name) => [`${name}/new.txt`, TEXT])),
    ...(edits.has('own') ? { 'own.txt': edits.get('own') } : {}),
  };
}

type Deed =
  | { readonly kind: 'apply' | 'remove'; readonly names: readonly string[] }
  | { readonly kind: 'undo' | 'replay' }
  | { readonly kind: 'edit'; readonly file: 'a' | 'c' | 'own'; readonly text: string };

const names = fc.subarray([...NAMES], { minLength: 1 });
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('apply' as const), names }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('remove' as const), names }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'undo' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'replay' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      file: fc.constantFrom('a' as const, 'c' as const, 'own' as const),
      text: fc.constantFrom('mine\n', 'mine\nand more\n', 'line 11\n', 'no end'),
    }),
  },
);

test('after any sequence of verbs and edits the tree is the composition and the edits', async () => {
  const property = fc.asyncProperty(fc.array(deed, { maxLength: 8 }), async (deeds) => {
    await using codebase = plainFolder();
    const context = contextOf(codebase);
    let applied = new Set<string>();
    const past: Set<string>[] = [];
    const edits = new Map<string, string>();
    for (const one of deeds) {
      if (one.kind === 'edit') {
        edits.set(one.file, one.text);
        write(codebase, expected(applied, edits));
        continue;
      }
      const next = after(one, applied, past.at(-1));
      const result = await carryOut(context, one, applied);
      if (result === null || isEditOnMovedFile(one, result)) continue;
      expect(result.outcome === 'done' || result.outcome === 'nothing', result.outcome).toBe(true);
      if (one.kind === 'undo') past.pop();
      else if (result.outcome === 'done' && one.kind !== 'replay') past.push(applied);
      applied = next;
      expect(textsOf(codebase)).toEqual(expected(applied, edits));
    }
    if (applied.size > 0) await engine.remove(context, [...applied]);
    expect(textsOf(codebase)).toEqual(expected(new Set(), edits));
  });
  await fc.assert(property, { numRuns: Number(process.env['CLAW_RUNS'] ?? 80) });
}, 120_000);

function after(one: Deed, applied: ReadonlySet<string>, before: Set<string> | undefined) {
  if (one.kind === 'apply') return new Set([...applied, ...one.names]);
  if (one.kind === 'remove')
    return new Set([...applied].filter((name) => !one.names.includes(name)));
  return new Set(one.kind === 'undo' ? before : applied);
}

/** Null where the verb has to refuse, and did. */
async function carryOut(
  context: engine.EngineContext,
  one: Exclude<Deed, { kind: 'edit' }>,
  applied: ReadonlySet<string>,
): Promise<engine.VerbResult | null> {
  try {
    if (one.kind === 'apply') return await engine.apply(context, one.names);
    if (one.kind === 'remove') {
      const there = one.names.filter((name) => applied.has(name));
      return there.length === 0 ? null : await engine.remove(context, there);
    }
    return one.kind === 'undo' ? await engine.undo(context) : await engine.replay(context);
  } catch (error) {
    const code = error instanceof engine.ClawError ? error.code : null;
    const isFitting = code === 'NOTHING_TO_UNDO' || code === 'NOT_INITIALISED';
    if (!isFitting) throw error;
    return null;
  }
}

// Undo goes path by path: an edit of a file that it would move back is a conflict, not a loss.
function isEditOnMovedFile({ kind }: Deed, { outcome, conflicts }: engine.VerbResult): boolean {
  const moved = ['b/c.txt', 'd/e/f.txt'];
  return kind === 'undo' && outcome === 'blocked' && moved.includes(conflicts[0]?.path ?? '');
}

function plainFolder(): Codebase {
  const codebase = openCodebase(mkdtempSync(join(tmpdir(), 'claw-laws-')));
  codebase.write(CORE);
  addSkills(codebase);
  return codebase;
}

function write(codebase: Codebase, files: Readonly<Record<string, string | undefined>>): void {
  for (const [path, text] of Object.entries(files)) {
    if (text !== undefined) codebase.write({ [path]: text });
  }
}

function textsOf(codebase: Codebase): Readonly<Record<string, string>> {
  const files = Object.entries(codebase.tree()).filter(([path]) => !path.startsWith('skills/'));
  return Object.fromEntries(files.filter(([path]) => !path.endsWith('/')));
}
