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

test('help lists every command, and an unknown one names the nearest', async () => {
  using project = new TestProject(PROJECT);
  const assistant = await project.start();
  await assistant.terminal.say('/help');
  const help = await hears(assistant, '/undo');
  for (const name of ['add-<skill>', 'groups', 'help', 'remove-<skill>', 'restart', 'retry']) {
    expect(help).toContain(`\`/${name}\`: `);
  }
  await assistant.terminal.say('/statsu');
  await hears(assistant, 'There is no command `/statsu`. Nearest: `/status`');
  await assistant.terminal.say('/nonsense');
  await hears(assistant, 'There is no command `/nonsense`. `/help` lists the commands.');
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
  await assistant.terminal.say('/help');
  const help = await hears(assistant, 'Ctrl-D');
  expect(help).toContain('These too, by skills:\n\n- `/audit` (watch): the last calls\n\n');
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
  await vi.waitFor(() => expect(last()).toMatch(/^`\/restart`: starts the assistant/));
  await assistant.terminal.say('/help add');
  await vi.waitFor(() => expect(last()).toMatch(/^- `\/add-<skill>`: /));
  await assistant.terminal.say('/help ../..');
  await vi.waitFor(() => expect(last()).toContain('`/help` alone lists them all.'));
  await assistant.stop();
});
