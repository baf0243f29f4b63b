import { z } from 'zod';

/** Facts about a model of the pool. */
const PoolModel = z.object({
  /** Its name with the prefix. */
  name: z.string(),
  seesPictures: z.boolean(),
  hasTools: z.boolean(),
});
export type PoolModel = z.output<typeof PoolModel>;

/** A router's question: in which order the models of a turn are asked, and how. */
export const RouteRequest = z.object({
  kind: z.literal('route'),
  prompt: z.string(),
  isTask: z.boolean(),
  hasPictures: z.boolean(),
  /** True if the owner has chosen the first by `/model`: the order stays. */
  isChosen: z.boolean(),
  /** Best first, by the pool. */
  models: z.array(PoolModel).min(1),
});
export type RouteRequest = z.output<typeof RouteRequest>;

/** The models in their order, and what stages say of each beside its name. */
export const RouteReply = z.array(
  z.object({
    name: z.string(),
    contextTokens: z.int().positive().optional(),
    maxTokens: z.int().positive().optional(),
    headers: z.record(z.string(), z.string()).optional(),
  }),
);
export type RouteReply = z.output<typeof RouteReply>;
