import { expect, test } from 'vitest';
import { readSettings } from '../../../src/config.ts';
import { examination } from '../../../src/doctor/providers.ts';
import { startTongue } from './servers.ts';
import { tongueOf } from './tongues.ts';

function examine(environment: Readonly<Record<string, string>>, isOffline = false) {
  return examination.examine({
    projectDir: '/nowhere',
    dataDir: '/nowhere/data',
    homeDir: '/nowhere',
    environment,
    settings: readSettings({}, '/nowhere'),
    isOffline,
    now: () => 0,
  });
}

test('the doctor asks those that are set up, and says what is wrong with a key or an address', async () => {
  await using groq = await startTongue(tongueOf('groq'));
  const found = await examine({
    GROQ_API_KEY: 'k',
    GROQ_BASE_URL: groq.url,
    XAI_API_KEY: 'k',
    XAI_BASE_URL: 'http://127.0.0.1:9/v1',
    OPENAI_API_KEY: 'of-the-core',
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
  });
  expect(found).toMatchObject([
    { ok: true, message: 'groq answers and has 1 models' },
    { ok: false, message: expect.stringMatching(/^xai: .*cannot be reached/) },
  ]);
});

test('offline nothing is asked; where nothing is set up, it says how to', async () => {
  expect(await examine({ GROQ_API_KEY: 'k' }, true)).toMatchObject([
    { ok: true, message: 'groq is set up, not asked' },
  ]);
  expect(await examine({}, true)).toMatchObject([
    { ok: true, advice: '`npx claw setup --provider <name>` sets one up.' },
  ]);
});
