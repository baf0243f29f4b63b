import { oddEntry } from '../kit/allow-list.ts';
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
export function allowListProblem(allowFrom: readonly string[]): string | null {
  if (allowFrom.length === 0) {
    return (
      'Nobody is allowed to write to the assistant yet. Add MATRIX_ALLOW_FROM=<your user id> to .env, such as ' +
      '@ada:example.org, and restart.'
    );
  }
  const odd = oddEntry(allowFrom, isUserId);
  return odd === undefined
    ? null
    : `MATRIX_ALLOW_FROM in .env holds "${odd}", which is not a user id. Write ids such as @ada:example.org ` +
        'with commas between them, or * for everybody, and restart.';
}
