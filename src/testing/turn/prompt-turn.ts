import type { PromptTurn } from '../../host/contracts/prompt-section.ts';
import type { PromptWays } from '../../host/turns/agent/system-prompt.ts';

/** Makes the turn of a prompt: the owner's in the terminal. What turns gain later is here then. */
export function promptTurn(over: Partial<PromptTurn> = {}): PromptTurn {
  return {
    group: { name: 'Terminal', folder: 'main', isMain: true },
    isTask: false,
    taskType: 'chat',
    now: Date.UTC(2026, 10, 21, 12),
    prompt: 'hello',
    beginsAnew: false,
    channel: 'terminal',
    models: ['anthropic/claude-sonnet-4-5'],
    senders: [{ id: 'owner', name: 'Ada', isOwner: true }],
    othersAtWork: 0,
    ...over,
  };
}

/** The ways of a prompt's sections where no service runs and no container writes. */
export const promptWays: PromptWays = {
  callService: (service) => Promise.reject(new Error(`The service ${service} does not run now.`)),
  onFacts() {},
};
