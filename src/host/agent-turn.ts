import type { TurnEvents, TurnOutcome } from '../sandbox/sandbox.ts';
import type { Group, Turn } from '../store/store.ts';
import type { HostOptions } from './options.ts';
import { promptOf } from './prompt.ts';
import { systemPrompt } from './system-prompt.ts';
import { answered, failed, type TurnResult } from './turn-result.ts';

/** How many messages of a chat the agent is shown at most. */
const CONTEXT_MESSAGES = 50;

type AgentTurnOptions = Pick<HostOptions, 'store' | 'settings' | 'sandbox' | 'now' | 'timeZone'> & {
  readonly onTool: TurnEvents['onTool'];
};

/** Lets the group's agent answer the turn's messages. Never rejects because of model or sandbox. */
export async function runAgentTurn(options: AgentTurnOptions, turn: Turn): Promise<TurnResult> {
  const { store, settings, sandbox } = options;
  const group = store.groups.byJid(turn.jid);
  if (group === null) return failed('UNREGISTERED', 'This chat is not registered any more.');
  if (settings.model.apiKey === null) {
    return failed(
      'NO_KEY',
      'No model is configured yet. Add a key with `npx claw setup`, then say `/restart` and ask again.',
    );
  }
  const opened = await sandbox.open();
  if (opened.kind === 'unavailable') return failed('NO_ENGINE', opened.advice);
  const outcome = await opened.sandbox.runTurn(
    {
      id: turn.id,
      folder: group.folder,
      isMain: group.isMain,
      session: store.sessions.get(group.folder),
      system: systemFor(options, group),
      prompt: promptFor(options, turn),
    },
    { onText: () => {}, onTool: options.onTool },
  );
  return resultOf(outcome, group);
}

function systemFor({ settings, now, timeZone }: AgentTurnOptions, group: Group): string {
  return systemPrompt({ assistantName: settings.assistantName, group, now: now(), timeZone });
}

function promptFor({ store, timeZone }: AgentTurnOptions, turn: Turn): string {
  const range = { jid: turn.jid, from: turn.fromSeq, upto: turn.uptoSeq };
  const messages = store.messages.between(range, CONTEXT_MESSAGES);
  const leftOut = store.messages.countBetween(range) - messages.length;
  return promptOf({ messages, leftOut, timeZone });
}

function resultOf(outcome: TurnOutcome, group: Group): TurnResult {
  if (outcome.kind === 'failed') {
    const again = group.isMain ? 'Say `/retry` to try again.' : 'Ask again to try again.';
    return failed(outcome.code, `${outcome.message} ${again}`);
  }
  const text = outcome.text.trim() === '' ? '(The agent ended without an answer.)' : outcome.text;
  const cut = outcome.isTruncated ? '\n\n(The answer was longer than 1 MB and is cut here.)' : '';
  return answered(text + cut, { session: { folder: group.folder, session: outcome.session } });
}
