import { z } from 'zod';
import { discoverExports } from '../lib/discover.ts';

/** Turns texts into vectors on this machine. Rejects with a sentence where it cannot. */
export type LocalEmbedding = (
  texts: readonly string[],
  signal: AbortSignal,
) => Promise<readonly (Float32Array | null)[]>;

/**
 * A model of embeddings that needs no server: the export `embedder` of a file in `src/model/providers/`. It costs
 * nothing, and no text leaves this machine.
 */
export type EmbedderContribution = {
  /** The model's name, as others name a provider's: `acme/small`. Unique. */
  readonly name: string;
  /** The length of its vectors. */
  readonly dimensions: number;
  /** The least cosine at which a text bears on another. */
  readonly threshold: number;
  /**
   * Makes it, once for a process. It loads its weights when it is first asked, works beside the main thread, and keeps
   * no process alive. A text that it does not understand, such as one in another language, has no vector.
   */
  create(): LocalEmbedding;
};

/** Defines a model of embeddings on this machine. */
export function defineEmbedder(definition: EmbedderContribution): EmbedderContribution {
  return definition;
}

const Shape = z.looseObject({
  name: z.string().regex(/^[^\s/]+\/\S+$/),
  dimensions: z.int(),
  threshold: z.number(),
  create: z.function(),
});
const Definition = z.custom<EmbedderContribution>(
  (value) => Shape.safeParse(value).success,
  'must be made by defineEmbedder({ name, dimensions, threshold, create })',
);

/** Returns the models of embeddings that this tree brings along, by their name. */
export async function discoverEmbedders(
  folder = `${import.meta.dirname}/providers`,
): Promise<readonly EmbedderContribution[]> {
  const found = await discoverExports(folder, 'embedder', Definition);
  return found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Finds an embedding on this machine by its model's name; null if a server has to be asked. */
export type FindEmbedding = (name: string) => Promise<LocalEmbedding | null>;

/** Opens the models of embeddings of this tree, each when it is first asked for. */
export function openEmbedders(
  discover: () => Promise<readonly EmbedderContribution[]> = discoverEmbedders,
): FindEmbedding {
  let installed: Promise<readonly EmbedderContribution[]> | null = null;
  const open = new Map<string, LocalEmbedding>();
  return async (name) => {
    installed ??= discover();
    const found = (await installed).find((each) => each.name === name);
    if (found === undefined) return null;
    const embedding = open.get(name) ?? found.create();
    open.set(name, embedding);
    return embedding;
  };
}
