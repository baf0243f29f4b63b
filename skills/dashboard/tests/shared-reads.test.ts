import { expect, test } from 'vitest';
import type { LiveEvent, Watch } from '../../../src/host/contracts/live-event.ts';
import type { ServiceContext } from '../../../src/host/contracts/service.ts';
import { withSharedReads } from '../../../src/services/dashboard/shared-reads.ts';
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
    pass: (ms: number) => void (time += ms),
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

test('a browser that only reads gets few answers of many, and the owner one meanwhile', async () => {
  await using served = await serveDashboard();
  const [reader, owner] = [await served.enter('read'), await served.enter()];
  const many = Array.from({ length: 40 }, (_, at) =>
    served.ask(`/api/code/plan?verb=apply&name=skill-${at}`, { headers: reader }),
  );
  const plan = await served.ask('/api/code/plan?verb=apply&name=dice', { headers: owner });
  expect(plan.status).toBe(200);
  const refused = (await Promise.all(many)).filter(({ status }) => status === 400);
  expect(refused.length).toBeGreaterThanOrEqual(40 - 17);
  expect(refused[0]?.text).toContain('Too many pages ask at once');
});
