import { expect, test } from 'vitest';
import { prefixesOf } from '../../../src/tools/semantic-memory/embedder.ts';
import { folded, hashEmbedding } from '../../../src/tools/semantic-memory/hash-embedder.ts';
import { paragraphsOf, piecesOf } from '../../../src/tools/semantic-memory/paragraphs.ts';
import { codeOf, cosine, toBytes } from '../../../src/tools/semantic-memory/quantise.ts';
import { tellingWords, wordsOf } from '../../../src/tools/semantic-memory/query-words.ts';
import { searchNotes } from '../../../src/tools/semantic-memory/search.ts';
import { labelledSearch, noteOf, openTestNotes, realEmbedding } from './fixtures.ts';
import { NOTES, QUESTIONS } from './labelled-notes.ts';
import { qualityOf } from './quality.ts';

test('a real model finds paraphrases that words do not, and loses nothing that words find', async () => {
  const of = (kind: string) => QUESTIONS.filter((each) => each.kind === kind);
  const words = labelledSearch(() => null);
  const both = labelledSearch(realEmbedding);
  expect((await qualityOf(words, of('paraphrase'))).firstFive).toBeLessThan(0.3);
  expect((await qualityOf(both, of('paraphrase'))).firstFive).toBeGreaterThan(0.9);
  expect((await qualityOf(both, of('shared words'))).first).toBe(1);
});

test('the owner’s notes come before long answers and error texts that repeat the question', async () => {
  for (const embed of [hashEmbedding, realEmbedding]) {
    const alone = await qualityOf(labelledSearch(embed));
    const before = await qualityOf(labelledSearch(embed, 'answers as notes'));
    const after = await qualityOf(labelledSearch(embed, 'answers'));
    expect(before.first).toBeLessThan(alone.first / 2);
    expect(after.first).toBeGreaterThan(alone.first * 0.95);
    expect(after.firstFive).toBeGreaterThan(alone.firstFive * 0.9);
  }
});

test('of two messages that say the same the newer is first, and a file does not age', () => {
  const notes = openTestNotes();
  const DAY_MS = 86_400_000;
  const now = 1_000 * DAY_MS;
  const said = (text: string, days: number) => ({
    ...noteOf(text, days),
    saidAt: now - days * DAY_MS,
  });
  notes.append('main', notes.source('main', 'message', 'x:1'), [
    said('the boiler was repaired, once', 400),
    said('the boiler was repaired, again', 2),
  ]);
  const search = () =>
    searchNotes(notes, {
      folder: 'main',
      text: 'boiler repaired',
      vector: null,
      leastLikeness: 0,
      leastShare: 0,
      now,
    }).map(({ note }) => note.place);
  expect(search()).toEqual([2, 400]);
  notes.append('main', notes.source('main', 'file', 'a.md'), [noteOf('boiler: repaired', 1_000)]);
  expect(search()).toEqual([1_000, 2, 400]);
  notes.close();
});

test('a model gets the words before a text that it expects', () => {
  expect(prefixesOf('openai/text-embedding-3-small')).toBeNull();
  expect(prefixesOf('ollama/bge-m3')).toBeNull();
  expect(prefixesOf('ollama/all-minilm')).toBeNull();
  const pairs = [
    ['ollama/nomic-embed-text', 'search_query: ', 'search_document: '],
    ['ollama/nomic-embed-text:v1.5', 'search_query: ', 'search_document: '],
    ['local/intfloat/multilingual-e5-large', 'query: ', 'passage: '],
    ['local/intfloat/e5-base-v2', 'query: ', 'passage: '],
    ['local/intfloat/multilingual-e5-large-instruct', /^Instruct: .*\nQuery: $/s, ''],
    ['ollama/qwen3-embedding:0.6b', /^Instruct: .*\nQuery:$/s, ''],
    ['local/BAAI/bge-small-en-v1.5', /^Represent this sentence/, ''],
    ['ollama/mxbai-embed-large', /^Represent this sentence/, ''],
    ['ollama/snowflake-arctic-embed', /^Represent this sentence/, ''],
    ['ollama/snowflake-arctic-embed2', 'query: ', ''],
    ['ollama/embeddinggemma', 'task: search result | query: ', 'title: none | text: '],
  ] as const;
  for (const [model, question, note] of pairs) {
    expect(prefixesOf(model)?.question, model).toMatch(question);
    expect(prefixesOf(model)?.note, model).toBe(note);
  }
});

test('the local embedder finds other forms of a word, which words alone do not, and no paraphrases', async () => {
  const of = (kind: string) => QUESTIONS.filter((each) => each.kind === kind);
  const words = labelledSearch(() => null);
  const hash = labelledSearch(hashEmbedding);
  expect((await qualityOf(words, of('other form'))).firstFive).toBeLessThan(0.2);
  expect((await qualityOf(hash, of('other form'))).firstFive).toBeGreaterThan(0.9);
  expect((await qualityOf(hash, of('shared words'))).first).toBe(1);
  expect((await qualityOf(hash, of('paraphrase'))).firstFive).toBeLessThan(0.3);
});

test('a hash embedding has 384 numbers and length 1, is the same each time, and knows no case or accents', () => {
  const vector = hashEmbedding('Crème brûlée for Zoë');
  expect(vector).toHaveLength(384);
  expect(Math.hypot(...vector)).toBeCloseTo(1);
  expect(hashEmbedding('creme BRULEE for zoe')).toEqual(vector);
  expect(Math.hypot(...hashEmbedding('…'))).toBe(0);
  const alike = cosine(hashEmbedding('我们的房子在河边'), toBytes(hashEmbedding('房子在河边吗')));
  expect(alike).toBeGreaterThan(0.4);
});

test('the nearest by the codes of 512 bits are the nearest by the vectors', () => {
  const vectors = NOTES.map(realEmbedding);
  const distance = (one: Buffer, other: Buffer) =>
    one.reduce((sum, byte, at) => sum + bitsIn(byte ^ (other[at] ?? 0)), 0);
  const codes = vectors.map(codeOf);
  let kept = 0;
  for (const { text } of QUESTIONS) {
    const asked = realEmbedding(text);
    const nearest = (scores: readonly number[], most: number) =>
      [...scores.keys()]
        .toSorted((one, other) => (scores[one] ?? 0) - (scores[other] ?? 0))
        .slice(0, most);
    const exact = nearest(
      vectors.map((each) => -cosine(asked, toBytes(each))),
      3,
    );
    const coarse = nearest(
      codes.map((code) => distance(codeOf(asked), code)),
      16,
    );
    kept += exact.filter((at) => coarse.includes(at)).length;
  }
  expect(kept / (QUESTIONS.length * 3)).toBeGreaterThan(0.95);
});

function bitsIn(byte: number): number {
  return byte.toString(2).replaceAll('0', '').length;
}

test('a file is taken apart at blank lines, headings and items; a long text at its sentences', () => {
  const markdown = '# House #\r\n\r\nThe first paragraph\ngoes on.\n- one item here\n- ok\n';
  expect(paragraphsOf(markdown)).toEqual([
    { line: 3, heading: 'House', text: 'The first paragraph\ngoes on.' },
    { line: 5, heading: 'House', text: '- one item here' },
  ]);
  const long = 'A sentence of some words. '.repeat(100);
  const pieces = piecesOf(long);
  expect(pieces.every((piece) => piece.length <= 1_000 && piece.endsWith('.'))).toBe(true);
  expect(pieces.join(' ')).toBe(long.trim());
  expect(piecesOf('x'.repeat(2_500)).map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
});

test('a heading is read without its number signs, whatever signs are in it', () => {
  expect(paragraphsOf('##   A \u2028 B ##  \nThe paragraph.')).toMatchObject([
    { line: 2, heading: 'A \u2028 B' },
  ]);
});

test('a question becomes its words; those that most notes have are left out', () => {
  expect(wordsOf('Où est le "café" NEAR café? 房子')).toEqual([
    'ou',
    'est',
    'le',
    'cafe',
    'near',
    '房',
    '子',
  ]);
  const words = [
    { word: 'the', notes: 900 },
    { word: 'boiler', notes: 3 },
    { word: 'unknown', notes: 0 },
    { word: 'house', notes: 90 },
  ];
  expect(tellingWords(words, 100)).toEqual(['boiler', 'house']);
});

test('words that all notes have still find the newest of them', () => {
  const notes = openTestNotes();
  const source = notes.source('main', 'file', 'a.md');
  notes.append(
    'main',
    source,
    Array.from({ length: 5_000 }, (_, at) => noteOf(`common words ${at}`, at)),
  );
  const wish = {
    folder: 'main',
    text: 'common words',
    vector: null,
    leastLikeness: 0,
    leastShare: 0,
    now: 0,
  };
  expect(searchNotes(notes, wish).map(({ note }) => note.place)).toContain(4_999);
  expect(searchNotes(notes, { ...wish, text: '" OR * NEAR( -' })).toEqual([]);
  notes.close();
});

test('words are counted in steps at a start, and what is written between two steps counts once', () => {
  const first = openTestNotes();
  const source = first.source('main', 'file', 'a.md');
  const many = Array.from({ length: 5_000 }, (_, at) => `word${String(at).padStart(5, '0')}`);
  first.append('main', source, [noteOf(many.join(' ')), noteOf('word00001 word04999', 2)]);
  const index = first.again().index('main');
  if (index === null) throw new Error('no index');
  const steps = index.warmUp()[Symbol.iterator]();
  steps.next();
  // One that is counted already, and one that is not.
  index.addWords(10, 'word00001 word04999 new');
  steps.next();
  index.removeWords(10, 'word00001 word04999 new');
  index.addWords(11, 'word00001 word04999');
  while (!steps.next().done);
  index.addWords(12, 'word00001 word04999');
  const counts = ['word00001', 'word02500', 'word04999', 'new'].map(index.notesWith);
  expect(counts).toEqual([4, 1, 4, 0]);
  first.close();
});

test('a long file is written in steps, with searches between them, and one that was interrupted goes on', () => {
  const notes = openTestNotes();
  const source = notes.source('main', 'file', 'a.md');
  const texts = (count: number) =>
    Array.from({ length: count }, (_, at) => noteOf(`turtle number ${at}`, at + 1));
  const found = () =>
    searchNotes(notes, {
      folder: 'main',
      text: 'turtle',
      vector: null,
      leastLikeness: 0,
      leastShare: 0,
      now: 0,
    }).length;
  const total = () => notes.counts('main').total;
  const steps = notes.replace('main', source, texts(200))[Symbol.iterator]();
  steps.next();
  expect(total()).toBeGreaterThan(0);
  expect(total()).toBeLessThan(200);
  expect(found()).toBeGreaterThan(0);
  let count = 0;
  for (const _ of notes.replace('main', source, texts(150))) count += 1;
  expect(total()).toBe(150);
  expect(count).toBeGreaterThan(2);
  for (const _ of notes.removeSource('main', source));
  expect([total(), notes.sources('main')]).toEqual([0, []]);
  notes.close();
});

test('a question of signs that stand for a phrase each is cut before it grows', () => {
  expect(folded('ﷺ'.repeat(1_000_000)).length).toBe(20_000);
  expect(folded(`Élan ${'x'.repeat(40_000)}`).slice(0, 5)).toBe('elan ');
});
