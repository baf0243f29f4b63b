import { type AuditEntry, lastEntries } from '../guards/guard/audit-log.ts';
import { defineCommand } from '../host/contracts/command.ts';
import { localTime } from '../host/scheduler/local-time.ts';
import { shortened } from '../lib/graphemes.ts';

const USUAL = 10;
const MOST = 50;
const LONGEST_INPUT = 120;

export const command = defineCommand({
  scope: 'owner',
  name: 'audit',
  help: 'show the last calls of tools, and what became of them: `/audit 30`, `/audit refused`, `/audit family shell`',
  isQuick: true,
  async run({ settings: { dataDir }, tasks: { timeZone } }, argument) {
    const words = argument
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    const count = words.find((word) => /^\d+$/.test(word));
    const wanted = words.filter((word) => word !== count);
    const fits = (entry: AuditEntry) => wanted.every((word) => isAbout(entry, word));
    const most = Math.min(Number(count ?? USUAL), MOST);
    const entries = lastEntries(dataDir, fits, most);
    if (entries.length === 0) {
      const what =
        wanted.length === 0 ? 'No call of a tool' : `No call that fits ${wanted.join(' and ')}`;
      return { kind: 'answer', text: `${what} was noted yet.` };
    }
    const lines = entries.map((entry) => lineOf(entry, timeZone));
    return { kind: 'answer', text: ['The last calls, the newest first:', ...lines].join('\n') };
  },
});

function isAbout({ chat, tool, decision, asked }: AuditEntry, word: string): boolean {
  if (word === 'asked') return asked;
  return [chat, tool, decision, decision === 'run' ? 'ran' : 'blocked'].includes(word);
}

function lineOf(entry: AuditEntry, timeZone: string): string {
  const { time, chat, tool, decision, asked, confidence, reason, input } = entry;
  const by = asked ? (decision === 'run' ? ', you allowed it' : ', you were asked') : '';
  const sure = confidence === null ? '' : ` (confidence ${confidence})`;
  const outcome = decision === 'run' ? `ran${by}` : `refused${by}: ${reason ?? ''}`;
  const at = localTime(Date.parse(time), timeZone);
  return `- ${at} ${chat} \`${tool}\` ${shown(input)} ${outcome}${sure}`.replace(/\s+/g, ' ');
}

/** Shows the input in one line; a sign for code inside it would end that. */
function shown(input: unknown): string {
  const text = (JSON.stringify(input) ?? '').replaceAll('`', "'");
  const cut = shortened(text, LONGEST_INPUT);
  return `\`${cut}\``;
}
