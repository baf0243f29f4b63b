import type { KeptChoices, NewAsk } from '../../store/store.ts';
import type { StorePort } from '../contracts/ports.ts';
import { askedText, type KeptQuestion, pressedChoices } from './question.ts';

/** A question that is to be put: to the owner, or to the person with this id. */
export type QuestionToPut = Pick<NewAsk, 'id' | 'jid' | 'sender'> & {
  readonly kept: KeptQuestion;
};

/** The question with the message that puts it, which has its id. */
export type PutQuestion = {
  readonly ask: NewAsk;
  readonly message: {
    readonly messageId: string;
    readonly text: string;
    readonly choices: KeptChoices | null;
  };
};

/**
 * Gives a question its number in the chat, and its wording. Both belong into one transaction with what is read here.
 * The row must not be older than the message that shows it: otherwise that message would count as said after the
 * question.
 */
export function putQuestion(
  { store }: StorePort,
  { id, jid, sender, kept }: QuestionToPut,
): PutQuestion {
  const number = store.asks.freeNumber(jid);
  const isAlone = store.asks.inChat(jid).length === 0;
  return {
    ask: {
      id,
      jid,
      number,
      sender,
      payload: { ...kept, isNumbered: !isAlone },
      isClosing: kept.continuation !== null,
    },
    message: {
      messageId: id,
      text: askedText(kept, { number, isAlone }),
      choices: pressedChoices(id, kept),
    },
  };
}
