import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test, vi } from 'vitest';
import { type TestAssistant, TestProject, textsOf } from '../../testing/assistant.ts';
import { PROJECT } from '../../testing/owner/greeting-skill.ts';
import { discoverCommands, openCommands } from '../contracts/command.ts';

async function hears(assistant: TestAssistant, part: string): Promise<string> {
  await vi.waitFor(() => expect(textsOf(assistant.terminal).join('\n')).toContain(part));
  return textsOf(assistant.terminal).join('\n');
}

test('help shows the commands in groups, also without its slash, and explains a group or all', async () => {
  using project = new TestProject(PROJECT);
  const assistant = await project.start();
  const said = async (text: string) => {
    const before = assistant.terminal.sent.length;
    await assistant.terminal.say(text);
    await vi.waitFor(() => expect(assistant.terminal.sent.length).toBeGreaterThan(before));
    return textsOf(assistant.terminal).at(-1) ?? '';
  };
  const short = await said('/help');
  expect(short).toContain('- **This conversation**: ');
  expect(short.match(/^- \*\*/gm)).toHaveLength(5);
  expect(short.length).toBeLessThan(1_000);
  for (const same of ['help', ' Help ', '?', '/', '/ help']) expect(await said(same)).toBe(short);
  const chats = await said('/help chats');
  expect(chats).toMatch(/^Chats:\n\n- `\/allow`: /);
  expect(await said('/help your code')).toContain('`/undo`: ');
  await assistant.stop();
});

test('each command of this code is in a group of help', async () => {
  const { commands } = openCommands(await discoverCommands(), {});
  expect(commands.filter(({ topic }) => topic === undefined).map(({ name }) => name)).toEqual([]);
});

test('help lists every command, and an unknown one names the nearest', async () => {
  using project = new TestProject(PROJECT);
  const assistant = await project.start();
  await assistant.terminal.say('/help all');
  const help = await hears(assistant, '/undo`: ');
  for (const name of ['add-<skill>', 'groups', 'help', 'remove-<skill>', 'restart', 'retry']) {
    expect(help).toContain(`\`/${name}\`: `);
  }
  await assistant.terminal.say('/statsu');
  await hears(assistant, 'There is no command `/statsu`. Nearest: `/status`');
  await assistant.terminal.say('/nonsense');
  await hears(assistant, 'There is no command `/nonsense`. `/help` lists the commands.');
  await assistant.terminal.say('/add');
  await hears(assistant, 'Nearest: `/add-<skill>`. `/skills` lists the skills.');
  await assistant.stop();
});

test('help names the commands that skills have brought, and the skills that can be added', async () => {
  const audit = `export const command = defineCommand({ scope: 'owner', name: 'audit', help: 'the last calls', run: async () => ({ kind: 'answer', text: 'none' }) });`;
  const contract = pathToFileURL(join(import.meta.dirname, '../contracts/command.ts')).href;
  const file = `import { defineCommand } from '${contract}';\n${audit}\n`;
  using project = new TestProject({
    ...PROJECT,
    'src/commands/audit.ts': file,
    '.claw/packages/watch/add/src/commands/audit.ts': file,
    'skills/watch/manifest.yaml': 'skill: watch\n',
  });
  const found = await discoverCommands(join(project.dir, 'src/commands'));
  const { commands } = openCommands([...(await discoverCommands()), ...found], {});
  const assistant = await project.start({ over: { commands } });
  await assistant.terminal.say('/help all');
  const help = await hears(assistant, 'Ctrl-D');
  expect(help).toContain('**From skills**\n\n- `/audit` (watch): the last calls\n\n');
  expect(help).toContain('- `/status`: ');
  expect(help).toContain(
    'Skills that can be added: `/add-greeting`, `/add-packed`. `/skills` says',
  );
  await assistant.stop();
});

test('help on a command says it alone, and on what is none that there is none', async () => {
  using project = new TestProject(PROJECT);
  const assistant = await project.start();
  await assistant.terminal.say('/help /restart');
  const last = () => textsOf(assistant.terminal).at(-1);
  await vi.waitFor(() => expect(last()).toMatch(/^`\/restart`: start the assistant/));
  await assistant.terminal.say('/help add');
  await vi.waitFor(() => expect(last()).toMatch(/^- `\/add-<skill>`: /));
  await assistant.terminal.say('/help ../..');
  await vi.waitFor(() => expect(last()).toContain('`/help all` lists them all.'));
  await assistant.stop();
});
