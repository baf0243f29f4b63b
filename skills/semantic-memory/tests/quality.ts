import { QUESTIONS, type Question } from './labelled-notes.ts';

/** The places at which the right notes are found: the share of questions, and the mean of 1 / place. */
export type Quality = { readonly first: number; readonly firstFive: number; readonly rank: number };

/** Returns the quality of a search over the labelled questions. */
export async function qualityOf(
  /** Returns indexes of notes, best first. */
  search: (question: string) => Promise<readonly number[]> | readonly number[],
  questions: readonly Question[] = QUESTIONS,
): Promise<Quality> {
  const places: number[] = [];
  for (const { text, note } of questions) places.push((await search(text)).indexOf(note));
  const share = (most: number) =>
    places.filter((place) => place >= 0 && place < most).length / places.length;
  const ranks = places.map((place) => (place < 0 ? 0 : 1 / (place + 1)));
  const rank = ranks.reduce((sum, each) => sum + each, 0) / places.length;
  return { first: share(1), firstFive: share(5), rank };
}
