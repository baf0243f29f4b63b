import type { OwnerCommand } from '../command.ts';

export const command: OwnerCommand = {
  name: 'groups',
  help: 'chats that are registered, and those that are known',
  async run({ store }) {
    const groups = store.groups.all().map(({ name, folder, isMain, needsTrigger }) => {
      const note = isMain
        ? 'your own chat'
        : needsTrigger
          ? 'answers when called'
          : 'answers always';
      return `${name} (groups/${folder}, ${note})`;
    });
    const known = store.chats.unregistered(200).map(({ name, jid }) => `${name ?? jid} (${jid})`);
    const parts = ['Registered:', numbered(groups, 1)];
    if (known.length > 0) {
      parts.push('Known, and never written to:', numbered(known, groups.length + 1));
    }
    return { kind: 'answer', text: parts.join('\n\n') };
  },
};

function numbered(lines: readonly string[], from: number): string {
  return lines.map((line, index) => `${from + index}. ${line}`).join('\n');
}
