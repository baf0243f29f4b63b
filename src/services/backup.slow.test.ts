import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { noteBackupState, readBackupState } from '../store/backup/backup-state.ts';
import { backupName, listBackups } from '../store/backup/kept-backups.ts';
import { type TestAssistant, TestProject, textsOf } from '../testing/assistant.ts';
import { TestClock } from '../testing/clock.ts';
import { ask } from '../testing/owner/owner-chat.ts';

const MINUTE_MS = 60_000;
const LOOK_MS = 30 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** An assistant whose time passes when the test says so. Its backups are made by processes on the real clock. */
class Owner {
  readonly project = new TestProject({ '.gitignore': 'data/\n' });
  readonly clock = new TestClock(new Date().toISOString());
  readonly dataDir = join(this.project.dir, 'data');
  #assistant: TestAssistant | null = null;

  get assistant(): TestAssistant {
    if (this.#assistant === null) throw new Error('It is not started.');
    return this.#assistant;
  }

  async start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    const { now, setTimer } = this.clock;
    this.#assistant = await this.project.start({ environment, over: { now, setTimer } });
    await this.assistant.terminal.say('hello');
    await vi.waitFor(() => expect(textsOf(this.assistant.terminal)).toContain('pong'));
  }

  backups() {
    return listBackups(join(this.dataDir, 'backups'));
  }

  told(part: string): number {
    return textsOf(this.assistant.terminal).filter((text) => text.includes(part)).length;
  }

  /** Lets the first look, or so many half hours, come and end. */
  async look(times = 1, delayMs = LOOK_MS): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      const looks = () => this.clock.delays.filter((delay) => delay === LOOK_MS).length;
      const before = looks();
      const known = new Set(this.backups().map(({ file }) => file));
      this.clock.pass(delayMs);
      await vi.waitFor(() => expect(looks()).toBe(before + 1));
      // A new backup has the time of the real clock in its name: it gets that of the test.
      const made = this.backups().find(({ file }) => !known.has(file));
      if (made === undefined) continue;
      const name = backupName({ ...made, now: this.clock.now() });
      renameSync(made.file, join(this.dataDir, 'backups', name));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#assistant?.stop();
    this.project[Symbol.dispose]();
  }
}

test('a backup is made some minutes after the start and then once a day, and told the first time', async () => {
  await using owner = new Owner();
  noteBackupState(owner.dataDir, { drilledAt: owner.clock.now() });
  await owner.start();
  owner.clock.pass(4 * MINUTE_MS);
  expect(owner.backups()).toEqual([]);
  await owner.look(1, MINUTE_MS);
  expect(owner.backups().map(({ reason }) => reason)).toEqual(['daily']);
  await vi.waitFor(() => expect(owner.told('I make a backup each day from now on')).toBe(1));
  expect(owner.told(`in ${join(owner.dataDir, 'backups')}`)).toBe(1);
  await owner.look(47);
  expect(owner.backups()).toHaveLength(1);
  await owner.look(1);
  expect(owner.backups()).toHaveLength(2);
  await owner.look(47);
  expect(owner.backups()).toHaveLength(2);
  expect(owner.told('I make a backup each day')).toBe(1);
  expect(await ask(owner.assistant, '/status', 'service backup')).toMatch(
    /last backup .*, last drill /,
  );
});

test('a backup that fails is told once a day, until one is made', async () => {
  await using owner = new Owner();
  noteBackupState(owner.dataDir, { drilledAt: owner.clock.now() });
  const settings = join(owner.project.dir, '.env');
  writeFileSync(settings, 'BACKUP_TO=nonsense\n');
  await owner.start();
  const words = 'The daily backup failed: "nonsense" is not a public key of age';
  await owner.look(1, 5 * MINUTE_MS);
  await vi.waitFor(() => expect(owner.told(words)).toBe(1));
  expect(readBackupState(owner.dataDir).failure?.reason).toContain('nonsense');
  await owner.look(40);
  expect(owner.told(words)).toBe(1);
  await owner.look(8);
  await vi.waitFor(() => expect(owner.told(words)).toBe(2));
  expect(owner.backups()).toEqual([]);
  writeFileSync(settings, '');
  await owner.look(48);
  expect(owner.backups()).toHaveLength(1);
  expect(readBackupState(owner.dataDir).failure).toBeNull();
});

test('no backup is made if the owner has switched off the daily ones', async () => {
  await using owner = new Owner();
  await owner.start({ BACKUP_DAILY: 'off' });
  await owner.look(1, 5 * MINUTE_MS);
  await owner.look(50);
  expect(owner.backups()).toEqual([]);
  expect(await ask(owner.assistant, '/status', 'service backup')).toContain(
    'no backup yet, none daily',
  );
});

test('a drill that fails is told, and comes again a month later', async () => {
  await using owner = new Owner();
  await owner.start();
  // This project has no assistant to start: its backup can be restored, and cannot answer.
  const words = 'The monthly test of the backups failed: The restored assistant did not answer';
  await owner.look(1, 5 * MINUTE_MS);
  await vi.waitFor(() => expect(owner.told(words)).toBe(1));
  expect(readBackupState(owner.dataDir).drillFailure?.reason).toContain('did not answer');
  noteBackupState(owner.dataDir, {
    drillFailure: { at: owner.clock.now(), reason: 'the clock of the test' },
  });
  owner.clock.moveTo(new Date(owner.clock.now() + 30 * 24 * HOUR_MS - LOOK_MS - 1).toISOString());
  await owner.look();
  expect(owner.told(words)).toBe(1);
  await owner.look();
  await vi.waitFor(() => expect(owner.told(words)).toBe(2));
});
