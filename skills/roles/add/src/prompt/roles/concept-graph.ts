import type { Concept } from './concept.ts';
import { agreementOf, type Word, wordsOf } from './concept-words.ts';

/** Why a concept was picked for a message. */
export type Reason =
  | { readonly kind: 'named' /** As the message has it. */; readonly words: readonly string[] }
  | {
      readonly kind: 'linked' /** Names of the named concepts beside it. */;
      readonly with: readonly string[];
    };

export type PickedConcept = { readonly concept: Concept; readonly reason: Reason };

/** The concepts that one message may bring in: those it names, and neighbours of those. */
const MOST_NAMED = 8;
const MOST_LINKED = 8;
/** The longest message that is searched whole; of a longer one the end is, which is what it asks. */
const MAX_ASKED = 8_000;

type Term = { readonly words: readonly Word[]; readonly concept: number };
type Neighbour = { readonly concept: number; readonly weight: number };

/** The concepts of a role, with their terms and links indexed. Immutable. */
export class ConceptGraph {
  readonly concepts: readonly Concept[];
  /** Terms by the beginning of their first word: a message is compared with few of them. */
  readonly #terms = new Map<string, Term[]>();
  readonly #neighbours: readonly (readonly Neighbour[])[];

  constructor(concepts: readonly Concept[]) {
    this.concepts = concepts;
    const byName = new Map<string, number>();
    for (const [index, { terms }] of concepts.entries()) {
      for (const term of terms) {
        const words = wordsOf(term);
        const [first] = words;
        if (first === undefined) continue;
        if (!byName.has(nameOf(words))) byName.set(nameOf(words), index);
        const listed = this.#terms.get(first.beginning) ?? [];
        listed.push({ words, concept: index });
        this.#terms.set(first.beginning, listed);
      }
    }
    this.#neighbours = neighboursOf(concepts, byName);
  }

  /** Picks the concepts that a message concerns, best first: those it names, then those linked with them. */
  pick(message: string): readonly PickedConcept[] {
    const named = this.#namedIn(message);
    const linked = this.#linkedWith(named.map(({ index }) => index));
    return [...named.map(({ picked }) => picked), ...linked];
  }

  #namedIn(message: string): readonly { readonly index: number; readonly picked: PickedConcept }[] {
    const words = wordsOf(message.slice(-MAX_ASKED));
    const found = new Map<number, { score: number; last: number; words: Set<string> }>();
    for (let at = 0; at < words.length; ) {
      const { length, score, concepts } = this.#longestAt(words, at);
      const shown = words
        .slice(at, at + length)
        .map(({ shown }) => shown)
        .join(' ');
      for (const concept of concepts) {
        const before = found.get(concept) ?? { score: 0, last: 0, words: new Set<string>() };
        before.words.add(shown);
        found.set(concept, { score: before.score + score, last: at, words: before.words });
      }
      at += Math.max(1, length);
    }
    return [...found]
      .toSorted(([, one], [, other]) => other.score - one.score || other.last - one.last)
      .slice(0, MOST_NAMED)
      .flatMap(([index, { words: said }]) => {
        const concept = this.concepts[index];
        if (concept === undefined) return [];
        const reason = { kind: 'named', words: [...said].slice(0, 5) } as const;
        return [{ index, picked: { concept, reason } }];
      });
  }

  /** Finds the longest term that begins at a word; several concepts may share it. */
  #longestAt(
    words: readonly Word[],
    at: number,
  ): { readonly length: number; readonly score: number; readonly concepts: ReadonlySet<number> } {
    let best = { length: 0, score: 0, concepts: new Set<number>() };
    for (const term of this.#terms.get(words[at]?.beginning ?? '') ?? []) {
      const { length } = term.words;
      if (length < best.length) continue;
      const score = scoreOf(term.words, words.slice(at, at + length));
      if (score === 0 || (length === best.length && score < best.score)) continue;
      if (length > best.length || score > best.score) {
        best = { length, score, concepts: new Set() };
      }
      best.concepts.add(term.concept);
    }
    return best;
  }

  #linkedWith(named: readonly number[]): readonly PickedConcept[] {
    const beside = new Map<number, { weight: number; from: string[] }>();
    for (const index of named) {
      for (const { concept, weight } of this.#neighbours[index] ?? []) {
        if (named.includes(concept)) continue;
        const before = beside.get(concept) ?? { weight: 0, from: [] };
        before.from.push(this.concepts[index]?.name ?? '');
        beside.set(concept, { weight: before.weight + weight, from: before.from });
      }
    }
    return [...beside]
      .toSorted(([, one], [, other]) => other.weight - one.weight)
      .slice(0, MOST_LINKED)
      .flatMap(([index, { from }]) => {
        const concept = this.concepts[index];
        return concept === undefined ? [] : [{ concept, reason: { kind: 'linked', with: from } }];
      });
  }
}

/** A concept that is linked to counts more than one that links here: a hub is linked from everywhere. */
const [TO, FROM] = [2, 1];

function neighboursOf(
  concepts: readonly Concept[],
  byName: ReadonlyMap<string, number>,
): readonly (readonly Neighbour[])[] {
  const weights = concepts.map(() => new Map<number, number>());
  const add = (from: number, to: number, weight: number): void => {
    weights[from]?.set(to, (weights[from]?.get(to) ?? 0) + weight);
  };
  for (const [index, { links }] of concepts.entries()) {
    const targets = links.map((link) => byName.get(nameOf(wordsOf(link))));
    for (const target of new Set(targets)) {
      if (target === undefined || target === index) continue;
      add(index, target, TO);
      add(target, index, FROM);
    }
  }
  return weights.map((each) => [...each].map(([concept, weight]) => ({ concept, weight })));
}

function nameOf(words: readonly Word[]): string {
  return words.map(({ folded }) => folded).join(' ');
}

/** Returns how well words of a message agree with a term; 0 if one of them does not. Longer terms say more. */
function scoreOf(term: readonly Word[], words: readonly Word[]): number {
  if (words.length < term.length) return 0;
  let score = 0;
  for (const [at, word] of term.entries()) {
    const said = words[at];
    const agreement = said === undefined ? 'none' : agreementOf(word, said);
    if (agreement === 'none') return 0;
    score += agreement === 'same' ? 2 : 1;
  }
  return score;
}
