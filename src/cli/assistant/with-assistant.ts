import { CliError, type Invocation } from '@patchclaw/claw/cli';
import { dataDirOf as dataDirIn, environmentOf } from '../environment.ts';
import { type Conversation, type ConversationView, openConversation } from './conversation.ts';
import { startForAWhile } from './started-assistant.ts';

/** Returns the data folder of the project that a command is called in. */
export function dataDirOf(root: string): string {
  return dataDirIn(environmentOf(root), root);
}

/**
 * Lets `talk` talk to the assistant that runs, or to one that is started for as long as it takes.
 *
 * @throws CliError ASSISTANT_STOPPED, INTERRUPTED
 */
export async function withAssistant<T>(
  { root, signal, ui }: Invocation,
  view: ConversationView,
  talk: (conversation: Conversation) => Promise<T>,
): Promise<T> {
  const dataDir = dataDirOf(root);
  const running = await openConversation(dataDir, view, signal);
  if (running !== null) return await talkAndLeave(running, talk);
  ui.progress({ kind: 'note', text: 'The assistant does not run: starting it for this.' });
  const started = await startForAWhile(root, signal);
  let came: { readonly value: T } | null = null;
  let failure: unknown = null;
  try {
    const conversation = await openConversation(dataDir, view, signal);
    if (conversation !== null) came = { value: await talkAndLeave(conversation, talk) };
  } catch (error) {
    failure = error;
  }
  const why = await started.stop();
  if (came !== null) return came.value;
  if (failure !== null && (signal.aborted || why === null)) throw failure;
  throw new CliError('ASSISTANT_STOPPED', `The assistant did not start. ${why ?? ''}`.trim());
}

async function talkAndLeave<T>(
  conversation: Conversation,
  talk: (conversation: Conversation) => Promise<T>,
): Promise<T> {
  try {
    return await talk(conversation);
  } finally {
    conversation.leave();
  }
}
