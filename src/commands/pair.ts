import { z } from 'zod';
import { defineCommand } from '../host/contracts/command.ts';

const Paired = z.looseObject({ phoneNumber: z.string() });
const Kept = z.object({ phoneNumber: z.string() });

const USAGE = 'Say `/pair` for a QR code, or `/pair +49 151 23456789` for a code to type.';

export const command = defineCommand({
  scope: 'owner',
  name: 'pair',
  help: 'links WhatsApp to your phone by a QR code, or, followed by your number, by a code to type',
  isCancellable: true,
  async run(context, argument) {
    const { status } = context.channels().find(({ name }) => name === 'whatsapp') ?? {};
    if (status !== undefined && status.state !== 'unpaired' && status.state !== 'stopped') {
      return {
        kind: 'answer',
        text: `WhatsApp is paired already (${status.state}). To move to another phone, stop the assistant and run \`npx claw setup\`, which offers to link it again.`,
      };
    }
    // This command restarts by itself; a restart from outside would wait for this command to end.
    const phone = argument.trim() === '' ? [] : [`--phone=${argument.trim()}`];
    const relay = context.drawsCodes ? ['--relay'] : [];
    const asked = ['setup', '--no-restart', 'whatsapp', ...phone, ...relay];
    const result = await context.claw(asked, (line) => context.say(drawn(line)), context.signal);
    if (!result.ok && context.signal.aborted) {
      return { kind: 'answer', text: 'Pairing was stopped. Say `/pair` when you want it.' };
    }
    if (!result.ok) {
      const reason = result.error?.message ?? 'claw did not say why.';
      const text =
        result.error?.code === 'USAGE'
          ? `“${argument.trim()}” is not a phone number with its country code. ${USAGE}`
          : `WhatsApp was not paired. ${reason}`;
      return { kind: 'answer', text };
    }
    const { phoneNumber } = Paired.parse(result.data);
    return { kind: 'restart', data: { phoneNumber } };
  },
  resume: async (_context, data) => `WhatsApp is paired with +${Kept.parse(data).phoneNumber}.`,
});

/** A code that is to be drawn stands in a block of its own, which the terminal knows. */
function drawn(line: string): string {
  const [, code] = /^qr (\S+)$/.exec(line) ?? [];
  return code === undefined ? line : `\`\`\`qr\n${code}\n\`\`\``;
}
