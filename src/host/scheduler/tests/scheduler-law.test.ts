import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openScheduler } from '../../../services/scheduler.ts';
import { openStore } from '../../../store/store.ts';
import { TestClock } from '../../../testing/clock.ts';
import { openDueTasks } from '../due-tasks.ts';
import { readSchedule } from '../schedule.ts';

const MINUTE = 60_000;
const SCHEDULES = [
  { kind: 'cron', text: '30 2 * * *' },
  { kind: 'cron', text: '40 */5 * * *' },
  { kind: 'cron', text: '0 */3 * * 1-5' },
  { kind: 'every', text: '5 hours' },
] as const;

/** Events of an installation: time passes, its clock is set or its machine sleeps, it restarts. */
const step = fc.oneof(
  fc.record({ kind: fc.constant('pass' as const), minutes: fc.integer({ min: 1, max: 2_000 }) }),
  fc.record({
    kind: fc.constant('set' as const),
    minutes: fc.integer({ min: -240, max: -1 }),
  }),
  fc.record({ kind: fc.constant('set' as const), minutes: fc.integer({ min: 1, max: 4_000 }) }),
  fc.record({
    kind: fc.constant('restart' as const),
    minutes: fc.integer({ min: -120, max: 3_000 }),
  }),
);

test('whatever happens to clock and process, no time is fired twice, and the next one comes', () => {
  const law = fc.property(
    fc.constantFrom(...SCHEDULES),
    fc.constantFrom('Europe/Berlin', 'Australia/Lord_Howe', 'America/Santiago'),
    fc.constantFrom('2026-03-28T12:00:00Z', '2026-04-04T12:00:00Z', '2026-10-24T12:00:00Z'),
    fc.array(step, { minLength: 2, maxLength: 6 }),
    (written, timeZone, start, steps) => {
      const schedule = (now: number) => readSchedule({ ...written, timeZone }, now);
      const { fired, firedInTheEnd } = live({ schedule, start, steps });
      expect(new Set(fired).size).toBe(fired.length);
      expect(fired).toEqual(fired.toSorted((one, other) => one - other));
      expect(firedInTheEnd).toBe(true);
    },
  );
  fc.assert(law, { numRuns: 30 });
});

type Life = {
  readonly schedule: (now: number) => ReturnType<typeof readSchedule>;
  readonly start: string;
  readonly steps: readonly { kind: 'pass' | 'set' | 'restart'; minutes: number }[];
};

/** Goes through the steps, and then through four quiet days. Returns the times that were fired. */
function live({ schedule, start, steps }: Life) {
  const folder = mkdtempSync(join(tmpdir(), 'claw-law-'));
  const clock = new TestClock(start);
  const moved = (minutes: number) => new Date(clock.now() + minutes * MINUTE).toISOString();
  let store = openStore({ path: join(folder, 'claw.db'), now: clock.now() });
  let changed = (): void => {};
  let scheduler = begin();
  const jid = 'chat:a';
  store.chats.see({ jid, channel: 'chat', name: 'A', isDirect: true }, 1);
  const group = { jid, folder: 'a', name: 'A', triggerWord: null, needsTrigger: false };
  store.groups.register({ ...group, isMain: false }, 1);
  const anchored = schedule(clock.now());
  const task = { prompt: 'x', context: 'isolated', ifMissed: 'run-once', createdBy: 'a' } as const;
  store.tasks.add({ ...task, folder: 'a', schedule: anchored, nextRun: clock.now() + MINUTE }, 1);
  changed();

  function begin() {
    // Every turn has ended when the next one is due: here it matters only when it began.
    Object.assign(store.taskRuns, { isOpen: () => false });
    const options = {
      store,
      now: clock.now,
      setTimer: clock.setTimer,
      newId: randomUUID,
      log: { info() {}, warn() {}, error() {} },
      onFired() {},
      onBroken() {},
    };
    const dueTasks = openDueTasks(options);
    changed = dueTasks.changed;
    const opened = openScheduler({ ...options, dueTasks });
    opened.start();
    return opened;
  }

  function restart(minutes: number): void {
    scheduler.stop();
    store.close();
    clock.moveTo(moved(minutes));
    store = openStore({ path: join(folder, 'claw.db'), now: clock.now() });
    scheduler = begin();
  }

  const fired = (): number[] =>
    store.taskRuns
      .last(1, 100)
      .map(({ dueAt }) => dueAt)
      .toReversed();
  try {
    for (const { kind, minutes } of steps) {
      if (kind === 'pass') clock.pass(minutes * MINUTE);
      else if (kind === 'restart') restart(minutes);
      else clock.moveTo(moved(minutes));
    }
    const before = fired().at(-1) ?? 0;
    clock.pass(4 * 1_440 * MINUTE);
    return { fired: fired(), firedInTheEnd: (fired().at(-1) ?? 0) > before };
  } finally {
    scheduler.stop();
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
