import { z } from 'zod';
import type { Pairing } from '../channels/channel.ts';
import { progressLine } from '../host/changes/claw-with-progress.ts';
import type { ClawProgress } from '../host/contracts/claw.ts';
import { type CommandContext, defineCommand } from '../host/contracts/command.ts';

const Done = z.looseObject({ summary: z.string() });
const Kept = z.object({ title: z.string(), summary: z.string() });

/** A channel that can be paired. */
type Pairable = ReturnType<CommandContext['channels']>[number] & { readonly pairing: Pairing };

export const command = defineCommand({
  scope: 'owner',
  name: 'pair',
  topic: 'chats',
  help: 'link a channel to your phone by a QR code; `/pair <your number>` by a code to type',
  isCancellable: true,
  async run(context, argument) {
    const asked = chosenIn(context, argument.trim());
    if (typeof asked === 'string') return { kind: 'answer', text: asked };
    const { name, status, pairing } = asked.channel;
    const { title } = pairing;
    if (status.state !== 'unpaired' && status.state !== 'stopped') {
      return {
        kind: 'answer',
        text: `${title} is paired already (${status.state}). To move to another phone, stop the assistant and run \`npx claw setup\`, which offers to link it again.`,
      };
    }
    // This command restarts by itself; a restart from outside would wait for this command to end.
    const options = [...pairing.optionsOf(asked.typed), ...(context.drawsCodes ? ['--relay'] : [])];
    const words = ['setup', '--no-restart', name, ...options];
    const say = (progress: ClawProgress) => {
      const line = progressLine(progress);
      if (line !== null) context.say(drawn(line));
    };
    const result = await context.claw(words, say, context.signal);
    if (!result.ok && context.signal.aborted) {
      return { kind: 'answer', text: 'Pairing was stopped. Say `/pair` when you want it.' };
    }
    if (!result.ok) {
      const reason = result.error?.message ?? 'claw did not say why.';
      const isWrongUse = result.error?.code === 'USAGE';
      const text = isWrongUse
        ? pairing.wrongUse(asked.typed)
        : `${title} was not paired. ${reason}`;
      return { kind: 'answer', text };
    }
    return { kind: 'restart', data: { title, summary: Done.parse(result.data).summary } };
  },
  async resume(_context, data) {
    const { title, summary } = Kept.parse(data);
    return `${title} is linked. ${summary}`;
  },
});

/** Finds the channel that is meant, which may be named first; a text says why none is. */
function chosenIn(
  { channels }: CommandContext,
  argument: string,
): { readonly channel: Pairable; readonly typed: string } | string {
  const pairable = channels().flatMap((channel): readonly Pairable[] =>
    channel.pairing === null ? [] : [{ ...channel, pairing: channel.pairing }],
  );
  const [word = ''] = argument.split(/\s/, 1);
  const named = pairable.find(({ name }) => name === word.toLowerCase());
  if (named !== undefined) return { channel: named, typed: argument.slice(word.length).trim() };
  const [only, another] = pairable;
  if (only === undefined) {
    return 'No channel here is linked with `/pair`. `npx claw setup` in a shell sets up the others.';
  }
  if (another === undefined) return { channel: only, typed: argument };
  const ways = pairable.map(({ name, pairing }) => `\`/pair ${name}\` for ${pairing.title}`);
  return `Several channels can be linked. Say ${ways.join(', ')}.`;
}

/** Puts a QR code into a block of its own, which the terminal draws. */
function drawn(line: string): string {
  const [, code] = /^qr (\S+)$/.exec(line) ?? [];
  return code === undefined ? line : `\`\`\`qr\n${code}\n\`\`\``;
}
