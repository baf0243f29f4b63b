import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { EmbedForGroup } from '../../../src/lib/embed.ts';
import { embedHere } from '../../../src/model/embeddings.ts';
import { isEnglish } from '../../../src/model/providers/local-embeddings/english.ts';
import { openEmbeddingThread } from '../../../src/model/providers/local-embeddings/thread.ts';
import { embedder } from '../../../src/model/providers/local-embeddings.ts';
import { TestProject } from '../../../src/testing/assistant.ts';
import { openEmbedder } from '../../../src/tools/semantic-memory/embedder.ts';
import { cosine, toBytes } from '../../../src/tools/semantic-memory/quantise.ts';
import { labelledSearch } from '../../semantic-memory/tests/fixtures.ts';
import { NOTES, QUESTIONS } from '../../semantic-memory/tests/labelled-notes.ts';
import { qualityOf } from '../../semantic-memory/tests/quality.ts';

const embedding = embedder.create();
const { signal } = new AbortController();
const ask = (...texts: readonly string[]) => embedding(texts, signal);

/** Returns the likeness of two texts to the model itself. */
async function likeness(one: string, other: string): Promise<number> {
  const [first, second] = await ask(one, other);
  if (!first || !second) throw new Error('no vector');
  return cosine(first, toBytes(second));
}

/** Makes vectors as the memory does, with the model of this skill. */
function memoryEmbedder() {
  const embed: EmbedForGroup = (request) => embedHere(embedding, request);
  return openEmbedder(embedder.name, { embed, signal, installed: [embedder] });
}

test('paraphrases are found: six in ten first, and more than eight in ten among five', async () => {
  const memory = memoryEmbedder();
  const texts = [...NOTES, ...QUESTIONS.map(({ text }) => text)];
  const made = await memory.ofNotes('main', texts);
  if (made.kind === 'failed') throw new Error(made.message);
  const vectors = new Map(texts.map((text, at) => [text, made.vectors[at] ?? null]));
  const search = labelledSearch((text) => vectors.get(text) ?? null);
  const of = (kind: string) => QUESTIONS.filter((each) => each.kind === kind);
  const paraphrases = await qualityOf(search, of('paraphrase'));
  expect(paraphrases.first).toBeGreaterThan(0.6);
  expect(paraphrases.firstFive).toBeGreaterThan(0.85);
  expect((await qualityOf(search, of('shared words'))).first).toBe(1);
  expect((await qualityOf(search, of('other form'))).first).toBe(1);
});

test('a text in another language has no vector: to the model all of them are alike', async () => {
  const foreign = [
    'Der Klempner kommt am 24. zwischen acht und zehn, um nach dem Heizkessel zu sehen.',
    'Le plombier vient le 24 entre huit et dix heures pour regarder la chaudière.',
    'El fontanero viene el 24 entre las ocho y las diez para mirar la caldera.',
    'De loodgieter komt op de 24e tussen acht en tien om naar de ketel te kijken.',
    'Сантехник придёт 24-го между восемью и десятью, чтобы посмотреть котёл.',
    '水管工24号八点到十点之间来看锅炉。',
    '4411 – 12.5.',
    '',
  ];
  expect(await ask(...foreign)).toEqual(foreign.map(() => null));
  const english = [...NOTES, ...QUESTIONS.map(({ text }) => text)];
  const kept = (await ask(...english)).filter((vector) => vector !== null);
  expect(kept.length).toBeGreaterThan(english.length * 0.97);
  expect(kept.every((vector) => vector.length === embedder.dimensions)).toBe(true);
});

test('a note in another language is found by its words, as without the model', async () => {
  const made = await memoryEmbedder().ofNotes('main', [
    'Die Heizung wird am Dienstag repariert.',
    'Der Zahnarzt hat am Montag angerufen.',
  ]);
  const asked = await memoryEmbedder().ofQuestion('main', 'Wann wird die Heizung repariert?');
  if (made.kind === 'failed' || asked.kind === 'failed') throw new Error('failed');
  const [question] = asked.vectors;
  const near = made.vectors.map((vector) =>
    question && vector ? cosine(question, toBytes(vector)) : -1,
  );
  expect(near[0]).toBeGreaterThan(0.35);
  expect(near[1]).toBeLessThan(0.25);
});

test('words of English are told from those of other languages by their pieces', () => {
  expect(isEnglish('the boiler', ['▁the', '▁boil', 'er'])).toBe(true);
  expect(isEnglish('Heizkessel', ['▁He', 'iz', 'k', 'es', 'sel'])).toBe(false);
  expect(isEnglish('', [])).toBe(false);
  expect(isEnglish('котёл', ['▁', '�'])).toBe(false);
});

test('a question does not wait for a long batch, and what nobody waits for is dropped', async () => {
  const done: string[] = [];
  const thousand = Array.from({ length: 1_000 }, (_, at) => `The number of this note is ${at}.`);
  const batch = new AbortController();
  const long = embedding(thousand, batch.signal).then(
    () => done.push('batch'),
    () => done.push('dropped'),
  );
  await ask('Where is the key?').then(() => done.push('question'));
  batch.abort();
  await long;
  expect(done).toEqual(['question', 'dropped']);
  expect(await likeness('Where is the key?', 'The key is in the drawer.')).toBeGreaterThan(0.4);
});

test('long texts and signs that stand for a phrase are cut, and cost no more', async () => {
  const [long, longer] = await ask('a key '.repeat(400), 'a key '.repeat(200_000));
  expect(longer).toEqual(long);
  expect(await ask('ﷺ'.repeat(100_000), '\u0000', '\uD800 the key')).toHaveLength(3);
});

test('a thread that breaks is told in words, and the next text starts another', async () => {
  using project = new TestProject();
  const file = join(project.dir, 'worker.mjs');
  writeFileSync(
    file,
    `import { parentPort } from 'node:worker_threads';
    parentPort.on('message', (text) => {
      if (text === 'break') throw new Error('out of memory');
      if (text === 'refuse') parentPort.postMessage({ kind: 'failed', message: 'no weights' });
      else parentPort.postMessage({ kind: 'vector', vector: Float32Array.of(text.length) });
    });`,
  );
  const embed = openEmbeddingThread({ worker: pathToFileURL(file), idleMs: 20 });
  expect(await embed(['one'], signal)).toEqual([Float32Array.of(3)]);
  await expect(embed(['one', 'break'], signal)).rejects.toThrow(/cannot be used: out of memory\./);
  await expect(embed(['refuse'], signal)).rejects.toThrow(/failed: no weights/);
  // The idle thread ends meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(await embed(['three'], signal)).toEqual([Float32Array.of(5)]);
});
