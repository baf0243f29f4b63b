import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { secretTexts } from '../../packages/claw/src/operation/secrets.ts';
import { PLAIN_SETTINGS, SECRET_SETTINGS } from '../testing/owner/secret-settings.ts';
import { isSecretSetting, secretValues, withoutSecrets } from './environment.ts';

/** Settings of the cases that packing is tested with, and some of a machine's own. */
const SETTINGS = [
  ...SECRET_SETTINGS.map(([line]) => line),
  ...PLAIN_SETTINGS,
  'PWD=/home/ada/assistant',
  'OLDPWD=/home/ada',
  'SSH_AUTH_SOCK=/run/user/1000/ssh',
  'TELEGRAM_BOT_TOKEN=123456789:AAE',
  'PATH=/usr/bin:/bin',
].flatMap((line) => Object.entries(parseEnv(line)));

/** Words that a package could hold by chance: only the name of their setting makes them a secret. */
const PLAIN_WORDS = 'correct horse battery';

test.each(SETTINGS)('%s=%s is a secret to the log by its name where it is one to pack', (name) => {
  const isOfPack = secretTexts(name, PLAIN_WORDS).length > 0;
  // The log would rather leave out the id of a key than show a secret that is called one.
  const isId = name.endsWith('_KEY_ID');
  expect(isSecretSetting(name, PLAIN_WORDS)).toBe(isOfPack || isId);
});

test.each(PLAIN_SETTINGS)('%s is no secret, and programs get it', (line) => {
  const settings = parseEnv(line);
  for (const [name, value = ''] of Object.entries(settings)) {
    expect(isSecretSetting(name, value)).toBe(false);
  }
  expect(withoutSecrets(settings)).toEqual({ ...settings });
});

test('secrets of other names than KEY and TOKEN are kept from the log and from programs', () => {
  const secrets = {
    DB_PWD: 'correcthorse',
    GITHUB_PAT: 'ghp_aaaaaaaa',
    SENTRY_DSN: 'https://sentry.example/42',
    SLACK_WEBHOOK_URL: 'https://hooks.example/T000/B',
    SMTP_AUTH: 'bob:horse',
  };
  expect(secretValues(secrets)).toEqual(Object.values(secrets));
  expect(withoutSecrets({ ...secrets, HOME: '/home/ada' })).toEqual({ HOME: '/home/ada' });
});

test('headers that give access are kept out of the log, also when they are logged alone', () => {
  const headers = {
    Authorization: 'Bearer abc-def-ghi',
    'x-api-key': 'correct-horse',
    'X-Title': 'Patchclaw',
  };
  const LOCAL_HEADERS = JSON.stringify(headers);
  expect(secretValues({ LOCAL_HEADERS })).toEqual([
    LOCAL_HEADERS,
    ...['Bearer abc-def-ghi', 'abc-def-ghi', 'correct-horse', 'correct-horse'],
  ]);
  expect(secretValues({ LOCAL_HEADERS: 'x-api-key: abc' })).toEqual(['x-api-key: abc']);
});
