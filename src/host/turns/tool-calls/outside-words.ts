import type { Group, OutsideMark, Turn } from '../../../store/store.ts';
import type { ClockPort, StorePort } from '../../contracts/ports.ts';
import { taskOfTurn } from '../../scheduler/task-turn.ts';
import type { TurnConversation } from '../agent/turn-conversation.ts';

/**
 * Marks turns of the owner's chats that have read text written by others. The mark is stored, so it survives a
 * restart. It stays with the conversation until a new one begins, because the model still sees the text.
 */
export interface OutsideWords {
  /** Notes the conversation that the turn goes on with, before its agent begins. */
  begin(conversation: Pick<TurnConversation, 'session' | 'before'>): void;
  /** Notes that something from outside is read now. */
  note(source: string): void;
  /** Marks a task whose words were made in this turn, as far as the turn is marked. */
  passTo(taskId: number): void;
  /** Returns the first source; null where nothing from outside was read. */
  source(): string | null;
  /** Looks at what was said meanwhile. */
  end(): void;
}

/** In other chats nothing is noted: their agents reach nothing else. */
const NONE: OutsideWords = {
  begin() {},
  note() {},
  passTo() {},
  source: () => null,
  end() {},
};

export function openOutsideWords(
  { store, now }: StorePort & ClockPort,
  turn: Turn,
  { isMain, folder }: Pick<Group, 'isMain' | 'folder'>,
): OutsideWords {
  if (!isMain) return NONE;
  const { outsideMarks: marks } = store;
  const its: OutsideMark = { kind: 'turn', name: turn.id };
  const task = taskOfTurn(store, turn)?.task ?? null;
  // Until the conversation is known, the safe assumption is the folder's own.
  let conversation: OutsideMark | null = { kind: 'conversation', name: folder };

  function mark(source: string): void {
    marks.add(its, source, now());
    if (conversation !== null) marks.add(conversation, source, now());
  }

  function found(): string | null {
    const noted = marks.sourceOf(its);
    if (noted !== null) return noted;
    const ofTask = task === null ? null : marks.sourceOf({ kind: 'task', name: String(task.id) });
    if (ofTask !== null) return ofTask;
    // A message that follows up belongs to the turn, too; a task is told of those before it alone.
    const upto = task === null ? Number.MAX_SAFE_INTEGER : turn.uptoSeq;
    if (marks.isInMessages({ jid: turn.jid, from: turn.fromSeq, upto })) return A_MESSAGE;
    return marks.sourceOfEarlier(turn.id);
  }

  function look(): string | null {
    const source = found();
    if (source !== null) mark(source);
    return source ?? (conversation === null ? null : marks.sourceOf(conversation));
  }

  return {
    begin({ session, before }) {
      if (before === undefined) conversation = null;
      else if (session === null && conversation !== null) marks.remove(conversation);
      look();
    },
    note: mark,
    passTo(taskId) {
      const source = look();
      if (source !== null) marks.add({ kind: 'task', name: String(taskId) }, source, now());
    },
    source: look,
    end: () => void look(),
  };
}

const A_MESSAGE = 'a forwarded message, a file, or a message of somebody else';
