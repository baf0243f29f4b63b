import { readFileSync } from 'node:fs';
import { openMemoryDatabases } from '../../../src/store/own-databases.ts';
import { loadVectors, MIGRATIONS } from '../../../src/tools/semantic-memory/database.ts';
import type { NewNote } from '../../../src/tools/semantic-memory/note.ts';
import { type Notes, openNotes } from '../../../src/tools/semantic-memory/notes.ts';

import { searchNotes } from '../../../src/tools/semantic-memory/search.ts';
import { ANSWERS, NOTES } from './labelled-notes.ts';

/** Opens an empty memory's database, which is gone when it is closed; `again` opens it as a next start does. */
export function openTestNotes(): Notes & { close(): void; again(): Notes } {
  const databases = openMemoryDatabases({ now: () => 0 });
  const database = databases.of('service', 'semantic-memory')(MIGRATIONS);
  const problem = loadVectors(database);
  if (problem !== null) throw new Error(problem);
  const again = () => openNotes(database, true);
  return { ...again(), close: databases.close, again };
}

/** Makes a note of a file from its text. */
export function noteOf(text: string, place = 1): NewNote {
  return { place, heading: null, who: null, saidAt: null, text };
}

/** Returns the vector that a real model made of a labelled text; `make-embeddings.ts` writes them. */
export function realEmbedding(text: string): Float32Array {
  const bytes = Buffer.from(realEmbeddings[text] ?? '', 'base64');
  if (bytes.length === 0) throw new Error(`no vector is kept of: ${text}`);
  return Float32Array.from(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length));
}

const realEmbeddings: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(`${import.meta.dirname}/embeddings.json`, 'utf8'),
);

/**
 * Keeps the labelled notes with vectors of an embedder, and returns the places that a search finds as a turn does.
 *
 * @param beside what is kept beside them: the assistant's long answers, or the same as if they were notes too
 */
export function labelledSearch(
  embed: (text: string) => Float32Array | null,
  beside: 'nothing' | 'answers' | 'answers as notes' = 'nothing',
): (text: string) => readonly number[] {
  const notes = openTestNotes();
  notes.append('main', notes.source('main', 'file', 'a.md'), NOTES.map(noteOf));
  if (beside !== 'nothing') {
    const kind = beside === 'answers' ? 'answer' : 'file';
    const said = ANSWERS.map((text, at) => ({ ...noteOf(text, 1_000 + at), saidAt: 0 }));
    notes.append('main', notes.source('main', kind, 'b'), said);
  }
  const waiting = notes.waiting('main', 1_000);
  notes.embedded('main', new Map(waiting.map(({ id, text }) => [id, embed(text)])));
  return (text) => {
    const vector = embed(text);
    const wish = { folder: 'main', text, vector, leastLikeness: 0, leastShare: 0, now: 0 };
    return searchNotes(notes, wish).map(({ note }) => note.place);
  };
}
