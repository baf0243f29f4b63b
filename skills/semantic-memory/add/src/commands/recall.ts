import { type CommandContext, defineCommand } from '../host/contracts/command.ts';
import { recallBy } from '../tools/semantic-memory/calls.ts';
import { lineOf } from '../tools/semantic-memory/recalled-text.ts';

const MOST = 10;

export const command = defineCommand({
  scope: 'owner',
  name: 'recall',
  help: 'show how much is kept in the memory; with words, what it finds here; `/recall rebuild` makes its vectors again',
  chats: 'all',
  isQuick: true,
  async run(context, argument) {
    try {
      return { kind: 'answer', text: await answerOf(context, argument.trim()) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { kind: 'answer', text: `${reason} \`/status\` says more.` };
    }
  },
});

async function answerOf(
  { callService, group, settings, store }: CommandContext,
  asked: string,
): Promise<string> {
  if (asked === 'rebuild') return String(await callService('semantic-memory', { kind: 'rebuild' }));
  if (asked !== '') {
    const { found, problem } = await recallBy(callService, { text: asked, isStrict: false });
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const lines = found.slice(0, MOST).map((one) => lineOf(one, timeZone, settings.assistantName));
    const note = problem === null ? [] : [`By words alone: ${problem}`];
    return [...(lines.length === 0 ? ['Nothing was found.'] : lines), ...note].join('\n');
  }
  // What other chats have is the owner's to see, and not that of others in this one.
  const all = [...new Set(store.groups.all().map(({ folder }) => folder)), 'global'];
  const folders = group.isMain ? all : [group.folder];
  const request = { kind: 'status', folders, isWhole: group.isMain };
  return String(await callService('semantic-memory', request));
}
