import type { EmbedForGroup } from '../../lib/embed.ts';
import { discoverEmbedders, type EmbedderContribution } from '../../model/embedder.ts';
import { HASH_DIMENSIONS, HASH_EMBEDDER, hashEmbedding } from './hash-embedder.ts';
import { GLOBAL } from './search.ts';
import { LOCAL } from './settings.ts';

/** Time that an outage of the server is believed. */
export const OUTAGE_MS = 60_000;

/** Time for one batch of notes, and for a question that a turn waits for. */
const BATCH_MS = 60_000;
const QUESTION_MS = 4_000;
/** A model on this machine may have to be loaded first, and has one thread. */
const BATCH_HERE_MS = 600_000;
const QUESTION_HERE_MS = 20_000;

/** A model that is installed on this machine, by its name in `EMBEDDING_MODEL`. */
export type InstalledModel = Pick<EmbedderContribution, 'name' | 'dimensions' | 'threshold'>;

/** The model of the memory, and those that are installed on this machine. */
export type ChosenModel = { readonly model: string; readonly installed: readonly InstalledModel[] };

/** Returns the owner's model; without one the first that is installed here, or else `local`. */
export async function chooseModel(setting: string | undefined): Promise<ChosenModel> {
  const installed = await discoverEmbedders();
  return { model: setting ?? installed[0]?.name ?? LOCAL, installed };
}

/** Vectors of texts; null for one that the server does not take. `failed` is a sentence. */
export type Vectors =
  | { readonly kind: 'made'; readonly vectors: readonly (Float32Array | null)[] }
  | { readonly kind: 'failed'; readonly message: string };

/** Makes vectors of texts. */
export type Embedder = {
  /** Identifies the vectors: those of another embedder cannot be compared with them. */
  readonly id: string;
  /** The number of texts that it takes at once. */
  readonly batch: number;
  /** The least likeness at which a note bears on a question, where the owner has not set one. */
  readonly threshold: number;
  /** Makes the vectors of notes of a folder, whose budget pays. Never rejects. */
  ofNotes(folder: string, texts: readonly string[]): Promise<Vectors>;
  ofQuestion(folder: string, text: string): Promise<Vectors>;
};

/** Words that a model expects before a question and before what may answer it. */
type Prefixes = { readonly question: string; readonly note: string };

const SEARCHING = 'Represent this sentence for searching relevant passages: ';

/** Models that were trained with such words find much less without them; each as its makers' page has it. */
const PREFIXES: readonly (readonly [name: RegExp, prefixes: Prefixes])[] = [
  [/nomic-embed|modernbert-embed/, { question: 'search_query: ', note: 'search_document: ' }],
  [
    /e5\b.*-instruct/,
    {
      question: 'Instruct: Given a question, retrieve notes that answer it\nQuery: ',
      note: '',
    },
  ],
  [
    /qwen3-embedding/,
    { question: 'Instruct: Given a question, retrieve notes that answer it\nQuery:', note: '' },
  ],
  [/(?:^|[/_-])e5(?:$|[:_-])/, { question: 'query: ', note: 'passage: ' }],
  [/snowflake-arctic-embed.*(?:-v?2|2\.0|2$|2:)/, { question: 'query: ', note: '' }],
  [
    /bge-(?:small|base|large)-en|mxbai-embed|snowflake-arctic-embed/,
    { question: SEARCHING, note: '' },
  ],
  [/embeddinggemma/, { question: 'task: search result | query: ', note: 'title: none | text: ' }],
];

/** Returns the prefixes that a model expects, by its name; null for one that expects none or is not known. */
export function prefixesOf(model: string): Prefixes | null {
  return PREFIXES.find(([name]) => name.test(model.toLowerCase()))?.[1] ?? null;
}

export type EmbedderOptions = {
  readonly embed: EmbedForGroup;
  readonly signal: AbortSignal;
  /** Models that need no server. */
  readonly installed: readonly InstalledModel[];
};

/** Opens the embedder of a setting: by words alone, a model on this machine, or one of a server. */
export function openEmbedder(
  model: string,
  { embed, signal, installed }: EmbedderOptions,
): Embedder {
  if (model === LOCAL) return localEmbedder();
  const here = installed.find(({ name }) => name === model);
  if (here !== undefined) return embedderHere(here, { embed, signal });

  async function ask(
    folder: string,
    texts: readonly string[],
    timeoutMs: number,
  ): Promise<Vectors> {
    // What all see is the owner's.
    const payer = folder === GLOBAL ? 'main' : folder;
    const result = await embed({ model, folder: payer, texts, timeoutMs, signal });
    if (result.kind === 'embedded') return { kind: 'made', vectors: result.vectors };
    if (!result.isRefused) return result;
    if (texts.length === 1) {
      // A server that refuses this too does not refuse the text.
      const probe = await embed({ model, folder: payer, texts: ['hello'], timeoutMs, signal });
      return probe.kind === 'embedded' ? { kind: 'made', vectors: [null] } : result;
    }
    const middle = Math.ceil(texts.length / 2);
    const head = await ask(folder, texts.slice(0, middle), timeoutMs);
    if (head.kind === 'failed') return head;
    const tail = await ask(folder, texts.slice(middle), timeoutMs);
    if (tail.kind === 'failed') return tail;
    return { kind: 'made', vectors: [...head.vectors, ...tail.vectors] };
  }

  const prefixes = prefixesOf(model);
  return {
    // Vectors of texts with and without a prefix cannot be compared.
    id: prefixes === null ? model : `${model} with its prefixes`,
    batch: 64,
    threshold: 0.35,
    ofNotes: (folder, texts) =>
      ask(
        folder,
        texts.map((text) => `${prefixes?.note ?? ''}${text}`),
        BATCH_MS,
      ),
    ofQuestion: (folder, text) => ask(folder, [`${prefixes?.question ?? ''}${text}`], QUESTION_MS),
  };
}

/**
 * A small model is helped by words, and knows one language: a part of each vector is that of its words and their parts.
 * A text that the model does not understand has only these, and is found as without a model.
 */
function embedderHere(
  { name: model, dimensions, threshold }: InstalledModel,
  { embed, signal }: Pick<EmbedderOptions, 'embed' | 'signal'>,
): Embedder {
  async function ask(
    folder: string,
    texts: readonly string[],
    timeoutMs: number,
  ): Promise<Vectors> {
    const result = await embed({ model, folder, texts, timeoutMs, signal });
    if (result.kind === 'failed') return result;
    const vectors = result.vectors.map((vector, at) =>
      withWords(vector ?? new Float32Array(dimensions), texts[at] ?? ''),
    );
    return { kind: 'made', vectors };
  }
  return {
    id: `${model} and words`,
    batch: 16,
    threshold,
    ofNotes: (folder, texts) => ask(folder, texts, BATCH_HERE_MS),
    ofQuestion: (folder, text) => ask(folder, [text], QUESTION_HERE_MS),
  };
}

/** The part of a likeness that words and their parts make, beside a model. */
const OF_WORDS = 0.05;

/** Puts the vector of a text's words behind that of its meaning, so that their cosines add up by these parts. */
export function withWords(meaning: Float32Array, text: string): Float32Array {
  const vector = new Float32Array(meaning.length + HASH_DIMENSIONS);
  const length = Math.hypot(...meaning);
  const scale = length === 0 ? 0 : Math.sqrt(1 - OF_WORDS) / length;
  vector.set(meaning.map((each) => each * scale));
  vector.set(
    hashEmbedding(text).map((each) => each * Math.sqrt(OF_WORDS)),
    meaning.length,
  );
  return vector;
}

function localEmbedder(): Embedder {
  const made = (texts: readonly string[]): Vectors => ({
    kind: 'made',
    vectors: texts.map(hashEmbedding),
  });
  return {
    id: HASH_EMBEDDER,
    batch: 64,
    threshold: 0.25,
    ofNotes: async (_folder, texts) => made(texts),
    ofQuestion: async (_folder, text) => made([text]),
  };
}
