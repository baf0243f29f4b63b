import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSettings } from '../../../src/config.ts';
import { examination } from '../../../src/doctor/claude-agent.ts';

const SDK = '@anthropic-ai/claude-agent-sdk';
let projectDir: string;
beforeEach(() => {
  projectDir = mkdtempSync(join(tmpdir(), 'claw-claude-agent-'));
  mkdirSync(join(projectDir, 'container'));
  writeFileSync(join(projectDir, 'container/packages.json'), `{"npm":{"${SDK}":"1.2.3"}}`);
});
afterEach(() => rmSync(projectDir, { recursive: true, force: true }));

const examine = async (environment: Record<string, string>) => {
  const dataDir = join(projectDir, 'data');
  const settings = readSettings(environment, dataDir);
  const given = { projectDir, dataDir, homeDir: projectDir, environment, settings };
  return await examination.examine({ ...given, isOffline: true, now: Date.now });
};

test('says where agents find the SDK, and nothing where no engine runs them', async () => {
  const shared = join(projectDir, 'container/shared/claude-agent/node_modules', SDK);
  mkdirSync(shared, { recursive: true });
  const findings = await examine({});
  for (const { ok, message } of findings) {
    expect(ok).toBe(true);
    expect(message).toContain('container/shared/claude-agent');
  }
  rmSync(shared, { recursive: true });
  for (const { ok, message, advice } of await examine({ CLAW_SANDBOX: 'bubblewrap' })) {
    // A machine may have it for all its users.
    expect(ok ? message : advice).toContain(ok ? '/usr' : `${SDK}@1.2.3`);
  }
});
