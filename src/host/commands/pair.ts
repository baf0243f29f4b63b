import { z } from 'zod';
import type { OwnerCommand } from '../command.ts';

const Paired = z.looseObject({ phoneNumber: z.string() });
const Kept = z.object({ phoneNumber: z.string() });

export const command: OwnerCommand = {
  name: 'pair',
  help: 'links WhatsApp to your phone by a QR code, or with your number behind it by a code to type',
  async run(context, argument) {
    const { status } = context.channels().find(({ name }) => name === 'whatsapp') ?? {};
    if (status !== undefined && status.state !== 'unpaired' && status.state !== 'stopped') {
      return {
        kind: 'answer',
        text: `WhatsApp is paired already (${status.state}). To move to another phone, stop the assistant and run \`npx claw setup whatsapp --again\`.`,
      };
    }
    const phone = argument.trim() === '' ? [] : [`--phone=${argument.trim()}`];
    const result = await context.claw(['setup', 'whatsapp', ...phone], context.say);
    if (!result.ok) {
      const reason = result.error?.message ?? 'claw did not say why.';
      return { kind: 'answer', text: `WhatsApp was not paired: ${reason}` };
    }
    const { phoneNumber } = Paired.parse(result.data);
    return { kind: 'restart', data: { phoneNumber } };
  },
  resume: async (_context, data) => `WhatsApp is paired with +${Kept.parse(data).phoneNumber}.`,
};
