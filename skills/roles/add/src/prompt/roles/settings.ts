import { z } from 'zod';
import { wholeNumber } from '../../lib/setting-values.ts';

/** Settings of roles. */
export const RolesEnvironment = z.object({
  /** The most tokens that concepts may take in a turn; 0 picks none. */
  ROLE_TOKENS: wholeNumber(0, 20_000).default(1_200),
});
