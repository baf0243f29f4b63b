import { defineCommand } from '../host/contracts/command.ts';
import { lineOf } from '../tools/semantic-memory/recalled-text.ts';
import { runningMemory } from '../tools/semantic-memory/running.ts';
import { statusLine } from '../tools/semantic-memory/status-line.ts';

const MOST = 10;

export const command = defineCommand({
  scope: 'owner',
  name: 'recall',
  help: 'how much is kept in the memory; with words, what it finds here; `rebuild` makes its vectors again',
  chats: 'all',
  isQuick: true,
  async run({ settings, group, store }, argument) {
    const memory = runningMemory(settings.dataDir);
    if (memory === null) {
      return answer('The memory is not running: `/status` says why, under `semantic-memory`.');
    }
    const asked = argument.trim();
    if (asked === 'rebuild') {
      memory.rebuild();
      return answer(
        'All vectors are made again, in the background. `/recall` says how far that is.',
      );
    }
    if (asked !== '') {
      const wish = { folder: group.folder, text: asked, isStrict: false };
      const { found, problem } = await memory.recall(wish);
      const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
      const lines = found.slice(0, MOST).map((one) => lineOf(one, timeZone));
      const note = problem === null ? [] : [`By words alone: ${problem}`];
      return answer([...(lines.length === 0 ? ['Nothing was found.'] : lines), ...note].join('\n'));
    }
    // What other chats have is the owner's to see, and not that of others in this one.
    const all = [...new Set(store.groups.all().map(({ folder }) => folder)), 'global'];
    const folders = group.isMain ? all : [group.folder];
    const each = folders.map((folder) => `- ${folder}: ${memory.status(folder).notes} notes`);
    const state = memory.status(group.isMain ? undefined : group.folder);
    return answer([`${statusLine(state)}.`, '', ...each].join('\n'));
  },
});

function answer(text: string) {
  return { kind: 'answer', text } as const;
}
