import { setImmediate } from 'node:timers/promises';
import type { ServiceContext } from '../../host/contracts/service.ts';
import { loadVectors, MIGRATIONS, openFacts } from './database.ts';
import { type Embedder, type InstalledModel, OUTAGE_MS, openEmbedder } from './embedder.ts';
import { openNotes } from './notes.ts';
import { type Found, searchNotes } from './search.ts';
import { readSources } from './sources.ts';

/** Files and chats are looked at again after this time, and at each question. */
const LOOK_MS = 60_000;
/** Batches of vectors between two looks. */
const BATCHES = 20;

/** A question to the memory. */
export type RecallWish = {
  readonly folder: string;
  readonly text: string;
  /** True leaves out what has little to do with it, for a question that no one has asked. */
  readonly isStrict: boolean;
};

/** The state of the memory, for the owner. */
export type MemoryStatus = {
  readonly embedder: string;
  readonly notes: number;
  readonly embedded: number;
  readonly refused: number;
  readonly problem: string | null;
};

/** Notes of files and chats, found by words and by meaning. */
export interface Memory {
  /** Finds notes, best first. Never rejects because of the server. */
  recall(wish: RecallWish): Promise<{
    readonly found: readonly Found[];
    /** Says why they were found by words alone; null where they were not. */
    readonly problem: string | null;
  }>;
  status(folder?: string): MemoryStatus;
  /** Makes all vectors again. */
  rebuild(): void;
  /** Brings the notes up to date, and resolves when they are, or a server is missing for it. */
  update(): Promise<void>;
}

export type MemoryOptions = Pick<
  ServiceContext,
  | 'store'
  | 'groupsDir'
  | 'readGroupFile'
  | 'embed'
  | 'openDatabase'
  | 'now'
  | 'setTimer'
  | 'signal'
  | 'log'
  | 'crash'
> & {
  readonly model: string;
  /** Models that are installed on this machine. */
  readonly installed: readonly InstalledModel[];
  /** The owner's own threshold; undefined takes that of the embedder. */
  readonly threshold: number | undefined;
};

type Outage = { readonly message: string; readonly until: number };

/** Opens the memory on its database. It keeps itself up to date until the signal is aborted. */
export function openMemory(options: MemoryOptions): Memory {
  const { now, signal, log } = options;
  const database = options.openDatabase(MIGRATIONS);
  const unloadable = loadVectors(database);
  const facts = openFacts(database);
  const notes = openNotes(database, unloadable === null);
  const embedder = openEmbedder(options.model, options);
  let outage: Outage | null = null;
  let running: Promise<void> | null = null;
  let isAskedAgain = false;

  if (facts.get('embedder') !== embedder.id) forgetVectors();

  function forgetVectors(): void {
    if (unloadable !== null) return;
    notes.forgetVectors();
    facts.set('embedder', embedder.id);
    facts.set('dimensions', null);
  }

  function problem(): string | null {
    return unloadable ?? (outage !== null && now() < outage.until ? outage.message : null);
  }

  function failed(message: string): false {
    if (outage?.message !== message) log.warn('the memory searches by words alone', { message });
    outage = { message, until: now() + OUTAGE_MS };
    facts.set('problem', message);
    return false;
  }

  function worked(): void {
    if (outage === null && facts.get('problem') === null) return;
    outage = null;
    facts.set('problem', null);
  }

  /** Says why vectors do not fit those that are kept; the first that come decide. */
  function misfit(vectors: readonly (Float32Array | null)[]): string | null {
    const length = vectors.find((vector) => vector !== null)?.length;
    if (length === undefined) return null;
    const kept = facts.get('dimensions');
    if (kept === null) facts.set('dimensions', String(length));
    if (kept === null || Number(kept) === length) return null;
    return `${embedder.id} answers with vectors of ${length} numbers now, and those kept have ${kept}. Say \`/recall rebuild\` to make all again.`;
  }

  /** Makes vectors for a while. Returns true where more notes wait, which come after those that are new. */
  async function embedWaiting(): Promise<boolean> {
    let left = BATCHES;
    for (const folder of notes.folders()) {
      while (!signal.aborted && problem() === null) {
        const waiting = notes.waiting(folder, embedder.batch);
        if (waiting.length === 0) break;
        if (left === 0) return true;
        left -= 1;
        const made = await embedder.ofNotes(
          folder,
          waiting.map(({ text }) => text),
        );
        if (signal.aborted) return false;
        if (made.kind === 'failed') return failed(made.message);
        const wrong = misfit(made.vectors);
        if (wrong !== null) return failed(wrong);
        worked();
        notes.embedded(
          folder,
          new Map(waiting.map(({ id }, at) => [id, made.vectors[at] ?? null])),
        );
        await setImmediate();
      }
    }
    return false;
  }

  async function run(): Promise<void> {
    do {
      isAskedAgain = false;
      await readSources({ ...options, notes, pause: () => setImmediate() });
      isAskedAgain = (await embedWaiting()) || isAskedAgain;
    } while (isAskedAgain && !signal.aborted);
  }

  function update(): Promise<void> {
    isAskedAgain = running !== null;
    running ??= run().finally(() => {
      running = null;
    });
    return running;
  }

  async function vectorOf({ folder, text }: RecallWish): Promise<Float32Array | null> {
    if (problem() !== null || facts.get('dimensions') === null) return null;
    const made = await embedder.ofQuestion(folder, text);
    if (made.kind === 'failed') {
      failed(made.message);
      return null;
    }
    const wrong = misfit(made.vectors);
    if (wrong !== null) failed(wrong);
    else worked();
    return wrong === null ? (made.vectors[0] ?? null) : null;
  }

  /** Reads what a first search would otherwise wait for. */
  async function warmUp(): Promise<void> {
    for (const folder of notes.folders()) {
      for (const _ of notes.index(folder)?.warmUp() ?? []) {
        await setImmediate();
        if (signal.aborted) return;
      }
    }
  }

  function look(): void {
    options.setTimer(LOOK_MS, async () => {
      await update();
      if (!signal.aborted) look();
    });
  }
  look();
  update().then(warmUp).catch(options.crash);

  return {
    update,
    async recall(wish) {
      const vector = await vectorOf(wish);
      const leastLikeness = leastOf(wish, embedder, options.threshold);
      const leastShare = wish.isStrict ? LEAST_SHARE : 0;
      const found = searchNotes(notes, { ...wish, vector, leastLikeness, leastShare, now: now() });
      update().catch(options.crash);
      return { found, problem: problem() };
    },
    status(folder) {
      const { total, embedded, refused } = notes.counts(folder);
      return { embedder: embedder.id, notes: total, embedded, refused, problem: problem() };
    },
    rebuild() {
      outage = null;
      forgetVectors();
      update().catch(options.crash);
    },
  };
}

/** A note that no one has asked for has this share of the question's words, if its meaning is not near. */
const LEAST_SHARE = 0.4;

function leastOf(
  { isStrict }: RecallWish,
  embedder: Embedder,
  threshold: number | undefined,
): number {
  const strict = threshold ?? embedder.threshold;
  return isStrict ? strict : strict / 2;
}
