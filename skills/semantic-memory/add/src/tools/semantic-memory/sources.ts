import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceStore } from '../../host/contracts/service.ts';
import type { NewNote, SourceKind } from './note.ts';
import type { Notes } from './notes.ts';
import { paragraphsOf, piecesOf } from './paragraphs.ts';
import { GLOBAL } from './search.ts';

/** The sources of notes. */
export type SourcesOptions = {
  readonly notes: Notes;
  readonly store: Pick<ServiceStore, 'groups' | 'said'>;
  readonly groupsDir: string;
  readonly readGroupFile: (folder: string, path: readonly string[]) => Promise<string | null>;
  readonly signal: AbortSignal;
  /** Lets others work between two steps. */
  readonly pause: () => Promise<void>;
};

/** Messages that are read at once. */
const STEP = 200;
const MOST_FILES = 2_000;
const MOST_DEPTH = 6;

/** Brings the notes up to what is in files and chats now: only what has changed is read and written. */
export async function readSources(options: SourcesOptions): Promise<void> {
  const { notes, store, signal } = options;
  const chats = Map.groupBy(store.groups.all(), ({ folder }) => folder);
  for (const folder of notes.folders()) {
    if (folder !== GLOBAL && !chats.has(folder)) notes.removeFolder(folder);
  }
  for (const [folder, groups] of chats) {
    const jids = groups.map(({ jid }) => jid);
    for (const jid of jids) {
      await readChat(options, folder, jid, 'message');
      await readChat(options, folder, jid, 'answer');
    }
    for (const source of notes.sources(folder)) {
      if (signal.aborted) return;
      const isGone = source.kind !== 'file' && !jids.includes(source.name);
      if (isGone) await inSteps(options, notes.removeSource(folder, source));
    }
  }
  for (const folder of [...chats.keys(), GLOBAL]) {
    if (signal.aborted) return;
    await readFiles(options, folder);
  }
}

/** Reads on in what was said in a chat; from its beginning, where the chat is another one than it was. */
async function readChat(
  options: SourcesOptions,
  folder: string,
  jid: string,
  kind: Exclude<SourceKind, 'file'>,
): Promise<void> {
  const { notes, store, signal, pause } = options;
  const { said } = store;
  if (signal.aborted) return;
  let source = notes.source(folder, kind, jid);
  const { first, count } = said.extent({ jid, kind, seq: source.cursor });
  if (source.cursor > 0 && (first !== source.first || count !== source.seen)) {
    await inSteps(options, notes.removeSource(folder, source));
    if (signal.aborted) return;
    source = notes.source(folder, kind, jid);
  }
  while (!signal.aborted) {
    const rows = said.after({ jid, kind, seq: source.cursor }, STEP);
    const last = rows.at(-1);
    if (last === undefined) return;
    const fresh = rows.flatMap(({ seq: place, sender: who, saidAt, text }): NewNote[] =>
      text.startsWith('/')
        ? []
        : piecesOf(text).map((piece) => ({ place, heading: null, who, saidAt, text: piece })),
    );
    notes.append(folder, source, fresh);
    const extent = said.extent({ jid, kind, seq: last.seq });
    source = { ...source, first: extent.first, cursor: last.seq, seen: extent.count };
    notes.progress(source);
    await pause();
  }
}

/** Goes through steps with pauses between them, and no further once the memory ends. */
async function inSteps({ signal, pause }: SourcesOptions, steps: Iterable<void>): Promise<void> {
  for (const _ of steps) {
    await pause();
    if (signal.aborted) return;
  }
}

type FoundFile = { readonly name: string; readonly path: readonly string[]; readonly mark: string };

async function readFiles(options: SourcesOptions, folder: string): Promise<void> {
  const { notes, readGroupFile, signal } = options;
  const files = await markdownIn(join(options.groupsDir, folder));
  const known = new Map(
    notes
      .sources(folder)
      .filter(({ kind }) => kind === 'file')
      .map((source) => [source.name, source]),
  );
  for (const { name, path, mark } of files) {
    if (signal.aborted) return;
    if (known.get(name)?.mark === mark) continue;
    const text = await readGroupFile(folder, path);
    if (text === null) continue;
    const source = notes.source(folder, 'file', name);
    const fresh = paragraphsOf(text).map(
      ({ line, ...rest }): NewNote => ({ place: line, who: null, saidAt: null, ...rest }),
    );
    await inSteps(options, notes.replace(folder, source, fresh));
    if (signal.aborted) return;
    notes.progress({ ...source, mark });
  }
  // After what is new: a file that was renamed leaves its vectors to its new name.
  const names = new Set(files.map(({ name }) => name));
  for (const source of known.values()) {
    if (signal.aborted) return;
    if (!names.has(source.name)) await inSteps(options, notes.removeSource(folder, source));
  }
}

/** Lists the Markdown files of a folder, without hidden ones and without following links. */
async function markdownIn(root: string): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = [];
  async function look(path: readonly string[]): Promise<void> {
    const entries = await readdir(join(root, ...path), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.name.startsWith('.') || found.length >= MOST_FILES) continue;
      const at = [...path, entry.name];
      if (entry.isDirectory() && path.length < MOST_DEPTH) await look(at);
      if (!entry.isFile() || !entry.name.toLowerCase().endsWith('.md')) continue;
      const stats = await stat(join(root, ...at)).catch(() => null);
      if (stats === null) continue;
      found.push({ name: at.join('/'), path: at, mark: `${stats.mtimeMs} ${stats.size}` });
    }
  }
  await look([]);
  return found;
}
