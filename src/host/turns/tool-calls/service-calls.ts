import type { Group } from '../../../store/store.ts';
import type { Asking } from '../../asking/asking.ts';
import type { IdPort, MainChatPort } from '../../contracts/ports.ts';
import type { ServiceCalls } from '../../contracts/service.ts';
import { openTurnTools, type TurnTools, type TurnToolsOptions } from './turn-tools.ts';

export type ServiceCallsOptions = MainChatPort &
  IdPort & {
    readonly toolParts: TurnToolsOptions;
    readonly asking: Pick<Asking, 'ask' | 'abandon'>;
  };

/** Opens the way of services to the host's tools and to the owner. */
export function openServiceCalls(options: ServiceCallsOptions): ServiceCalls {
  const { toolParts, asking, newId, mainChat } = options;
  const { store } = toolParts;

  /** Nothing is stored of this turn: what is asked in its name ends with its id. */
  function open(group: Group): { readonly id: string; readonly tools: TurnTools } {
    const id = newId();
    const turn = { id, jid: group.jid, kind: 'agent' as const, isStored: false };
    const tools = openTurnTools(toolParts, {
      turn,
      group,
      isTask: false,
      journal: null,
      // The program that calls has a conversation of its own, of which nothing is known here.
      outside: { source: () => null, note() {}, passTo() {} },
      ask: (question, to) => asking.ask(question, { turn, to }),
      ownerCommand: () => Promise.reject(new Error('Owner commands are said in a chat.')),
    });
    return { id, tools };
  }

  /** Withdraws the questions of a call at its end, and earlier where it is aborted. */
  async function during<T>(id: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const abandon = (): void => asking.abandon(id);
    signal.addEventListener('abort', abandon, { once: true });
    try {
      return await work();
    } finally {
      signal.removeEventListener('abort', abandon);
      abandon();
    }
  }

  return {
    async ask(question, signal) {
      signal.throwIfAborted();
      const turn = { id: newId(), jid: mainChat.jid, kind: 'agent' as const };
      const asked = () => asking.ask(question, { turn, to: 'owner' });
      return await during(turn.id, signal, asked);
    },
    offered(folder) {
      const group = store.groups.byFolder(folder);
      if (group === null) return [];
      return open(group).tools.offer({ isMain: group.isMain, isTask: false });
    },
    async call(call, signal) {
      const group = store.groups.byFolder(call.folder);
      if (group === null) {
        return { ok: false, value: `No chat is registered with the folder ${call.folder}.` };
      }
      const { id, tools } = open(group);
      return await during(id, signal, () => tools.call(call, signal));
    },
  };
}
