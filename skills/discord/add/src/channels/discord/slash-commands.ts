import type { REST } from '@discordjs/rest';
import { shortened } from '../../lib/graphemes.ts';
import type { ChatCommand } from '../channel.ts';
import type { FarInteraction } from './inbound/event.ts';
import type { RegisteredCommands } from './records/registered-commands.ts';

const SERVERS = 0;
const DIRECT = 1;
const TEXT = 3;
const LONGEST_HELP = 100;
const MOST = 100;

/**
 * Makes slash commands of the host's. Those of the owner's own chats are shown in direct chats, and only where the
 * owner has one here; others everywhere. A word with an argument in its name, `add-<skill>`, takes it as text.
 */
export function slashCommands(
  commands: readonly ChatCommand[],
  hasOwner: boolean,
): readonly object[] {
  return commands
    .filter(({ chats }) => chats !== 'main' || hasOwner)
    .map(({ name, help, chats }) => ({
      type: 1,
      name: name.split('<', 1)[0]?.replace(/-$/, '') ?? name,
      description: shortened(help, LONGEST_HELP),
      integration_types: [0],
      contexts: chats === 'main' ? [DIRECT] : [SERVERS, DIRECT],
      options: [{ type: TEXT, name: 'text', description: 'What belongs to it', required: false }],
    }))
    .filter(({ name }, at, all) => isName(name) && all.findIndex((one) => one.name === name) === at)
    .slice(0, MOST);
}

function isName(name: string): boolean {
  return /^[a-z0-9_-]{1,32}$/.test(name);
}

/** Tells Discord which slash commands there are, unless it has these already. Rejects with what the library throws. */
export async function registerCommands(
  api: REST,
  registered: RegisteredCommands,
  {
    applicationId,
    commands,
  }: { readonly applicationId: string; readonly commands: readonly object[] },
): Promise<void> {
  if (registered.has(applicationId, commands)) return;
  await api.put(`/applications/${applicationId}/commands`, { body: commands });
  registered.note(applicationId, commands);
}

/** Writes a slash command as it is typed elsewhere. */
export function typedCommand({ data: { name, options } }: FarInteraction): string {
  return [`/${name}`, ...options.map(({ value }) => String(value))].join(' ').trim();
}
