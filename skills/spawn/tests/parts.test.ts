import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examination } from '../../../src/doctor/spawn.ts';
import { parseProfiles } from '../../../src/lib/spawn/profiles.ts';
import { setup } from '../../../src/setup/spawn.ts';
import { TestProject } from '../../../src/testing/assistant.ts';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';

test('the set-up switches it on or off, and the doctor says what holds', async () => {
  const { context, problems, written } = ownerAtKeyboard(['yes', 'on', '9', '3', '0', '20']);
  expect(setup.currentState({}, '/nowhere')).toBeNull();
  const { summary } = await setup.run({}, context);
  expect(problems).toEqual([
    'Type on or off.',
    'It must be a whole number from 1 to 8, not "9".',
    'It must be a whole number from 1 to 120, not "0".',
  ]);
  expect(written).toEqual({ SPAWN: 'on', SPAWN_AT_ONCE: '3', SPAWN_MINUTES: '20' });
  expect(summary).toContain('at most 3 at once, for 20 minutes each. They spend from the budget');
  const leaving = ownerAtKeyboard(['off']);
  expect((await setup.run(written, leaving.context)).summary).toBe('Sub-agents are off.');
  using project = new TestProject();
  const subject = {
    projectDir: project.dir,
    dataDir: join(project.dir, 'data'),
    homeDir: project.dir,
    environment: written,
    settings: null,
    isOffline: true,
    now: Date.now,
  };
  const found = async (environment: Readonly<Record<string, string>>) =>
    (await examination.examine({ ...subject, environment })).map(({ message }) => message);
  expect(await found({})).toEqual(['sub-agents are off']);
  expect(await found(written)).toEqual(['sub-agents: at most 3 at once, for 20 minutes each']);
  mkdirSync(join(project.dir, 'groups/global'), { recursive: true });
  const file = join(project.dir, 'groups/global/spawn-profiles.yaml');
  writeFileSync(file, 'reader: { tools: [read_file] }\nwriter: {}\n');
  expect((await found(written))[1]).toBe('profiles: reader, writer');
  writeFileSync(file, 'reader: { bootstrap_files: [../../.env] }\n');
  expect((await found(written))[1]).toBe(
    'spawn-profiles.yaml: reader.bootstrap_files.0: must be the path of a file in the folder of the chat.',
  );
});

test('a file of profiles that is made to take long is not parsed', () => {
  for (const text of ['a: '.repeat(300_000), '['.repeat(900_000), '- '.repeat(400_000)]) {
    expect(parseProfiles(text)).toBe('spawn-profiles.yaml is longer than 64000 characters.');
  }
});
