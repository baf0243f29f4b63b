import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSettings } from '../../../src/config.ts';
import { examination } from '../../../src/doctor/heartbeat.ts';
import { clock, isActive, parseActiveHours } from '../../../src/lib/heartbeat/active-hours.ts';
import { isEmptyOfWork } from '../../../src/lib/heartbeat/instructions.ts';
import { openModels } from '../../../src/model/model.ts';
import { discoverProviders } from '../../../src/model/provider.ts';
import { discoverRouters } from '../../../src/model/router.ts';
import { openRouting } from '../../../src/model/routing.ts';
import { isQuiet } from '../../../src/services/heartbeat/answer.ts';
import { setup } from '../../../src/setup/heartbeat.ts';
import { TestProject } from '../../../src/testing/assistant.ts';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';

test.for([
  ['', true],
  ['\uFEFF# Heartbeat\r\n\r\n## Home\n', true],
  ['<!-- water the plants -->\n- [ ]\n*\n', true],
  ['<!-- an end is missing\nwater the plants', true],
  ['# Heartbeat\n- [ ] water the plants', false],
  ['<!-- old --> is the cellar dry?', false],
  ['###nothing\nx', false],
] as const)('%j lists nothing: %j', ([text, isEmpty]) => {
  expect(isEmptyOfWork(text)).toBe(isEmpty);
});

test.for([
  ['HEARTBEAT_OK', true],
  ['HEARTBEAT_OK: all is well', true],
  ['I looked.\nHEARTBEAT_OK', true],
  ['`HEARTBEAT_OK`.', true],
  ['The word HEARTBEAT_OK is in the middle', false],
  ['heartbeat_ok', false],
  ['NO_HEARTBEAT_OK', false],
  ['', false],
] as const)('%j is quiet: %j', ([text, quiet]) => {
  expect(isQuiet(text)).toBe(quiet);
});

test('hours go over midnight, end at 24:00, and follow the zone through its summer time', () => {
  const at = (text: string, hours: string, zone: string) => {
    const parsed = parseActiveHours(hours);
    return parsed !== null && isActive(parsed, Date.parse(text), zone);
  };
  expect(at('2026-11-21T23:59:59Z', '00:00-24:00', 'UTC')).toBe(true);
  expect(at('2026-11-21T22:00:00Z', '22:00-06:00', 'UTC')).toBe(true);
  expect(at('2026-11-21T05:59:00Z', '22:00-06:00', 'UTC')).toBe(true);
  expect(at('2026-11-21T06:00:00Z', '22:00-06:00', 'UTC')).toBe(false);
  // Eight in the morning in Berlin is seven in winter and six in summer.
  expect(at('2026-01-21T06:30:00Z', '08:00-20:00', 'Europe/Berlin')).toBe(false);
  expect(at('2026-07-21T06:30:00Z', '08:00-20:00', 'Europe/Berlin')).toBe(true);
  expect(clock(24 * 60)).toBe('24:00');
  expect(parseActiveHours('24:00-08:00')).toBeNull();
  expect(parseActiveHours('8:60-9:00')).toBeNull();
});

test('a model of its own answers the heartbeat and nothing else, the usual one after it', async () => {
  const routers = await discoverRouters();
  const chosen = async (environment: Readonly<Record<string, string>>, taskType: string) => {
    const usual = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'o', ...environment };
    const models = openModels(await discoverProviders(), usual, {
      settings: readSettings(usual, '/nowhere'),
    });
    const log = { warn() {} };
    const { chooseModels } = openRouting(routers, usual, { models, log, now: Date.now });
    const group = { name: 'Ada', folder: 'main', isMain: true };
    const route = await chooseModels({ group, isTask: true, taskType, prompt: 'look' });
    return route.kind === 'models' ? route.models.map(({ id }) => id) : [];
  };
  const own = { HEARTBEAT_MODEL: 'anthropic/claude-haiku-4-5' };
  const usual = ['anthropic/claude-sonnet-5-5'];
  expect(await chosen(own, 'heartbeat')).toEqual([own.HEARTBEAT_MODEL, ...usual]);
  expect(await chosen(own, 'task')).toEqual(usual);
  expect(await chosen({}, 'heartbeat')).toEqual(usual);
});

test('the set-up asks until an answer fits, and the doctor says the same', async () => {
  const { context, problems, written } = ownerAtKeyboard([
    '1',
    '15',
    '8 to 10',
    '08:00-22:00',
    'Mars',
    'UTC',
  ]);
  const outcome = await setup.run({}, context);
  expect(problems).toEqual([
    'It must be a whole number from 5 to 1440, not "1".',
    expect.stringMatching(/^Hours must be two times such as 08:00-22:00; .*all day\.$/),
    'Name a time zone, such as Europe/Berlin.',
  ]);
  expect(outcome.summary).toContain('every 15 minutes, 08:00–22:00 (UTC) at groups/main/');
  expect(setup.currentState(written, '/nowhere')).toBe('every 15 minutes, 08:00–22:00 (UTC)');
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
  expect(await examination.examine(subject)).toMatchObject([
    { ok: true, message: 'it looks every 15 minutes, 08:00–22:00 (UTC)' },
    { ok: true, message: 'there is nothing to look at, so no model is asked' },
  ]);
  mkdirSync(join(project.dir, 'groups/main'), { recursive: true });
  writeFileSync(join(project.dir, 'groups/main/HEARTBEAT.md'), '- the cellar');
  expect((await examination.examine(subject))[1]?.message).toBe(
    'groups/main/HEARTBEAT.md lists what to look at',
  );
});
