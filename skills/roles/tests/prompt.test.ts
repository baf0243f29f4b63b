import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { section } from '../../../container/agent/prompt/roles.ts';
import { sectionTurn } from '../../../src/testing/turn/agent-section-turn.ts';

let global: string;
beforeEach(() => {
  global = mkdtempSync(join(tmpdir(), 'claw-roles-'));
  mkdirSync(join(global, 'roles'));
});
afterEach(() => rmSync(global, { recursive: true, force: true }));

const shown = (role: string | null, isLoop = false) =>
  section.create()(sectionTurn({ global }, { facts: { role }, isLoop }));

test('SYSTEM.md stands first, then what the role knows, without its front matter', async () => {
  expect(await shown(null)).toBeNull();
  writeFileSync(join(global, 'SYSTEM.md'), 'Be exact.\n');
  expect(await shown(null)).toBe('Be exact.');
  const file =
    '\uFEFF---\r\ndescription: Writes code\r\n---\r\n\r\nUse types.\n\n---\n\nAnd tests.\n';
  writeFileSync(join(global, 'roles/coder.md'), file);
  const ofRole = '# Your role in all chats now: coder\n\nUse types.\n\n---\n\nAnd tests.';
  expect(await shown('coder')).toBe(`Be exact.\n\n${ofRole}`);
  expect(await shown('coder', true)).toBe(ofRole);
});

test('what a role knows is shown whole, and a role without a file is a line', async () => {
  writeFileSync(join(global, 'roles/coder.md'), 'x'.repeat(300_000));
  expect((await shown('coder'))?.length).toBeGreaterThan(300_000);
  expect(await shown('gone')).toContain('/roles/gone.md says nothing: the role has no knowledge.');
});
