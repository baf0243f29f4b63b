import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openOwnDatabases } from '../../../src/store/own-databases.ts';
import { loadVectors, MIGRATIONS } from '../../../src/tools/semantic-memory/database.ts';
import { hashEmbedding } from '../../../src/tools/semantic-memory/hash-embedder.ts';
import { openNotes } from '../../../src/tools/semantic-memory/notes.ts';
import { cosine, toBytes } from '../../../src/tools/semantic-memory/quantise.ts';
import { searchNotes } from '../../../src/tools/semantic-memory/search.ts';
import { labelledSearch, noteOf, realEmbedding } from './fixtures.ts';
import { ANSWERS, NOTES, QUESTIONS } from './labelled-notes.ts';
import { type Quality, qualityOf } from './quality.ts';

/** Prints how well and how fast notes are found: `npx node benchmark.ts [number of notes]`. */
const COUNT = Number(process.argv[2] ?? 100_000);
const SEARCHES = 200;

if (process.argv[3] !== 'speed') await printQuality();
printSpeed();

async function printQuality(): Promise<void> {
  console.log(
    'questions about 64 notes: right note first, among the first five, mean of 1 / place',
  );
  const kinds = ['paraphrase', 'shared words', 'other form'] as const;
  for (const kind of [...kinds, null]) {
    const questions = QUESTIONS.filter((each) => kind === null || each.kind === kind);
    console.log(`${kind ?? 'all'} (${questions.length})`);
    const none = () => null;
    const both = {
      'words alone': none,
      'hash + words': hashEmbedding,
      'model + words': realEmbedding,
    };
    for (const [name, embed] of Object.entries(both)) {
      print(name, await qualityOf(labelledSearch(embed), questions));
    }
    for (const [name, embed] of Object.entries({ hash: hashEmbedding, model: realEmbedding })) {
      print(`${name} alone`, await qualityOf(byVectorsOnly(embed), questions));
    }
  }
  console.log(`all, beside ${ANSWERS.length} long answers and errors that repeat the questions`);
  for (const [name, embed] of Object.entries({ hash: hashEmbedding, model: realEmbedding })) {
    print(`${name}, alike`, await qualityOf(labelledSearch(embed, 'answers as notes')));
    print(`${name}, weighed`, await qualityOf(labelledSearch(embed, 'answers')));
  }
}

function print(name: string, { first, firstFive, rank }: Quality): void {
  const percent = (share: number) => `${(share * 100).toFixed(0)} %`.padStart(6);
  console.log(`  ${name.padEnd(14)} ${percent(first)} ${percent(firstFive)}  ${rank.toFixed(2)}`);
}

function byVectorsOnly(embed: (text: string) => Float32Array) {
  const vectors = NOTES.map((text) => toBytes(embed(text)));
  return (text: string) => {
    const asked = embed(text);
    const scores = vectors.map((bytes, at) => [cosine(asked, bytes), at] as const);
    return scores.toSorted(([one], [other]) => other - one).map(([, at]) => at);
  };
}

/** Times the search among many notes of one folder beside a bare query of the same database. */
function printSpeed(): void {
  const dataDir = mkdtempSync(join(tmpdir(), 'claw-recall-'));
  const databases = openOwnDatabases({ dataDir, now: () => 0 });
  const database = databases.of('service', 'semantic-memory')(MIGRATIONS);
  loadVectors(database);
  const notes = openNotes(database, true);
  const source = notes.source('main', 'file', 'a.md');
  const texts = manyTexts(COUNT);
  const began = performance.now();
  for (let at = 0; at < COUNT; at += 1_000) {
    const part = texts.slice(at, at + 1_000);
    notes.append(
      'main',
      source,
      part.map((text, place) => noteOf(text, at + place)),
    );
    const waiting = notes.waiting('main', 1_000);
    notes.embedded('main', new Map(waiting.map(({ id, text }) => [id, hashEmbedding(text)])));
  }
  const seconds = (performance.now() - began) / 1_000;
  const mb = statSync(join(dataDir, 'databases/service-semantic-memory.db')).size / 1_048_576;
  console.log(`${COUNT} notes kept in ${seconds.toFixed(1)} s, ${mb.toFixed(0)} MB`);
  const before = process.cpuUsage();
  let steps = 0;
  for (const _ of notes.index('main')?.warmUp() ?? []) steps += 1;
  const { user, system } = process.cpuUsage(before);
  console.log(`made ready in ${steps} steps, CPU ${((user + system) / 1_000).toFixed(0)} ms`);
  const bare = database.prepare('SELECT text FROM notes WHERE id = ?');
  const count = database.prepare('SELECT count(*) FROM notes WHERE text LIKE ?');
  const ways: Readonly<Record<string, (at: number) => unknown>> = {
    'one row by its id': (at) => bare.get(1 + ((at * 7_919) % COUNT)),
    'LIKE over all notes': (at) => (at % 10 === 0 ? count.get(`%${at}%`) : null),
    'words alone': (at) => searchFor(at, false),
    'words and vectors': (at) => searchFor(at, true),
  };
  function searchFor(at: number, withVector: boolean): unknown {
    const text = `what about ${texts[(at * 104_729) % COUNT]?.slice(0, 60)}?`;
    const vector = withVector ? hashEmbedding(text) : null;
    return searchNotes(notes, {
      folder: 'main',
      text,
      vector,
      leastLikeness: 0.2,
      leastShare: 0.4,
      now: 0,
    });
  }
  // On a machine that does other things too, this tells more than the clock.
  const busy = new Map<string, number>();
  const times = new Map(Object.keys(ways).map((name) => [name, [] as number[]]));
  for (let at = 0; at < SEARCHES; at += 1) {
    for (const [name, run] of Object.entries(ways)) {
      const start = performance.now();
      const before = process.cpuUsage();
      if (run(at) === null) continue;
      times.get(name)?.push(performance.now() - start);
      const { user, system } = process.cpuUsage(before);
      busy.set(name, (busy.get(name) ?? 0) + user + system);
    }
  }
  for (const [name, list] of times) {
    const sorted = list.toSorted((one, other) => one - other);
    const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2);
    const cpu = ((busy.get(name) ?? 0) / 1_000 / list.length).toFixed(2);
    console.log(
      `${name.padEnd(20)} median ${at(0.5)} ms, p99 ${at(0.99)} ms, least ${at(0)} ms, CPU ${cpu} ms`,
    );
  }
  databases.close();
  rmSync(dataDir, { recursive: true });
}

/** Makes notes of words that are as common as words of a language are (Zipf), and always the same. */
function manyTexts(count: number): readonly string[] {
  let state = 42;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
  const syllables = ['ka', 'lo', 'mi', 'ten', 'ra', 'su', 'vel', 'dor', 'ni', 'pa', 'gre', 'shu'];
  const wordOf = (rank: number) => {
    let word = '';
    for (let rest = rank + 13; rest > 0; rest = Math.floor(rest / 12)) word += syllables[rest % 12];
    return word;
  };
  return Array.from({ length: count }, () =>
    Array.from({ length: 15 }, () => wordOf(Math.floor(30_000 ** random()))).join(' '),
  );
}
