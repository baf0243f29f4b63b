import type { EmbedForGroup } from '../../lib/embed.ts';
import { EXAMPLES } from './examples.ts';
import type { TaskType } from './stage.ts';

/** A longer text is told by its beginning, where people say what they want. */
const MOST_CHARACTERS = 500;
/** A turn waits no longer for the vector of its text. */
const PATIENCE_MS = 2_000;
/** The vectors of all examples, once. */
const EXAMPLES_MS = 120_000;
/** After a failure the model is left alone for so long. */
const PAUSE_MS = 600_000;
/** So many of the nearest examples vote. */
const NEIGHBOURS = 5;
/** Of the nearest example, from 0 to 1: below it the text is like none of them. */
const LEAST_LIKENESS = 0.35;

/** A type of work that a text is near to, and by how much it is nearer than the next type: from 0 to 1. */
export type Meaning = { readonly type: TaskType; readonly lead: number };

/** A text that the rules take for another kind is near to its examples by so much. */
const CLEAR_LEAD = 0.6;

/**
 * Returns the kind of work of a turn. The rules know words that leave no doubt; where they found none (small talk, or
 * unknown), or the meaning is clear, the meaning counts.
 */
export function typeOf(byRules: TaskType, meaning: Meaning | null): TaskType {
  if (meaning === null) return byRules;
  const isGuess = byRules === 'Chat' || byRules === 'Unknown';
  return isGuess || meaning.lead >= CLEAR_LEAD ? meaning.type : byRules;
}

/** Tells kinds of work by the meaning of a text: by examples whose vectors are near to its own. */
export interface Meanings {
  /** Returns null where the model gives no vector in time, or no example is near. Never rejects. */
  of(text: string, folder: string): Promise<Meaning | null>;
}

/**
 * Makes the vectors of the examples in the background, at the first text.
 *
 * @param model its name with the prefix, as in `MODEL`
 * @param onFailed gets a sentence about why there are no vectors, at most every ten minutes
 */
export function openMeanings(parts: {
  readonly model: string;
  readonly embed: EmbedForGroup;
  readonly now: () => number;
  readonly onFailed: (message: string) => void;
}): Meanings {
  const { model, embed, now, onFailed } = parts;
  const texts = Object.entries(EXAMPLES).flatMap(([type, examples]) =>
    examples.map((text) => ({ type: type as TaskType, text })),
  );
  let known: readonly Example[] | null = null;
  let isMaking = false;
  let pausedUntil = 0;

  async function vectorsOf(wanted: readonly string[], folder: string, timeoutMs: number) {
    const made = await embed({ model, texts: wanted, folder, timeoutMs });
    if (made.kind === 'embedded') return made.vectors;
    pausedUntil = now() + PAUSE_MS;
    onFailed(made.message);
    return null;
  }

  async function makeExamples(folder: string): Promise<void> {
    if (isMaking) return;
    isMaking = true;
    const vectors = await vectorsOf(
      texts.map(({ text }) => text),
      folder,
      EXAMPLES_MS,
    );
    isMaking = false;
    known =
      vectors?.flatMap((vector, at) => {
        const type = texts[at]?.type;
        return vector && type ? [{ type, vector: unit(vector) }] : [];
      }) ?? null;
  }

  return {
    async of(text, folder) {
      const beginning = text.trim().slice(0, MOST_CHARACTERS);
      if (beginning === '' || now() < pausedUntil) return null;
      if (known === null) {
        void makeExamples(folder);
        return null;
      }
      const [vector] = (await vectorsOf([beginning], folder, PATIENCE_MS)) ?? [];
      return vector ? nearest(known, unit(vector)) : null;
    },
  };
}

type Example = { readonly type: TaskType; readonly vector: Float32Array };

/** The nearest examples vote for their type, each with its likeness. */
function nearest(examples: readonly Example[], vector: Float32Array): Meaning | null {
  const near = examples
    .map((example) => ({ type: example.type, likeness: dot(example.vector, vector) }))
    .toSorted((one, other) => other.likeness - one.likeness)
    .slice(0, NEIGHBOURS);
  if ((near[0]?.likeness ?? 0) < LEAST_LIKENESS) return null;
  const votes = new Map<TaskType, number>();
  for (const { type, likeness } of near) votes.set(type, (votes.get(type) ?? 0) + likeness);
  const [first, second] = [...votes].toSorted(([, one], [, other]) => other - one);
  if (first === undefined) return null;
  const all = near.reduce((sum, { likeness }) => sum + likeness, 0);
  return { type: first[0], lead: (first[1] - (second?.[1] ?? 0)) / all };
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector)) || 1;
  return vector.map((value) => value / length);
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}
