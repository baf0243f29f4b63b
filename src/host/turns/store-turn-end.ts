import type { Turn } from '../../store/store.ts';
import { putQuestion } from '../asking/put-question.ts';
import { type ClosingQuestion, closingQuestion } from '../asking/question.ts';
import type { ClockPort, IdPort, InstancePort, StorePort } from '../contracts/ports.ts';
import type { TurnRecords } from './record/turn-records.ts';
import type { TurnEnd } from './turn-result.ts';

export type StoreEndOptions = StorePort &
  InstancePort &
  ClockPort &
  IdPort & { readonly records: Pick<TurnRecords, 'store'> };

/**
 * Stores the end of a turn with its messages and the question that it ends with, all or nothing.
 *
 * @returns false where the turn is gone or no longer this process's
 */
export function storeTurnEnd(options: StoreEndOptions, turn: Turn, result: TurnEnd): boolean {
  const { store, instance, now, newId, records } = options;
  if (result.kind === 'suspended') {
    store.turns.suspend(turn.id, instance);
    return true;
  }
  const { state, error, session, run } = result;
  const { id, jid } = turn;
  return store.transaction(() => {
    const put = putClosing(options, turn, result.question);
    const texts = result.texts.map((text, index) => ({
      messageId: newId(),
      text,
      choices: null,
      attachments: index === 0 ? (result.held?.files ?? []) : [],
    }));
    const messages = [...texts, ...(put === null ? [] : [put.message])];
    const question = put?.ask ?? null;
    const isMine = store.finishTurn(
      { id, owner: instance, jid, state, error, messages, session, question, run },
      now(),
    );
    if (isMine) records.store(turn, { state, error });
    return isMine;
  });
}

function putClosing(
  { store, newId }: Pick<StoreEndOptions, 'store' | 'newId'>,
  { id: turnId, jid }: Turn,
  question: ClosingQuestion | null,
) {
  if (question === null) return null;
  const kept = closingQuestion(question, turnId);
  return putQuestion({ store }, { id: newId(), jid, sender: null, kept });
}
