import { z } from 'zod';
import { type AskLinear, LinearError } from './api.ts';

const Viewer = z.looseObject({
  viewer: z.looseObject({ id: z.string(), name: z.string(), email: z.string().nullish() }),
  organization: z.looseObject({ name: z.string() }),
});

/** The user to whom a key belongs. */
export type Viewer = {
  readonly id: string;
  readonly name: string;
  readonly workspace: string;
  /** The time at Linear's end; null where it was not told. */
  readonly serverTime: number | null;
};

/** Asks Linear whose key it is. @throws LinearError */
export async function viewerOf(ask: AskLinear, signal?: AbortSignal): Promise<Viewer> {
  const { data, serverTime } = await ask(
    'query Viewer { viewer { id name email } organization { name } }',
    {},
    signal,
  );
  const { viewer, organization } = Viewer.parse(data);
  return { id: viewer.id, name: viewer.name, workspace: organization.name, serverTime };
}

const KEY_WRONG =
  'Linear does not take the key (any more). Make one as the assistant’s user under Settings, Security & access';

/** The words for a key of the settings that is wrong or was revoked. */
export const KEY_REFUSED = `${KEY_WRONG}, write it as LINEAR_API_KEY into .env and restart.`;

/** Says in a sentence why Linear did not answer as it should. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof LinearError)) return 'What answers at LINEAR_API_URL is not Linear.';
  switch (error.kind) {
    case 'key':
      return `${KEY_WRONG}.`;
    case 'pause':
      return error.message;
    case 'refused':
      return `Linear refused the request: ${error.message.replace(/\.$/, '')}.`;
    case 'unreachable':
      return `Linear cannot be reached (${error.message}).`;
  }
}
