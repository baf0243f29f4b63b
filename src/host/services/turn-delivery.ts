import type { RunOutcome, Turn } from '../../store/store.ts';
import type { StorePort } from '../contracts/ports.ts';
import { runEnd } from '../scheduler/task-result.ts';
import type { TurnEnd } from '../turns/turn-result.ts';
import { queuedByOf } from './queued-turn.ts';
import type { Services } from './services.ts';

/**
 * Converts the result of a turn that a service has queued into what that service wants the chat to get; other turns
 * stay unchanged.
 */
export function deliveredResult(
  { store, services }: StorePort & { readonly services: Pick<Services, 'turnEnded'> },
  turn: Turn,
  result: TurnEnd,
): TurnEnd {
  const queuedBy = queuedByOf(turn);
  if (queuedBy === null || result.kind === 'suspended') return result;
  const { id, jid } = turn;
  const text = result.texts.join('\n\n');
  const outcome: RunOutcome = result.run?.outcome ?? result.state;
  const folder = store.groups.byJid(jid)?.folder ?? '';
  const { error } = result;
  const delivery = services.turnEnded(queuedBy.service, { id, folder, outcome, error, text });
  if (delivery.kind === 'send') return sent(result, delivery.text ?? null);
  const run = result.run ?? runEnd(outcome === 'answered' ? 'silent' : outcome, text);
  return { ...result, texts: [], session: null, run };
}

type EndedResult = Extract<TurnEnd, { kind: 'ended' }>;

/** Without a text of the service's, the turn's own goes on its usual way. */
function sent(result: EndedResult, text: string | null): EndedResult {
  if (text === null) return result;
  return { ...result, texts: [text], run: result.run ?? runEnd(result.state, text) };
}
