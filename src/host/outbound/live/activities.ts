/** The work of a turn that goes on now, several pieces at a time. */
export interface Activities {
  /** Returns the function that tells the end of it. */
  begin(line: string): () => void;
  beginQuestion(): () => void;
  isAsking(): boolean;
  /** Returns the line about what began last; with nothing under way, that it thinks, where that is to be told. */
  line(isThinkingTold: boolean): string | null;
}

const THINKING = 'thinking';
const ASKING = 'waiting for an answer';

/** Creates the list of what a turn does now. */
export function createActivities(): Activities {
  const lines = new Map<symbol, string>();
  let questions = 0;
  return {
    begin(line) {
      const key = Symbol(line);
      lines.set(key, line);
      return () => void lines.delete(key);
    },
    beginQuestion() {
      questions += 1;
      return () => {
        questions -= 1;
      };
    },
    isAsking: () => questions > 0,
    line(isThinkingTold) {
      if (questions > 0) return ASKING;
      return [...lines.values()].at(-1) ?? (isThinkingTold ? THINKING : null);
    },
  };
}
