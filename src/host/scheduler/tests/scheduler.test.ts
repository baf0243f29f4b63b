import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openScheduler, type Scheduler } from '../../../services/scheduler.ts';
import { openStore, type Store, type Task } from '../../../store/store.ts';
import { TestClock } from '../../../testing/clock.ts';
import { openDueTasks } from '../due-tasks.ts';
import { openTaskBook, type TaskBook, type TaskFields } from '../task-book.ts';

const JID = 'chat:family';
const START = '2026-11-21T12:00:00Z';
let folder: string;
let clock: TestClock;
let store: Store;
let dueTasks: ReturnType<typeof openDueTasks>;
let scheduler: Scheduler;
let book: TaskBook;
let broken: string[];
let errors: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'claw-scheduler-'));
  clock = new TestClock(START);
  open();
  register();
  scheduler.start();
});

afterEach(() => {
  close();
  rmSync(folder, { recursive: true, force: true });
});

function open(): void {
  store = openStore({ path: join(folder, 'claw.db'), now: clock.now() });
  broken = [];
  errors = [];
  const options = {
    store,
    now: clock.now,
    setTimer: clock.setTimer,
    newId: randomUUID,
    timeZone: 'UTC',
    log: { info() {}, warn() {}, error: (message: string) => void errors.push(message) },
    onFired: () => {},
    onBroken: (_task: Task, reason: string) => void broken.push(reason),
  };
  dueTasks = openDueTasks(options);
  scheduler = openScheduler({ ...options, dueTasks });
  book = openTaskBook({ ...options, onChanged: dueTasks.changed });
}

function close(): void {
  scheduler.stop();
  store.close();
}

/** Ends the process and starts another at that moment. */
function downUntil(moment: string): void {
  close();
  clock.moveTo(moment);
  open();
  scheduler.start();
}

function register(): void {
  store.chats.see({ jid: JID, channel: 'chat', name: 'Family', isDirect: false }, clock.now());
  const group = { jid: JID, folder: 'family', name: 'Family', isMain: false };
  store.groups.register({ ...group, needsTrigger: true, triggerWord: null }, clock.now());
}

function schedule(kind: TaskFields['kind'], text: string, over: Partial<TaskFields> = {}): Task {
  const group = store.groups.byFolder('family');
  if (group === null) throw new Error('not registered');
  return book.schedule({ prompt: 'x', kind, schedule: text, ...over }, group, 'main');
}

/** Ends every turn that waits, so that the next run of its task is not held back. */
function work(): number {
  let count = 0;
  for (;;) {
    const turn = store.turns.claimNext('agent', { owner: 'p', until: clock.now() + 1_000 });
    if (turn === null) return count;
    count += 1;
    const { id, jid } = turn;
    const run = { outcome: 'answered' as const, summary: 'done' };
    const end = { id, jid, owner: 'p', state: 'answered' as const, error: null };
    store.finishTurn({ ...end, messages: [], session: null, question: null, run }, clock.now());
  }
}

/** The times at which a task was due and what came of each, oldest first. */
function log(task: Task): string[] {
  return store.taskRuns
    .last(task.id, 100)
    .map(({ dueAt, outcome, summary }) => {
      const time = new Date(dueAt).toISOString().slice(8, 16);
      return outcome === 'skipped' ? `${time} ${summary}` : time;
    })
    .toReversed();
}

test('a task is due at each of its times, and done after the last', () => {
  const daily = schedule('cron', '30 12 * * *');
  const once = schedule('at', '2026-11-21T12:45');
  clock.passTo('2026-11-21T12:29:59Z');
  expect(work()).toBe(0);
  clock.passTo('2026-11-21T12:30:00Z');
  expect(work()).toBe(1);
  clock.passTo('2026-11-22T23:00:00Z');
  work();
  expect(log(daily)).toEqual(['21T12:30', '22T12:30']);
  expect(log(once)).toEqual(['21T12:45']);
  expect(store.tasks.byId(once.id)).toMatchObject({ state: 'done', nextRun: null });
});

test('one timer waits for the next of all tasks, and none when nothing is due', () => {
  expect(clock.timers).toBe(0);
  const far = schedule('cron', '0 0 1 1 *');
  const near = schedule('every', '10 minutes');
  expect(clock.timers).toBe(1);
  book.cancel(near);
  expect(clock.timers).toBe(1);
  book.pause(far);
  expect(clock.timers).toBe(0);
});

test('while it waits it looks at the clock alone, a minute at most, and at no database', () => {
  schedule('at', '2027-03-01T00:00');
  const fail = () => {
    throw new Error('the database was read');
  };
  Object.assign(store, { tasks: { ...store.tasks, due: fail, nextDue: fail }, transaction: fail });
  clock.delays.length = 0;
  clock.pass(3 * 3_600_000);
  expect(errors).toEqual([]);
  expect(clock.delays).toHaveLength(180);
  expect(new Set(clock.delays)).toEqual(new Set([60_000]));
});

test('a time that lies further ahead than a timer can wait comes when it is due', () => {
  const task = schedule('at', '2027-01-15T08:00');
  clock.passTo('2027-01-15T07:59:59Z');
  expect(log(task)).toEqual([]);
  clock.passTo('2027-01-15T08:00:00Z');
  expect(log(task)).toEqual(['15T08:00']);
});

test('an interval does not drift, however late the runs begin', () => {
  const task = schedule('every', '10 minutes');
  for (let minute = 0; minute < 60; minute += 10) {
    clock.pass(10 * 60_000 + 3_000);
    work();
  }
  expect(log(task)).toEqual([
    '21T12:10',
    '21T12:20',
    '21T12:30',
    '21T12:40',
    '21T12:50',
    '21T13:00',
  ]);
});

test('times that passed while the assistant was down come once, late', () => {
  const task = schedule('every', '10 minutes');
  downUntil('2026-11-21T15:04:00Z');
  expect(work()).toBe(1);
  clock.pass(6 * 60_000);
  work();
  expect(log(task)).toEqual(['21T12:10', '21T15:10']);
});

test('a task that skips what it missed goes on with the next time', () => {
  const task = schedule('every', '10 minutes', { ifMissed: 'skip' });
  const once = schedule('at', '2026-11-21T13:00', { ifMissed: 'skip' });
  downUntil('2026-11-21T15:04:00Z');
  expect(work()).toBe(0);
  clock.pass(6 * 60_000);
  work();
  expect(log(task)).toEqual(['21T12:10 missed', '21T15:10']);
  expect(log(once)).toEqual(['21T13:00 missed']);
  expect(store.tasks.byId(once.id)?.state).toBe('done');
});

test('a restart around the time it is due is no miss', () => {
  const task = schedule('cron', '30 12 * * *', { ifMissed: 'skip' });
  downUntil('2026-11-21T12:30:40Z');
  expect(log(task)).toEqual(['21T12:30']);
});

test('a machine that slept past the time notices within a minute', () => {
  const task = schedule('cron', '0 14 * * *');
  clock.pass(30_000);
  clock.moveTo('2026-11-21T16:00:00Z');
  clock.pass(60_000);
  expect(log(task)).toEqual(['21T14:00']);
  work();
  clock.passTo('2026-11-22T14:00:00Z');
  expect(log(task)).toEqual(['21T14:00', '22T14:00']);
});

test('a clock that is set back by an hour repeats nothing', () => {
  const task = schedule('cron', '*/30 12-14 * * *');
  clock.passTo('2026-11-21T12:45:00Z');
  work();
  clock.passTo('2026-11-21T13:10:00Z');
  work();
  clock.moveTo('2026-11-21T12:10:00Z');
  clock.passTo('2026-11-21T13:29:00Z');
  expect(work()).toBe(0);
  clock.passTo('2026-11-21T13:31:00Z');
  expect(log(task)).toEqual(['21T12:30', '21T13:00', '21T13:30']);
});

test('a clock that was wrong by years and is put right does not hold a task back', () => {
  const task = schedule('every', 'hour');
  clock.moveTo('2036-01-01T00:30:00Z');
  clock.pass(2 * 3_600_000);
  work();
  clock.moveTo('2026-11-21T14:20:00Z');
  clock.pass(2 * 60_000);
  expect(store.tasks.byId(task.id)?.nextRun).toBe(Date.parse('2026-11-21T15:00:00Z'));
  downUntil('2026-11-21T15:00:10Z');
  expect(work()).toBe(1);
});

test('a run that has not ended holds back the next one, which is noted', () => {
  const task = schedule('every', '10 minutes');
  clock.pass(20 * 60_000);
  expect(log(task)).toEqual(['21T12:10', '21T12:20 the run before it had not ended']);
  expect(work()).toBe(1);
  clock.pass(10 * 60_000);
  expect(work()).toBe(1);
});

test('if two processes look at the same time, only one runs the task', () => {
  const task = schedule('at', '2026-11-21T12:30');
  const other = openStore({ path: join(folder, 'claw.db'), now: clock.now() });
  // The other has read what is due, and comes to claim it when the first has.
  clock.moveTo('2026-11-21T12:30:00Z');
  const seen = other.tasks.due(clock.now());
  expect(seen).toHaveLength(1);
  Object.assign(other.tasks, { due: () => seen });
  dueTasks.changed();
  const options = {
    store: other,
    now: clock.now,
    setTimer: () => () => {},
    newId: randomUUID,
    log: { info() {}, warn() {}, error() {} },
    onFired: () => {
      throw new Error('fired twice');
    },
    onBroken: () => {},
  };
  const second = openScheduler({ ...options, dueTasks: openDueTasks(options) });
  second.start();
  other.close();
  expect(log(task)).toEqual(['21T12:30']);
  expect(work()).toBe(1);
});

test('a task of a chat that is not registered waits for it to be back', () => {
  const task = schedule('every', '10 minutes');
  clock.pass(10 * 60_000);
  store.groups.unregister(JID);
  clock.pass(10 * 60_000);
  register();
  clock.pass(10 * 60_000);
  expect(log(task)).toEqual([
    '21T12:10 the chat was unregistered',
    '21T12:20 the chat is not registered',
    '21T12:30',
  ]);
});

test('a task goes with the folder that it belongs to', () => {
  const task = schedule('every', '10 minutes');
  clock.pass(10 * 60_000);
  store.removeGroup(JID);
  expect(store.tasks.byId(task.id)).toBeNull();
  expect(log(task)).toEqual([]);
});

test('a schedule that cannot be read any more is paused and told, and holds up no other', () => {
  const bad = schedule('cron', '30 12 * * *');
  const good = schedule('cron', '31 12 * * *');
  const database = new Database(join(folder, 'claw.db'));
  database.prepare("UPDATE tasks SET time_zone = 'Europe/Atlantis' WHERE id = ?").run(bad.id);
  database.close();
  clock.passTo('2026-11-21T12:31:00Z');
  expect(store.tasks.byId(bad.id)?.state).toBe('paused');
  expect(broken).toHaveLength(1);
  expect(log(good)).toEqual(['21T12:31']);
});

test('a store that fails once is asked again a minute later', () => {
  const task = schedule('cron', '30 12 * * *');
  const { due } = store.tasks;
  Object.assign(store.tasks, {
    due() {
      Object.assign(store.tasks, { due });
      throw new Error('disk full');
    },
  });
  clock.passTo('2026-11-21T12:30:30Z');
  expect(log(task)).toEqual([]);
  clock.passTo('2026-11-21T12:31:00Z');
  expect(log(task)).toEqual(['21T12:30']);
});

test('a time during a pause does not count as missed, and a task paused past its single time needs a new one', () => {
  const task = schedule('every', '10 minutes');
  const once = schedule('at', '2026-11-21T12:30');
  const paused = [task, once].map((each) => book.pause(each));
  clock.pass(65 * 60_000);
  expect(book.resume(paused[0] ?? task).nextRun).toBe(Date.parse('2026-11-21T13:10:00Z'));
  expect(() => book.resume(paused[1] ?? once)).toThrow('Give it a new one.');
  expect(() => book.resume(store.tasks.byId(task.id) ?? task)).toThrow('is active');
});

test('a changed task keeps what was not named, and a finished one becomes active again', () => {
  const task = schedule('at', '2026-11-21T12:30', { context: 'isolated', ifMissed: 'skip' });
  clock.pass(30 * 60_000);
  work();
  const done = store.tasks.byId(task.id) ?? task;
  expect(book.update(done, { prompt: 'y' })).toMatchObject({ state: 'done', prompt: 'y' });
  const again = book.update(done, { kind: 'every', schedule: '2h' });
  expect(again).toMatchObject({
    state: 'active',
    prompt: 'x',
    context: 'isolated',
    ifMissed: 'skip',
  });
  expect(again.nextRun).toBe(Date.parse('2026-11-21T14:30:00Z'));
  expect(() => book.update(again, { kind: 'cron' })).toThrow('Name the schedule too');
  const moved = book.update(schedule('at', '2026-11-21T20:00'), { timeZone: 'America/New_York' });
  expect(new Date(moved.schedule.anchor).toISOString()).toBe('2026-11-22T01:00:00.000Z');
  expect(() => book.update(book.cancel(moved), { prompt: 'z' })).toThrow('was cancelled');
});

test('an agent that schedules ever more comes to an end', () => {
  for (let count = 0; count < 100; count++) schedule('at', '2027-01-01T00:00');
  expect(() => schedule('at', '2027-01-01T00:00')).toThrow('Family has 100 tasks already');
});

test('the log keeps the last hundred runs', () => {
  const task = schedule('every', 'minute');
  for (let minute = 0; minute < 105; minute++) {
    clock.pass(60_000);
    work();
  }
  expect(store.taskRuns.last(task.id, 1_000)).toHaveLength(100);
});
