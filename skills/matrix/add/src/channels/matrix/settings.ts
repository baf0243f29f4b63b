import { z } from 'zod';
import { Address, NameList, oneOf } from '../../lib/setting-values.ts';
import { isUserId } from './jid.ts';

/** Settings of the owner for Matrix. */
export const MatrixEnvironment = z.object({
  MATRIX_ALLOW_FROM: NameList,
  MATRIX_ENCRYPTION: oneOf(['on', 'off']).default('on'),
  MATRIX_GROUP_POLICY: oneOf(['mention', 'open', 'allowlist']).default('mention'),
  MATRIX_HOMESERVER: Address.transform((url) => url.replace(/\/+$/, '')).optional(),
  MATRIX_OWNER: z.string().trim().refine(isUserId, 'a user id such as @ada:example.org').optional(),
  MATRIX_ROOMS: NameList,
  MATRIX_TOKEN: z.string().trim().optional(),
});

/** In which rooms the account listens, and to what. */
export type GroupPolicy = 'mention' | 'open' | 'allowlist';

/** The owner's account for the assistant. */
export type MatrixSettings = {
  /** Address of the client-server API, without a slash at the end. */
  readonly homeserver: string;
  readonly token: string;
  /** User ids, or `*`; the owner's is among them. */
  readonly allowFrom: readonly string[];
  /** The owner's user id, if their own chat with the account is one of the assistant's main chats. */
  readonly owner: string | null;
  readonly policy: GroupPolicy;
  /** The rooms of the policy `allowlist`. */
  readonly rooms: readonly string[];
  readonly isEncrypting: boolean;
};

/** Returns the account; null where homeserver or token is not set. */
export function accountOf(settings: z.output<typeof MatrixEnvironment>): MatrixSettings | null {
  const { MATRIX_HOMESERVER: homeserver, MATRIX_TOKEN: token = '' } = settings;
  const { MATRIX_OWNER: owner = null, MATRIX_ALLOW_FROM: listed } = settings;
  if (homeserver === undefined || token === '') return null;
  return {
    homeserver,
    token,
    allowFrom: owner === null ? listed : [...new Set([...listed, owner])],
    owner,
    policy: settings.MATRIX_GROUP_POLICY,
    rooms: settings.MATRIX_ROOMS,
    isEncrypting: settings.MATRIX_ENCRYPTION === 'on',
  };
}
