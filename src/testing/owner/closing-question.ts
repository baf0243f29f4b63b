import { putQuestion } from '../../host/asking/put-question.ts';
import { type ClosingQuestion, closingQuestion } from '../../host/asking/question.ts';
import type { Store } from '../../store/store.ts';

/** Opens a question in the main chat as a command that ended with it; it goes on by `run`, or with the command. */
export function openClosing(
  store: Store,
  question: Pick<ClosingQuestion, 'text' | 'declined'> & Partial<ClosingQuestion>,
): void {
  const kept = closingQuestion({ command: 'restart', data: null, ...question }, 't0');
  const jid = 'terminal:main';
  const place = { id: `closing-${store.asks.freeNumber(jid)}`, jid, sender: null };
  store.asks.open(putQuestion({ store }, { ...place, kept }).ask, Date.now());
}
