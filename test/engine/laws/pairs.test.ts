import * as fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as engine from '../../../packages/claw/src/index.ts';
import { contextAt } from './call.ts';
import { deeds } from './deeds.ts';
import { filesOf, layOut, layOutSkill, temporaryFolder } from './disk.ts';
import { Trial } from './trial.ts';
import { NAMES, type World, world } from './world.ts';

const RUNS = Math.ceil(Number(process.env['CLAW_RUNS'] ?? 800) / 20);
const names = fc.subarray([...NAMES], { minLength: 2 });

/** A codebase with all packages on offer and nothing applied. */
function laidOut({ core, skills }: World, folder: string): engine.EngineContext {
  fs.mkdirSync(folder);
  layOut(folder, new Map(), core.docs);
  for (const { versions } of skills) layOutSkill(folder, versions[0]);
  return contextAt(folder);
}

/** Everything but the moments at which layers came. */
function stateOf({ root }: engine.EngineContext): string {
  const text = fs.readFileSync(join(root, '.claw/state.yaml'), 'utf8');
  return text.replaceAll(/^ *"?installed"?:.*$/gm, '');
}

test('whatever skills go together give one tree and one state, in whatever order they come', async () => {
  let together = 0;
  const property = fc.asyncProperty(world, names, fc.nat(5), async (one, wanted, turn) => {
    const folder = temporaryFolder();
    try {
      const first = laidOut(one, join(folder, 'first'));
      const at = turn % wanted.length;
      for (const name of [...wanted.slice(at), ...wanted.slice(0, at)]) {
        if ((await engine.apply(first, [name])).outcome === 'blocked') return;
      }
      const second = laidOut(one, join(folder, 'second'));
      for (const name of wanted.toReversed()) {
        expect((await engine.apply(second, [name])).outcome).toBe('done');
      }
      const third = laidOut(one, join(folder, 'third'));
      expect((await engine.apply(third, wanted)).outcome).toBe('done');
      for (const other of [second, third]) {
        expect(filesOf(other.root)).toEqual(filesOf(first.root));
        expect(stateOf(other)).toBe(stateOf(first));
      }
      together += 1;
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });
  await fc.assert(property, { numRuns: RUNS, seed: Number(process.env['CLAW_SEED'] ?? 1) });
  expect(together).toBeGreaterThan(RUNS / 10);
}, 900_000);

test('what is applied and taken out again leaves tree and state as they were, to the byte', async () => {
  let applied = 0;
  const property = fc.asyncProperty(
    world,
    deeds,
    fc.constantFrom(...NAMES),
    async (one, sequence, name) => {
      const trial = new Trial(one, null, async () => false);
      await trial.run(sequence, async (root) => {
        const context = contextAt(root);
        const { data } = await engine.list(context, { available: false });
        if (JSON.stringify(data).includes(`"${name}"`)) return;
        await engine.abort(context);
        // An edit that says what the skill says as well counts once, and goes with it; a recorded one stays.
        await engine.customize(context, 'the rest');
        const before = [filesOf(root), stateOf(context)];
        if ((await engine.apply(context, [name])).outcome !== 'done') return;
        expect((await engine.remove(context, [name])).outcome).toBe('done');
        expect([filesOf(root), stateOf(context)]).toEqual(before);
        applied += 1;
      });
    },
  );
  await fc.assert(property, { numRuns: RUNS, seed: Number(process.env['CLAW_SEED'] ?? 1) });
  expect(applied).toBeGreaterThan(RUNS / 10);
}, 900_000);
