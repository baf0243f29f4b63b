import { z } from 'zod';

/** Settings of the pipeline. */
export const PipelineSettings = z.object({
  PIPELINE_LEARNING: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
  PIPELINE_ANSWER_USD: z.coerce
    .number({ error: 'must be dollars, such as 0.50' })
    .positive('must be more than 0')
    .max(1_000, 'must be 1000 or less')
    .default(0.5),
  PIPELINE_RATERS: z
    .enum(['everyone', 'owner'], { error: 'must be everyone or owner' })
    .default('everyone'),
  PIPELINE_EMBEDDINGS: z
    .string()
    .regex(/^[^\s/]+\/\S+$/, 'must be a model with its prefix, such as local-embeddings/english')
    .optional(),
});
export type PipelineSettings = z.output<typeof PipelineSettings>;
