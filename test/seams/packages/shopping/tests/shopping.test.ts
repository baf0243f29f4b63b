import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { section } from '../../../container/agent/prompt/shopping.ts';
import { discoverPromptSections } from '../../../src/host/contracts/prompt-section.ts';
import { openSystemPrompt } from '../../../src/host/turns/agent/system-prompt.ts';
import { sectionTurn } from '../../../src/testing/turn/agent-section-turn.ts';
import { promptTurn, promptWays } from '../../../src/testing/turn/prompt-turn.ts';

test('the host says how many lines, the container which', async () => {
  const log = { info() {}, warn() {}, error() {} };
  const context = { assistantName: 'Andy', dataDir: '/nowhere', timeZone: 'UTC', log };
  const environment = { SHOPPING_SHOWN: '2' };
  const { systemPrompt } = openSystemPrompt(await discoverPromptSections(), environment, context);
  const given = new Map<string, unknown>();
  await systemPrompt(promptTurn(), {
    ...promptWays,
    onFacts: (name, facts) => void given.set(name, facts),
  });
  const facts = given.get('shopping');
  expect(facts).toEqual({ most: 2 });

  const group = mkdtempSync(join(tmpdir(), 'shopping-'));
  const write = section.create();
  expect(await write(sectionTurn({ group }, { facts }))).toBeNull();
  writeFileSync(join(group, 'shopping.md'), '- [x] tea\n- [ ] milk\n- [ ] rice\n- [ ] soap\n');
  const shown = '# To buy\n- [ ] milk\n- [ ] rice';
  expect(await write(sectionTurn({ group }, { facts }))).toBe(shown);
  expect(await write(sectionTurn({ group }, { facts, isLoop: true }))).toBeNull();
  expect(await write(sectionTurn({ group }))).toBeNull();
  rmSync(group, { recursive: true });
});
