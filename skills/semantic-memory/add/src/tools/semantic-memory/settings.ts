import { z } from 'zod';
import { anyNumber, wholeNumber } from '../../lib/setting-values.ts';

/** The setting of `EMBEDDING_MODEL` that asks no model. */
export const LOCAL = 'local';

/** Settings of the memory; service, tool, section, set-up and doctor each take theirs of them. */
export const MemoryEnvironment = z.object({
  EMBEDDING_MODEL: z
    .string()
    .regex(
      /^(local|[^\s/]+\/\S+)$/,
      'must be local, or a model with its provider, such as openai/text-embedding-3-small',
    )
    .optional(),
  RECALL_NOTES: wholeNumber(0, 50).default(5),
  RECALL_TOKENS: wholeNumber(50, 20_000).default(600),
  RECALL_THRESHOLD: anyNumber(0, 1).optional(),
});
