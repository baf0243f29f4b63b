import { type CommandContext, defineCommand } from '../host/contracts/command.ts';
import { describeTrigger } from '../host/groups/trigger.ts';

/** The most unregistered chats in one answer. */
const MAX_LISTED = 40;

export const command = defineCommand({
  scope: 'owner',
  name: 'groups',
  topic: 'chats',
  help: 'list registered and known chats, with numbers; `/groups family` searches by name',
  isQuick: true,
  async run(context, argument) {
    const wanted = argument.trim().toLowerCase();
    const isWanted = (name: string): boolean => name.toLowerCase().includes(wanted);
    const { groups, known, names } = context.registry.list();
    const registered = groups
      .filter(({ name, folder }) => isWanted(name) || isWanted(folder))
      .map(
        (group) =>
          `${group.number}. ${names.get(group.jid) ?? group.name} (groups/${group.folder}, ${noteOn(context, group)})`,
      );
    const others = known.filter(({ name, jid }) => isWanted(name ?? jid));
    const lines = others
      .slice(0, MAX_LISTED)
      .map(({ number, name, jid }) => `${number}. ${names.get(jid) ?? name ?? jid} (${jid})`);
    if (others.length > lines.length) {
      lines.push(`and ${others.length - lines.length} more: \`/groups\` and a part of the name`);
    }
    const parts = ['Registered:', registered.join('\n') || 'none of that name'];
    if (lines.length > 0) {
      parts.push('Known, and never written to; `/register` and the number:', lines.join('\n'));
    }
    return { kind: 'answer', text: parts.join('\n\n') };
  },
});

function noteOn(
  { store, settings, channels, silentChannels = [] }: CommandContext,
  group: Parameters<typeof describeTrigger>[0] & { readonly jid: string; readonly isMain: boolean },
): string {
  const channel = store.chats.byJid(group.jid)?.channel;
  const isThere = [...channels(), ...silentChannels].some(({ name }) => name === channel);
  const isGone = channel !== undefined && !isThere;
  if (group.isMain) {
    const isOnly = store.groups.all().filter(({ isMain }) => isMain).length === 1;
    const own = isOnly ? 'your own chat' : 'one of your own chats';
    return isGone ? `${own}, whose channel ${channel} is not in the code` : own;
  }
  if (isGone) return `its channel ${channel} is not in the code`;
  const callers = store.senders.ofGroup(group.jid).length;
  const how = describeTrigger(group, settings.assistantName);
  return callers === 0 ? how : `${how}, from ${callers} ${callers === 1 ? 'person' : 'people'}`;
}
