import { expect, test } from 'vitest';
import { TestProject } from '../testing/assistant.ts';
import { ask } from '../testing/owner/owner-chat.ts';

test('/doctor says what needs the owner and counts the rest; all of it is shown on request', async () => {
  using project = new TestProject({ 'claw.config.yaml': 'check: [no-such-program]\n' });
  const assistant = await project.start();
  const told = await ask(assistant, '/doctor', 'need you');
  expect(told).toContain('- ✗ **checks**: Not found: no-such-program.\n  Install them, or fix');
  expect(told).not.toContain('✓');
  const all = await ask(assistant, '/doctor all', 'need you');
  expect(all).toMatch(/^- ✓ \*\*node\*\*: Node \d+/m);
  expect(all).toContain('- ✗ **checks**');
  const [, fine] = /(\d+) of \d+ are fine; those with ✗ need you\.$/.exec(told) ?? [];
  expect(all.match(/✓/g)).toHaveLength(Number(fine));
  await ask(assistant, '/doctor please', 'Say `/doctor`, or `/doctor all`.');
  await assistant.stop();
});
