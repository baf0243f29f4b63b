import { defineCommand } from '../host/contracts/command.ts';
import { nearestNames } from '../lib/nearest-names.ts';
import { readSelection, type Selection, selectRole } from '../prompt/roles/selection.ts';
import { whyPicked } from '../services/roles.ts';
import { listRoles, ROLES_FOLDER, type Role } from './role/role-files.ts';

const HOW =
  '`/role <name>` changes it in all chats, `/role none` ends it, `/role why` tells what it knew about your last message. A role is a file: `groups/global/roles/<name>.md`.';

export const command = defineCommand({
  scope: 'owner',
  name: 'role',
  help: 'list the roles of the assistant, or choose one for all chats: `/role <name>`; `/role why` shows which of its concepts your last message here brought in',
  chats: 'all',
  isQuick: true,
  async run({ settings, projectDir, store, callService }, argument) {
    const { dataDir } = settings;
    const roles = await listRoles(projectDir);
    // This command is one of the turns that run.
    const atWork = Math.max(0, store.turns.counts().running - 1);
    const [word = '', ...rest] = argument.trim().split(/\s+/);
    const isLong = word.toLowerCase() === 'select';
    const named = isLong ? rest.join(' ') : argument.trim();
    const name = named.toLowerCase().replace(/\s+/g, '-');
    if (name === '' || (name === 'list' && !isLong)) {
      return { kind: 'answer', text: listText(roles, readSelection(dataDir), atWork) };
    }
    if (word.toLowerCase() === 'why') {
      const { current } = readSelection(dataDir);
      if (current === null) return { kind: 'answer', text: `No role is chosen. ${HOW}` };
      const message = rest.length === 0 ? null : rest.join(' ');
      return { kind: 'answer', text: await whyPicked(callService, current, message) };
    }
    const role = name === 'none' ? null : (roles.find((one) => one.name === name) ?? undefined);
    if (role === undefined) return { kind: 'answer', text: unknownText(name, roles) };
    const selection = selectRole(dataDir, role?.name ?? null, atWork === 0);
    return { kind: 'answer', text: chosenText(selection, atWork) };
  },
});

function listText(roles: readonly Role[], { current, next }: Selection, atWork: number): string {
  const now = `Role in all chats: ${current ?? 'none'}.`;
  const queued = next === null ? '' : ` ${nextText(next.role, atWork)}`;
  const lines = roles.map(
    ({ name, description }) => `- ${name}${name === current ? ' (now)' : ''}: ${description}`,
  );
  const list = lines.length === 0 ? 'There are none yet.' : lines.join('\n');
  const isLost = current !== null && !roles.some(({ name }) => name === current);
  const lost = isLost ? [`\`${ROLES_FOLDER}/${current}.md\` is not there any more.`] : [];
  return [`${now}${queued}`, list, ...lost, HOW].join('\n\n');
}

function chosenText({ current, next }: Selection, atWork: number): string {
  if (next !== null) return nextText(next.role, atWork);
  return current === null
    ? 'No role in any chat, from the next message on.'
    : `${current} in all chats, from the next message on.`;
}

function nextText(role: string | null, atWork: number): string {
  const then = role === null ? 'no role' : role;
  if (atWork === 0) return `Then ${then}, from the next message on.`;
  const turns = atWork === 1 ? 'one turn runs' : `${atWork} turns run`;
  return `Queued: ${then} once nothing is being worked on; ${turns} now, and ${atWork === 1 ? 'ends' : 'end'} as begun.`;
}

function unknownText(name: string, roles: readonly Role[]): string {
  const names = roles.map((role) => role.name);
  const [close] = nearestNames(name, names, 1);
  const hint = close === undefined ? '' : ` Is it \`/role ${close}\`?`;
  if (names.length === 0) {
    return `There is no role ${name}, and none at all yet. Write \`${ROLES_FOLDER}/${name}.md\`, or ask me in your own chat to write it.`;
  }
  return `There is no role ${name}.${hint} There are: ${names.join(', ')}.`;
}
