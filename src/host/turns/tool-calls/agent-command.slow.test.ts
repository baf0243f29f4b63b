import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type AgentScript, answers, TestProject, textsOf } from '../../../testing/assistant.ts';
import { ask, hears, skills, stopsForRestart } from '../../../testing/owner/owner-chat.ts';

const PROJECT = {
  'package.json': '{ "name": "demo", "version": "1.0.0" }\n',
  'claw.config.yaml': 'check: []\nexclude: [data/**]\n',
  ...skills({ greeting: { add: { 'src/greeting.txt': 'hello\n' } } }),
};

/** An agent that calls what stands behind `call`, one by one, and answers with what it was told. */
const caller: AgentScript = async ({ folder, prompt }, { onTool }) => {
  const told: string[] = [];
  for (const [, command = ''] of prompt.matchAll(/call (\/[^;]*)/g)) {
    const { ok, value } = await onTool({ name: 'owner_command', input: { command }, folder });
    told.push(`${ok ? 'ok' : 'refused'}: ${String(value)}`);
  }
  return answers(told.join('\n') || 'pong');
};

test('a command that the main agent calls only reads, or runs after the owner’s yes', async () => {
  using project = new TestProject(PROJECT);
  const first = await project.start({ agent: caller });
  const { terminal, chat } = first;
  await ask(
    first,
    'call /skills',
    'ok: In the code:\n\n- none yet\n\nTo add:\n\n- `/add-greeting`',
  );
  await ask(first, 'call /conflicts', 'ok: Nothing waits for a decision.');
  for (const [command, refusal] of [
    ['/register Family', 'Only the owner can say /register.'],
    ['/nonsense', 'There is no command /nonsense.'],
    ['/add https://evil.example/x.git', 'Only plain names can be proposed'],
    ['/update --allow .github/workflows/x.yml', 'Only plain names can be proposed'],
    ['/add-greeting allow Makefile', 'Only plain names can be proposed'],
    ['/add-greeting\n/undo', 'Only plain names can be proposed'],
  ]) {
    const said = await ask(first, `call ${command}`, 'refused');
    expect(said).toContain(refusal);
    expect(said).not.toContain('Say yes or no');
  }
  await chat.say('call /skills', { isDirect: true });
  await vi.waitFor(() =>
    expect(textsOf(chat)).toEqual(['refused: Only the main chat may use owner_command.']),
  );

  const both = await ask(first, 'call /add-greeting; call /undo', 'Say yes or no.');
  expect(both).toContain('refused: The owner is asked about /add-greeting first.');
  expect(both).toContain('Andy wants to run `/add-greeting`, which changes its own code.');
  // What it brings is in the question, and nothing was begun for that.
  expect(both).toContain('greeting 1.0.0 brings:');
  await ask(first, 'no', 'greeting was not added.');
  await ask(first, 'call /add-greeting', 'Say yes or no.');
  // Whoever else is in the owner's chat has no say.
  const before = terminal.sent.length;
  await terminal.say('yes', { isOwner: false });
  await vi.waitFor(() => expect(terminal.sent.length).toBeGreaterThan(before));
  expect(existsSync(join(project.dir, '.claw'))).toBe(false);
  // Their answer stands behind the question now: what a yes means is asked once more.
  await ask(first, 'yes', 'To be sure, once more:');
  // One yes is enough, for the plan that was shown.
  await terminal.say('yes');
  await stopsForRestart(project, first);
  const second = await project.start({ agent: caller });
  await hears(second, 'greeting 1.0.0 is in: 1 file changed.');
  await second.stop();
});

test('an agent’s proposal during another question to the owner is told apart by its number', async () => {
  using project = new TestProject(PROJECT);
  const asking = Promise.withResolvers<void>();
  const isOpen = Promise.withResolvers<void>();
  const slow: AgentScript = async (request, events) => {
    const outcome = await caller(request, events);
    asking.resolve();
    await isOpen.promise;
    return outcome;
  };
  const assistant = await project.start({ agent: slow });
  const { terminal } = assistant;
  await terminal.say('call /undo');
  await asking.promise;
  await assistant.chat.meet('chat:club', 'Club');
  await ask(assistant, '/register chat:club', 'is registered');
  await ask(assistant, '/unregister chat:club delete', 'Say yes or no.');
  isOpen.resolve();
  await hears(
    assistant,
    'Andy wants to run `/undo`, which changes its own code. Run it? Say `2 yes`',
  );
  await ask(assistant, 'yes', '2 questions are open here.');
  await ask(assistant, '1 yes', 'Everything of Club is deleted.');
  await ask(assistant, '2 no', '`/undo` was not run.');
  await assistant.stop();
});
