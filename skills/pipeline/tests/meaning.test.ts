import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import type { EmbedForGroup, EmbedResult } from '../../../src/lib/embed.ts';
import { openMeanings, typeOf } from '../../../src/services/pipeline/by-meaning.ts';
import { discoverStages } from '../../../src/services/pipeline/stage.ts';
import { REQUESTS } from './labelled-requests.ts';

const kept: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(`${import.meta.dirname}/vectors.json`, 'utf8'),
);

/** Returns the vector that a real model made of a text; `make-vectors.ts` writes them. */
function vectorOf(text: string): Float32Array | null {
  const bytes = Buffer.from(kept[text] ?? '', 'base64');
  if (bytes.length === 0) return null;
  return Float32Array.from(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length));
}

const embedded: EmbedForGroup = async ({ texts }) => ({
  kind: 'embedded',
  vectors: texts.map(vectorOf),
});

function open(embed: EmbedForGroup, now = () => 0) {
  const failures: string[] = [];
  const onFailed = (message: string): void => void failures.push(message);
  return { failures, meanings: openMeanings({ model: 'test/one', embed, now, onFailed }) };
}

/** Opens one whose examples have their vectors. */
async function opened() {
  const { meanings } = open(embedded);
  await vi.waitFor(async () =>
    expect(await meanings.of('Write a love letter to pizza', 'main')).not.toBe(null),
  );
  return meanings;
}

const stages = await discoverStages();
const byRules = async (text: string) => {
  const request = { text, files: [], hasPictures: false, isTask: false, toolsBefore: [] };
  return (await stages.profileOf(request)).type;
};

test('of requests in words that no rule knows, seven in ten are told by their meaning', async () => {
  const meanings = await opened();
  let [rules, both] = [0, 0];
  for (const [type, text] of REQUESTS) {
    const first = await byRules(text);
    if (first === type) rules += 1;
    if (typeOf(first, await meanings.of(text, 'main')) === type) both += 1;
  }
  console.log(
    `${REQUESTS.length} requests: ${rules} by the rules, ${both} by their meaning as well`,
  );
  expect(both / REQUESTS.length).toBeGreaterThan(0.7);
  expect(both).toBeGreaterThan(3 * rules);
});

test('words that leave no doubt count more than a meaning that is not clear', () => {
  expect(typeOf('CodeReview', { type: 'CodeGeneration', lead: 0.3 })).toBe('CodeReview');
  expect(typeOf('CodeReview', { type: 'Research', lead: 0.9 })).toBe('Research');
  expect(typeOf('Chat', { type: 'ToolUse', lead: 0.05 })).toBe('ToolUse');
  expect(typeOf('Unknown', null)).toBe('Unknown');
});

test('a text that is like no example, or that the model does not understand, is left to the rules', async () => {
  const far: EmbedForGroup = async ({ texts }) => ({
    kind: 'embedded',
    vectors: texts.map((text) => vectorOf(text) ?? new Float32Array(512).fill(0)),
  });
  const { meanings } = open(far);
  await vi.waitFor(async () =>
    expect(await meanings.of('Write a love letter to pizza', 'main')).not.toBe(null),
  );
  expect(await meanings.of('qwertz', 'main')).toBe(null);
  expect(await (await opened()).of('Guten Morgen', 'main')).toBe(null);
});

test('a model that gives no vectors is told of once, and asked again after ten minutes', async () => {
  let time = 0;
  const failed: EmbedResult = { kind: 'failed', message: 'The server is down.', isRefused: false };
  const embed = vi.fn<EmbedForGroup>(async () => failed);
  const { meanings, failures } = open(embed, () => time);
  for (const _again of [1, 2, 3]) expect(await meanings.of('Hello', 'main')).toBe(null);
  expect(failures).toEqual(['The server is down.']);
  expect(embed).toHaveBeenCalledTimes(1);
  time = 601_000;
  await meanings.of('Hello', 'main');
  expect(embed).toHaveBeenCalledTimes(2);
});
