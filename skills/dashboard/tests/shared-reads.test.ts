import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LiveEvent, Watch } from '../../../src/host/contracts/live-event.ts';
import type { ServiceContext } from '../../../src/host/contracts/service.ts';
import { withSharedReads } from '../../../src/services/dashboard/shared-reads.ts';
import { isIdle } from '../../../src/testing/turn/tasks.ts';
import { serveDashboard } from './assistant.ts';

type Result = Awaited<ReturnType<ServiceContext['readClaw']>>;

/** An engine that answers when the test says so. */
function heldEngine() {
  const begun: { readonly args: string; readonly end: (over?: Partial<Result>) => void }[] = [];
  let time = 0;
  let tell: (event: LiveEvent) => void = () => {};
  const readClaw: ServiceContext['readClaw'] = (args) => {
    const { promise, resolve } = Promise.withResolvers<Result>();
    const nothing = { data: begun.length, changes: [], conflicts: [], warnings: [], error: null };
    const done = { ok: true, outcome: 'done', exitCode: 0, ...nothing } as Result;
    begun.push({ args: args.join(' '), end: (over) => resolve({ ...done, ...over }) });
    return promise;
  };
  const watch: Watch = (listener) => {
    tell = listener;
    return () => {};
  };
  const parts = { readClaw, watch, now: () => time };
  const { readClaw: read } = withSharedReads(parts as unknown as ServiceContext);
  return {
    begun,
    read,
    pass(ms: number) {
      time += ms;
    },
    ended: () => tell({ kind: 'ended' } as LiveEvent),
  };
}

/** Lets everything run that waits for nothing but its turn. */
const settled = () => new Promise((done) => setImmediate(done));

test('the same question is asked once for all, and its answer is shared for seconds, or until something has ended', async () => {
  const { begun, read, pass, ended } = heldEngine();
  const asked = Array.from({ length: 200 }, () => read(['doctor', '--offline']));
  await settled();
  expect(begun).toHaveLength(1);
  begun[0]?.end();
  expect(new Set((await Promise.all(asked)).map(({ data }) => data))).toEqual(new Set([0]));
  pass(4_000);
  expect((await read(['doctor', '--offline'])).data).toBe(0);
  pass(1_000);
  void read(['doctor', '--offline']);
  await settled();
  expect(begun).toHaveLength(2);
  // A command that ends meanwhile may have changed what this answer tells.
  ended();
  void read(['doctor', '--offline']);
  begun[1]?.end();
  await settled();
  expect(begun).toHaveLength(3);
  // An engine that is busy has told nothing.
  begun[2]?.end({ error: { code: 'BUSY', message: '' } });
  await settled();
  void read(['doctor', '--offline']);
  await settled();
  expect(begun).toHaveLength(4);
});

test('different questions wait for each other, and no more than a few wait', async () => {
  const { begun, read } = heldEngine();
  const asked = Array.from({ length: 16 }, (_, at) => read(['why', `${at}.ts`]));
  await expect(read(['why', 'one-more.ts'])).rejects.toThrow('Too many pages ask at once');
  // The refusal is no answer to keep.
  await expect(read(['why', 'one-more.ts'])).rejects.toThrow('Too many pages ask at once');
  for (let at = 0; at < 16; at += 1) {
    await settled();
    expect(begun.map(({ args }) => args)).toEqual(
      Array.from({ length: at + 1 }, (_, one) => `why ${one}.ts`),
    );
    begun[at]?.end();
  }
  expect((await Promise.all(asked)).map(({ data }) => data)).toEqual(asked.map((_, at) => at));
});

test('a browser that only reads is shown an answer again for some seconds, and the owner asks anew', async () => {
  // The clock stands, so a slow machine takes no longer.
  const time = Date.now();
  await using served = await serveDashboard(undefined, '', { now: () => time });
  const [reader, owner] = [await served.enter('read'), await served.enter()];
  await isIdle(served);
  const plan = async (headers: typeof reader) =>
    (await served.ask('/api/code/plan?verb=apply&name=dice', { headers })).text;
  const [first, ...same] = await Promise.all(Array.from({ length: 40 }, () => plan(reader)));
  expect(first).toContain('sides = 6');
  expect(new Set(same)).toEqual(new Set([first]));
  writeFileSync(
    join(served.project.dir, 'skills/dice/add/src/dice.ts'),
    'export const sides = 20;\n',
  );
  expect(await plan(reader)).toBe(first);
  expect(await plan(owner)).toContain('sides = 20');
});
