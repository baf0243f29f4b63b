import type { Model } from '../../../model/model.ts';
import type { TurnRequest } from '../../../sandbox/sandbox.ts';
import type { Group, Turn } from '../../../store/store.ts';
import type { ChannelOf } from '../../address-book.ts';
import type { ClockPort } from '../../contracts/ports.ts';
import type { ForAgent, PromptTurn } from '../../contracts/prompt-section.ts';
import { callBeforeAgent } from '../../services/early-calls.ts';
import type { Services } from '../../services/services.ts';
import type { PromptParts } from './prompt.ts';
import type { SystemPrompt } from './system-prompt.ts';

export type TurnPromptOptions = ClockPort & {
  readonly systemPrompt: SystemPrompt;
  readonly channelOf: ChannelOf;
  readonly services: Pick<Services, 'call'>;
  /** Returns the number of turns in which an agent works. */
  readonly atWork: () => number;
};

/** Writes the host's part of the system prompt, and the facts for the part that the container writes. */
export async function turnPrompt(
  { systemPrompt, channelOf, services, atWork, now }: TurnPromptOptions,
  work: {
    readonly turn: Turn;
    readonly group: Group;
    readonly isTask: boolean;
    readonly taskType: string;
    readonly prompt: string;
    readonly beginsAnew: boolean;
    readonly models: readonly Model[];
    readonly messages: PromptParts;
    /** Aborted when the turn ends first. */
    readonly ended: AbortSignal;
  },
): Promise<Pick<TurnRequest, 'system' | 'sections' | 'notes'>> {
  const { turn, group, isTask, taskType, prompt, beginsAnew, models, messages, ended } = work;
  const sections: Record<string, ForAgent['forAgent']> = {};
  const notes: string[] = [];
  const system = await systemPrompt(
    {
      group,
      isTask,
      taskType,
      now: now(),
      prompt,
      beginsAnew,
      channel: channelOf(turn.jid)?.name ?? 'gone',
      models: models.map(({ id }) => id),
      senders: isTask ? [] : sendersOf(messages),
      othersAtWork: Math.max(0, atWork() - 1),
    },
    {
      callService: callBeforeAgent(services, { ...turn, folder: group.folder }, ended),
      onFacts(section, facts) {
        sections[section] = facts;
      },
      onNote: (text) => void notes.push(text),
    },
  );
  return { system, sections, notes: notes.join('\n\n') };
}

/** Returns the senders of messages, each once, the newest last. */
function sendersOf({ messages }: PromptParts): PromptTurn['senders'] {
  const newest = new Map<string, PromptTurn['senders'][number]>();
  for (const { sender: id, senderName: name, isOwner } of messages) {
    newest.delete(id);
    newest.set(id, { id, name, isOwner });
  }
  return [...newest.values()];
}
