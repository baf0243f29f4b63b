import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  PEM,
  PLAIN_SETTINGS,
  SECRET_SETTINGS,
} from '../../../../src/testing/owner/secret-settings.ts';
import { isOwnValue, type OwnValues, readOwnValues, refuseSecrets } from './secrets.ts';

test.each(SECRET_SETTINGS)('with %s, a package does not hold %s', (env, text) => {
  const own = ownValues(`NAME=x\n${env}\nOTHER=y\n`);
  expect(refusal(own, 'add/src/new.ts', text)).toMatchObject({
    code: 'SECRET_FOUND',
    path: 'add/src/new.ts',
  });
  expect(isOwnValue(own, 'ELSEWHERE', text)).toBe(true);
});

test.each(PLAIN_SETTINGS)('%s is a setting that a package may mention', (env) => {
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
