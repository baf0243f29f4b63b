import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { startAssistant, textsOf } from '../../testing/assistant.ts';
import { describeWithEngine } from '../../testing/engine.ts';
import {
  type AnthropicScript,
  lastToolResults,
  lastUserText,
} from '../../testing/model/anthropic.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';
import { lazySandbox } from '../turns/agent/lazy-sandbox.ts';

/** Calls the tool that the last message names, with its input, and answers with the result. */
const toolScript: AnthropicScript = (request) => {
  const results = lastToolResults(request);
  if (results.length > 0) return [{ type: 'text', text: results.join('\n') }];
  const [, name = '', input = '{}'] = /call (\w+) (\{.*\})/.exec(lastUserText(request)) ?? [];
  return [{ type: 'tool_use', name, input: JSON.parse(input) }];
};

await describeWithEngine('docker', 'the assistant with its agents in containers', () => {
  test('lets main’s agent manage chats, and no other one reach beyond its own', async () => {
    await using project = await sandboxProject({
      engine: 'docker',
      script: toolScript,
    });
    // Stands for a database in tests of the sandbox alone.
    rmSync(join(project.dataDir, 'claw.db'));
    const { sandbox } = project;
    const assistant = await startAssistant(project.dir, {
      environment: project.environment,
      over: { sandbox: lazySandbox(async () => ({ kind: 'ready', sandbox })) },
    });
    const { chat, terminal, store } = assistant;
    await chat.meet('chat:club', 'Club');
    await chat.meet('chat:b', 'Book Circle');
    const owner = async (text: string): Promise<string> => {
      const before = terminal.sent.length;
      await terminal.say(text);
      await vi.waitFor(() => expect(terminal.sent.length).toBeGreaterThan(before));
      return terminal.sent[before]?.text ?? '';
    };
    const club = async (text: string): Promise<string> => {
      const before = chat.sent.length;
      await chat.say(text, { jid: 'chat:club', isDirect: false, isOwner: false });
      await vi.waitFor(() => expect(chat.sent.length).toBeGreaterThan(before));
      return chat.sent[before]?.text ?? '';
    };

    expect(await owner('call register_group {"chat":"Club","trigger":"always"}')).toContain(
      'Club is registered, with the folder groups/club.',
    );
    expect(await readFile(join(project.dir, 'groups/club/CLAUDE.md'), 'utf8')).toContain('Memory');
    expect(await club('call register_group {"chat":"Book Circle"}')).toContain(
      "tried to call unavailable tool 'register_group'",
    );
    const offered = project.server.requests.at(-1)?.body.tools?.map(({ name }) => name);
    expect(offered).toContain('send_message');
    expect(offered).not.toContain('register_group');
    expect(offered).not.toContain('stay_silent');
    expect(
      await club('call send_message {"text":"psst","group":"Terminal","folder":"main"}'),
    ).toContain('This chat may write to itself only.');
    expect(await club('call list_groups {"caller":"main"}')).toContain('unavailable tool');
    expect(store.groups.byJid('chat:b')).toBeNull();

    await owner('call send_message {"text":"a note","group":"Club"}');
    await vi.waitFor(() => expect(textsOf(chat)).toContain('a note'));
    await owner('call unregister_group {"group":"Club"}');
    await chat.say('call send_message {"text":"x"}', { jid: 'chat:club', isDirect: false });
    expect(store.groups.byJid('chat:club')).toBeNull();
    await assistant.stop();
  });

  test('ends the container of a chat that is deleted, and its folder goes', async () => {
    await using project = await sandboxProject({ engine: 'docker' });
    rmSync(join(project.dataDir, 'claw.db'));
    const { sandbox } = project;
    const assistant = await startAssistant(project.dir, {
      environment: project.environment,
      over: { sandbox: lazySandbox(async () => ({ kind: 'ready', sandbox })) },
    });
    const { chat, terminal } = assistant;
    await chat.meet('chat:club', 'Club');
    await terminal.say('/register Club always');
    await vi.waitFor(() => expect(terminal.sent).toHaveLength(1));
    const inClub = { jid: 'chat:club', isDirect: false, isOwner: true, chatName: 'Club' };
    await chat.say('shell: echo a > a.txt; ln -s ../other linked; echo made', inClub);
    await vi.waitFor(() => expect(textsOf(chat)[0]).toContain('made'));
    expect(await readFile(join(project.dir, 'groups/club/a.txt'), 'utf8')).toBe('a\n');
    await chat.say('shell: sleep 20; echo late > late.txt', inClub);
    await vi.waitFor(() => expect(assistant.store.turns.counts().running).toBe(1));
    await terminal.say('/unregister Club delete');
    await vi.waitFor(() => expect(terminal.sent).toHaveLength(2));
    await terminal.say('yes');
    await vi.waitFor(() => expect(terminal.sent).toHaveLength(3));
    expect(textsOf(terminal)[2]).toBe('Everything of Club is deleted.');
    await expect(readFile(join(project.dir, 'groups/club/a.txt'))).rejects.toThrow('ENOENT');
    expect(await readFile(join(project.dir, 'groups/other/secret.txt'), 'utf8')).toContain(
      'secret',
    );
    expect(textsOf(chat).slice(1)).toEqual([]);
    await assistant.stop();
  });
});
