import {
  chownSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type AgentScript, answers, TestProject } from '../../testing/assistant.ts';

const FAMILY = { jid: 'chat:family', isDirect: false, isOwner: false };

/** A group whose agent writes down what it is told to. */
async function startFamily(project: TestProject) {
  const file = join(project.dir, 'groups/family/CLAUDE.md');
  const agent: AgentScript = async ({ folder, prompt }) => {
    const [, words] = /note: (.*)/.exec(JSON.stringify(prompt)) ?? [];
    if (folder === 'family' && words !== undefined) {
      writeFileSync(file, `${readFileSync(file, 'utf8')}- ${words.replace(/\W+$/, '')}\n`);
    }
    return answers('noted');
  };
  const assistant = await project.start({ agent });
  const { terminal, chat } = assistant;
  async function ask(text: string): Promise<string> {
    const before = terminal.sent.length;
    await terminal.say(text);
    await vi.waitFor(() => expect(terminal.sent.length).toBeGreaterThan(before), 5_000);
    return terminal.sent[before]?.text ?? '';
  }
  async function tell(text: string): Promise<void> {
    const before = chat.sent.length;
    await chat.say(`@Andy ${text}`, FAMILY);
    await vi.waitFor(() => expect(chat.sent.length).toBeGreaterThan(before), 5_000);
  }
  await chat.meet(FAMILY.jid, 'Family');
  await ask('/register Family');
  mkdirSync(join(project.dir, 'groups/family'), { recursive: true });
  writeFileSync(file, '# Family\n');
  const seqs = () =>
    assistant.store.memoryVersions.last('family', 20).map(({ seq, author }) => ({ seq, author }));
  return { assistant, ask, tell, file, seqs };
}

test('each change of a memory is a version, with who made it, and can be undone by itself', async () => {
  using project = new TestProject();
  const { assistant, ask, tell, file, seqs } = await startFamily(project);
  await tell('note: Bob eats no fish');
  await vi.waitFor(() => expect(seqs()[0]?.author).toBe('agent'));
  const fish = seqs()[0]?.seq ?? 0;
  await tell('note: Ada likes tea');
  await vi.waitFor(() => expect(seqs()[0]?.seq).toBeGreaterThan(fish));
  const log = await ask('/memory Family log');
  expect(log).toContain('by its agent');
  expect(log).toContain('by a change of the file');
  expect(await ask(`/memory Family version ${fish}`)).toContain('- Bob eats no fish');
  expect(await ask(`/memory Family undo ${fish}`)).toMatch(
    /^Written: the memory of Family is at version \d+\./,
  );
  expect(readFileSync(file, 'utf8')).toBe('# Family\n- Ada likes tea\n');
  // Undone already: its lines are not there any more.
  expect(await ask(`/memory Family undo ${fish}`)).toContain('Nothing was written.');
  expect(readFileSync(file, 'utf8')).toBe('# Family\n- Ada likes tea\n');
  await assistant.stop();
});

test('a write against an older version is refused with both texts', async () => {
  using project = new TestProject();
  const { assistant, ask, file } = await startFamily(project);
  const shown = await ask('/memory Family');
  const [, seq = ''] = /version (\d+)/.exec(shown) ?? [];
  writeFileSync(file, '# Family\n- by hand\n');
  const refused = await ask(`/memory Family write ${seq}\n# Family\n- from the chat`);
  expect(refused).toContain('Nothing was written');
  expect(refused).toContain('- by hand');
  expect(refused).toContain('- from the chat');
  expect(readFileSync(file, 'utf8')).toBe('# Family\n- by hand\n');
  const [, now = ''] = /It is at version (\d+)/.exec(refused) ?? [];
  // As after a container has begun there, where the host is root.
  if (process.getuid?.() === 0) chownSync(dirname(file), 1000, 1000);
  expect(await ask(`/memory Family write ${now}\n# Family\n\n- both\n`)).toContain('Written');
  expect(statSync(file).uid).toBe(statSync(dirname(file)).uid);
  expect(readFileSync(file, 'utf8')).toBe('# Family\n\n- both\n');
  expect(assistant.store.memoryVersions.last('family', 1)[0]?.author).toBe('owner');
  const [last] = assistant.store.memoryVersions.last('family', 1);
  expect(await ask(`/memory Family empty ${now}`)).toContain('Nothing was written');
  expect(await ask(`/memory Family empty ${last?.seq}`)).toContain('Written');
  expect(readFileSync(file, 'utf8')).toBe('');
  // A link that the agent has left is neither read nor written through.
  rmSync(file);
  symlinkSync(join(project.dir, 'package.json'), file);
  expect(await ask('/memory Family')).toContain('it is a link');
  await ask('/unregister Family delete');
  await ask('yes');
  await vi.waitFor(() => expect(assistant.store.memoryVersions.last('family', 1)).toEqual([]));
  await assistant.stop();
});
