import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isOwnValue, type OwnValues, readOwnValues, refuseSecrets } from './secrets.ts';

const PEM = '-----BEGIN PRIVATE KEY-----\nMIIEabcdefghi\nQQQQabcdefghi\n-----END PRIVATE KEY-----';

/** Each line of a `.env`, and what a file of the package says. */
const SECRETS: readonly (readonly [env: string, text: string])[] = [
  ['api_token=sk-live-lower-1234567890', 'sk-live-lower-1234567890'],
  ['GITHUB_PAT=ghp_aaaaaaaaaaaaaaaaaaaaaaaa', 'ghp_aaaaaaaaaaaaaaaaaaaaaaaa'],
  ['DB_PWD=correcthorsebattery', 'correcthorsebattery'],
  ['export AWS_SECRET=abcdefghijklmnop', 'abcdefghijklmnop'],
  ['DATABASE_URL=postgres://bob:hunter2hunter2@db/x', 'postgres://bob:hunter2hunter2@db/x'],
  ['DATABASE_URL=postgres://bob:hunter2hunter2@db/x', 'const password = "hunter2hunter2"'],
  ['DATABASE_URL=postgres://bob:hunter%2F2hunter@db/x', 'const password = "hunter/2hunter"'],
  ['DATABASE_URL=postgres://bob:pw1@db/x', 'postgres://bob:pw1@db/other'],
  ['MONGO=mongodb://bob:correcthorse@one:27017,two:27017/x', "password: 'correcthorse'"],
  ['STORE=jdbc:postgresql://bob:correcthorse@db/x', "password: 'correcthorse'"],
  ['CACHE=redis://:correcthorse@cache:6379', "password: 'correcthorse'"],
  ['API_TOKENS=correct,horse', 'correct,horse'],
  ['REMOTE=https://8f3ab12c9d@example.org/x.git', 'https://8f3ab12c9d@example.org/y.git'],
  ['FEED=https://example.org/feed?api_key=plainwords', 'plainwords'],
  ['HOOK=https://example.org/hooks/aB3dE5fG7hI9jK1lM3nO', 'aB3dE5fG7hI9jK1lM3nO'],
  ['SLACK_WEBHOOK=https://hooks.example/T000/B000/XXXX', 'https://hooks.example/T000/B000/XXXX'],
  ['SLACK_WEBHOOK_URL=https://hooks.example/T000/B', 'https://hooks.example/T000/B'],
  ['SENTRY_DSN=https://sentry.example/42', 'https://sentry.example/42'],
  ['STRIPE=4eC39HqLyjWDarjtT1zdp7dc', '4eC39HqLyjWDarjtT1zdp7dc'],
  ['MAILER=f81d4fae-7dec-11d0-a765-00a0c91e6bf6', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'],
  ["LOGIN='xK#9v!pQ2&z'", 'xK#9v!pQ2&z'],
  ['AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE', 'AKIAIOSFODNN7EXAMPLE'],
  [`SIGNING_KEY="${PEM}"`, PEM],
  [`SIGNING_KEY="${PEM}"`, PEM.replaceAll('\n', '\r\n')],
  [`SIGNING_KEY="${PEM}"`, 'const second = "QQQQabcdefghi"'],
  [`SIGNING_KEY="${PEM.replaceAll('\n', '\\n')}"`, PEM],
  [`SIGNING_KEY='${PEM.replaceAll('\n', '\\n')}'`, PEM],
  [`SIGNING_KEY="${PEM}"`, JSON.stringify({ pem: PEM })],
  ['API_SECRET=\'has"quote"inside\'', JSON.stringify('has"quote"inside')],
];

test.each(SECRETS)('with %s, a package does not hold %s', (env, text) => {
  const own = ownValues(`NAME=x\n${env}\nOTHER=y\n`);
  expect(refusal(own, 'add/src/new.ts', text)).toMatchObject({
    code: 'SECRET_FOUND',
    path: 'add/src/new.ts',
  });
  expect(isOwnValue(own, 'ELSEWHERE', text)).toBe(true);
});

test.each([
  'ASSISTANT_NAME=Andy',
  'ASSISTANT_NAME=Montgomery',
  'ASSISTANT_NAME="Montgomery Scott"',
  'MODEL=anthropic/claude-sonnet-4-5',
  'MODEL=anthropic/claude-sonnet-4-5-20250929',
  'MODEL=openai/gpt-4o-mini-2024-07-18',
  'ANTHROPIC_BASE_URL=https://api.anthropic.com',
  'OPENAI_BASE_URL=http://localhost:11434/v1',
  'TOKEN_URL=https://accounts.example.org/oauth2/token',
  'DATABASE_URL=postgres://postgres:postgres@localhost:5432/postgres',
  'CLAW_SANDBOX=bubblewrap',
  'CLAW_TURN_TIMEOUT_MS=1800000',
  'BUDGET_TOKENS=20000000',
  'AUTHOR_NAME=Montgomery',
  'KEYBOARD=qwertzuiop',
  'PORT=8080',
  'DEBUG_EVERYTHING=true',
  'IMAGE=node:24-bookworm-slim',
  'REGION=eu-central-1',
  'REDIS_HOST=cache01abc.internal.example:6379',
  'CLAW_DATA=./data/assistant2home',
  'PRIVATE_KEY_PATH=/etc/assistant/key.pem',
  'IMAGE_SIZE=1024x1024',
])('%s is a setting that a package may mention', (env) => {
  const own = ownValues(`${env}\n`);
  const [value = ''] = own.values();
  expect(refusal(own, 'add/src/new.ts', `a ${value} b ${value}`)).toBeNull();
});

test('the frame of a key is known to everybody', () => {
  const own = ownValues(`SIGNING_KEY="${PEM}"\n`);
  expect(refusal(own, 'add/a.ts', '-----BEGIN PRIVATE KEY-----')).toBeNull();
});

test('a secret in what a file was before is refused as one of the core', () => {
  const own = ownValues('API_TOKEN=sk-live-1234567890\n');
  const found = refusal(own, 'base/a.ts', 'sk-live-1234567890');
  expect(found).toMatchObject({ code: 'SECRET_FOUND', path: 'base/a.ts' });
  expect(String(found)).toContain('a.ts of the core');
});

function ownValues(text: string): OwnValues {
  const root = mkdtempSync(join(tmpdir(), 'claw-secrets-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(join(root, '.env'), text);
  return readOwnValues(root);
}

function refusal(own: OwnValues, path: string, text: string): unknown {
  try {
    refuseSecrets(new Map([[path, { bytes: Buffer.from(text), isExecutable: false }]]), own);
    return null;
  } catch (error) {
    return error;
  }
}
