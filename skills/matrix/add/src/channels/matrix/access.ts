import { allowListRule } from '../kit/allow-list.ts';
import { isRoomId, isUserId } from './jid.ts';
import type { MatrixSettings } from './settings.ts';

/** Returns the reason why the lists cannot be used, with the line to add to `.env`; null for none. */
export function accessProblem({
  allowFrom,
  policy,
  rooms,
}: Pick<MatrixSettings, 'allowFrom' | 'policy' | 'rooms'>): string | null {
  const people = allowListProblem(allowFrom);
  if (people !== null) return people;
  if (policy !== 'allowlist') return null;
  const odd = rooms.find((room) => !isRoomId(room));
  return odd === undefined
    ? null
    : `MATRIX_ROOMS in .env holds "${odd}", which is not the id of a room. Write ids such as ` +
        '!abc:example.org with commas between them, and restart.';
}

/** Returns the reason why the list of people cannot be used; null for none. */
export const allowListProblem = allowListRule({
  name: 'MATRIX_ALLOW_FROM',
  purpose: 'write to the assistant',
  example: '<your user id, such as @ada:example.org>',
  entries: {
    isValid: isUserId,
    otherwise: 'not a user id',
    form: 'ids such as @ada:example.org',
  },
});
