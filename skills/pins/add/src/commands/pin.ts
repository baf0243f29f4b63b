import type { CommandContext } from '../host/contracts/command.ts';
import { defineCommand } from '../host/contracts/command.ts';
import { type Pin, quotedIn, readPins, withPin, writePins } from '../prompt/pins/pin-list.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'pin',
  topic: 'conversation',
  help: 'pin a line, so that the agent sees it in every turn of this chat: `/pin <text>`, `/pin` in answer to a message, or `/pin` for the last message',
  chats: 'all',
  async run(context, argument) {
    return { kind: 'answer', text: await pinned(context, argument.trim()) };
  },
});

async function pinned(context: CommandContext, argument: string): Promise<string> {
  const { settings, group, now } = context;
  const read = readPins(settings.dataDir, group.folder);
  if (read.kind === 'unreadable') return unreadableText(read.path);
  const wanted = argument === '' ? messageToPin(context) : { text: argument, from: null };
  if (wanted === null) {
    return 'Nothing has been said here that could be pinned. Say `/pin <text>`.';
  }
  const added = withPin(read.pins, { ...wanted, pinnedAt: now() });
  if (added.kind === 'same') return `That is pinned already: it is number ${added.number}.`;
  if (added.kind === 'refused') {
    return `${added.reason} Nothing was pinned. \`/pins\` lists them, and \`/unpin <number>\` makes room.`;
  }
  await writePins(settings.dataDir, group.folder, added.pins);
  const words = argument === '' ? `“${wanted.text}”` : 'That';
  return `${words} is pinned here as number ${added.pins.length}: the agent sees it in every turn, also after \`/reset\`. \`/unpin ${added.pins.length}\` takes it away.`;
}

/** Returns the message that the command answers, else the last one that somebody wrote here. */
function messageToPin({ message, store, group }: CommandContext): Omit<Pin, 'pinnedAt'> | null {
  const command = message();
  const quoted = command === null ? null : quotedIn(command.text);
  if (quoted !== null) return quoted;
  const range = { jid: group.jid, from: 0, upto: (command?.seq ?? Number.MAX_SAFE_INTEGER) - 1 };
  const [last] = store.messages.between(range, 1);
  if (last === undefined || last.text.trim() === '') return null;
  const from = last.isOwner ? null : oneLine(last.senderName ?? last.sender);
  return { text: last.text.trim(), from };
}

/** Says that pins are there which cannot be read; nothing is written over them. */
export function unreadableText(path: string): string {
  return `\`${path}\` cannot be read as a list of pins, so nothing was changed. Mend the file, or delete it to begin anew.`;
}

function oneLine(name: string): string {
  return name
    .replace(/[\s\p{Cc}"]+/gu, ' ')
    .trim()
    .slice(0, 100);
}
