import { allowListRule } from '../kit/allow-list.ts';

/** Returns the reason why the list cannot be used, with the line to add to `.env`; null for none. */
export const allowListProblem = allowListRule({
  name: 'SERIAL_ALLOW_FROM',
  purpose: 'write on the serial line',
  example: 'uart_user',
  hint: 'That is who writes a line without a sender_id; list a device that sends one by that.',
});
