import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { HostToolResult } from '../../../sandbox/sandbox.ts';
import { type AgentScript, answers, TestProject } from '../../../testing/assistant.ts';
import { ContributionFolder } from '../../../testing/contributions.ts';
import { filterFile, filtersIn } from '../../../testing/turn/filters.ts';
import { FAMILY, isIdle, startWithFamily } from '../../../testing/turn/tasks.ts';
import type { ServiceContext, StartService } from '../../contracts/service.ts';

const PICTURE = Buffer.concat([Buffer.from([0x89]), Buffer.from('PNG of a kettle')]);
const MEBI = 1_048_576;

async function startWithService(project: TestProject, agent?: AgentScript, over = {}) {
  const { promise, resolve } = Promise.withResolvers<ServiceContext>();
  const value: StartService = (context) => {
    resolve(context);
    return { stop() {}, status: () => null };
  };
  const services = [{ name: 'page', value }];
  const assistant = await startWithFamily(project, agent, undefined, { services, ...over });
  return { assistant, owner: (await promise).owner };
}

test('a file that the owner sends from elsewhere goes the way of an attachment and can be looked at again', async () => {
  using project = new TestProject();
  const prompts: string[] = [];
  const results: HostToolResult[] = [];
  const { assistant, owner } = await startWithService(
    project,
    async ({ folder, prompt }, { onTool }) => {
      prompts.push(prompt);
      const [, id = ''] = /id (press:[\w-]+)\]/.exec(prompt) ?? [];
      const input = { message_id: id };
      results.push(await onTool({ folder, name: 'get_attachment', input }));
      return answers('a kettle');
    },
  );
  const id = await owner.say(FAMILY, 'what is this?', { name: 'tea.png', content: PICTURE });
  await isIdle(assistant);
  expect(prompts[0]).toContain(`what is this?\n[image "tea.png", 1 kB, id ${id}]`);
  const { path } = (results[0] as { value: { path: string } }).value;
  expect(results).toEqual([
    {
      ok: true,
      value: { path, type: 'image/png', sizeBytes: PICTURE.length, name: 'tea.png' },
    },
  ]);
  const shelf = join(project.dir, 'data/media/family');
  const kept = join(shelf, path.replace('/workspace/media/', ''));
  expect(readFileSync(kept)).toEqual(PICTURE);
  expect(statSync(kept).mode & 0o777).toBe(0o644);
  const { history } = assistant.store;
  const [said] = history.page(FAMILY, null, 50);
  expect(said?.files).toEqual([{ name: 'tea.png', kind: 'image', sizeBytes: PICTURE.length }]);
  const seq = said?.seq ?? 0;
  expect(await owner.file(FAMILY, 'message', seq, 0)).toMatchObject({
    name: 'tea.png',
    mimeType: 'image/png',
    content: PICTURE,
  });
  expect(await owner.file(FAMILY, 'message', seq, 1)).toBeNull();
  expect(await owner.file('terminal:main', 'message', seq, 0)).toBeNull();
  await assistant.terminal.say('/unregister Family delete');
  await vi.waitFor(() => expect(owner.questions('terminal:main')).toHaveLength(1));
  await assistant.terminal.say('yes');
  await isIdle(assistant);
  expect(existsSync(shelf)).toBe(false);
  expect(await owner.file(FAMILY, 'message', seq, 0)).toBeNull();
  await assistant.stop();
});

test('a text that may only be talk is no command and no answer, not even to a question that is asked meanwhile', async () => {
  using project = new TestProject();
  const prompts: string[] = [];
  const { assistant, owner } = await startWithService(project, async ({ prompt }) => {
    prompts.push(prompt);
    return answers('as you like');
  });
  const { store, terminal } = assistant;
  await terminal.say('/unregister Family delete');
  await vi.waitFor(() => expect(owner.questions('terminal:main')).toHaveLength(1));
  for (const text of ['yes', '/status', 'help']) {
    await owner.say('terminal:main', text, undefined, { isTalk: true });
  }
  await isIdle(assistant);
  expect(prompts.join('\n')).toMatch(/yes[\s\S]*\/status[\s\S]*help/);
  expect(owner.questions('terminal:main')).toHaveLength(1);
  expect(store.groups.byJid(FAMILY)).not.toBeNull();
  // A question is found by an earlier address of its chat as well.
  store.chats.see({ jid: 'old:main', channel: 'terminal', name: null, isDirect: true }, 1);
  store.mergeChats('old:main', 'terminal:main');
  expect(owner.questions('old:main')).toHaveLength(1);
  await assistant.stop();
});

test('a filter sees the file that came from a page, and an empty or too large one is refused before anything is kept', async () => {
  using project = new TestProject();
  const log: string[] = [];
  Object.assign(globalThis, { filesSeen: log });
  using folder = new ContributionFolder({
    'reader.ts': `import { readFileSync } from 'node:fs';\n${filterFile(
      'reader',
      `() => async (_seen, { fetchAttachment }) => {
        const { path, mimeType, name } = await fetchAttachment();
        globalThis.filesSeen.push(name + ' ' + mimeType + ' ' + readFileSync(path, 'utf8'));
        return { kind: 'pass' };
      }`,
    )}`,
  });
  const { filters } = await filtersIn(folder);
  const { assistant, owner } = await startWithService(project, undefined, { filters });
  for (const content of [Buffer.alloc(0), Buffer.alloc(20 * MEBI)]) {
    await expect(owner.say(FAMILY, 'look', { name: 'a.txt', content })).rejects.toThrow(
      /is empty|20 MB at most/,
    );
  }
  await expect(
    owner.say('chat:nobody', '', { name: 'a.txt', content: Buffer.from('x') }),
  ).rejects.toThrow(/No registered chat/);
  expect(existsSync(join(project.dir, 'data/media'))).toBe(false);
  await owner.say(FAMILY, '', { name: 'a.txt', content: Buffer.from('hello') });
  await vi.waitFor(() => expect(log).toEqual(['a.txt text/plain hello']));
  await isIdle(assistant);
  // The copy for the filter is gone; the agent's own stays.
  expect(readdirSync(join(project.dir, 'data/tmp/owner-files'))).toEqual([]);
  expect(readdirSync(join(project.dir, 'data/media/family'))).toHaveLength(1);
  await assistant.stop();
});

test('a file of an answer can be looked at after it was sent, and goes with its chat', async () => {
  using project = new TestProject();
  const folder = join(project.dir, 'groups/family');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'plan.png'), PICTURE);
  const { assistant, owner } = await startWithService(project, async () =>
    answers('Here: ![the plan](plan.png)'),
  );
  await owner.say(FAMILY, 'the plan?');
  await isIdle(assistant);
  await vi.waitFor(() => expect(assistant.chat.sent).toHaveLength(1));
  const answer = assistant.store.history.page(FAMILY, null, 50).at(-1);
  expect(answer).toMatchObject({
    kind: 'answer',
    files: [{ name: 'plan.png', kind: null, sizeBytes: PICTURE.length }],
  });
  const seq = answer?.seq ?? 0;
  const found = await owner.file(FAMILY, 'answer', seq, 0);
  expect(found).toMatchObject({ name: 'plan.png', mimeType: 'image/png', content: PICTURE });
  const shelf = join(project.dir, 'data/outgoing');
  expect(readdirSync(shelf)).toHaveLength(1);
  await assistant.terminal.say('/unregister Family delete');
  await vi.waitFor(() => expect(owner.questions('terminal:main')).toHaveLength(1));
  await assistant.terminal.say('yes');
  await vi.waitFor(() => expect(readdirSync(shelf)).toEqual([]));
  expect(await owner.file(FAMILY, 'answer', seq, 0)).toBeNull();
  await assistant.stop();
});
