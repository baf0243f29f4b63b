import type { ClosingQuestion } from '../../asking/question.ts';
import type { CommandContext } from '../../contracts/command.ts';
import { isCommandText, matchCommand, ownerCommands } from '../../contracts/match-command.ts';
import type { TurnResult } from '../turn-result.ts';

/** The owner's commands as the agent of one turn may call them. */
export interface AgentCommands {
  /** Answers a command that only looks; one that changes something is put to the owner at the turn's end. */
  call(text: string): Promise<string>;
  /** The turn's result, with the question that the agent has caused. */
  withQuestion(result: TurnResult): TurnResult;
}

export type AgentCommandsOptions = {
  readonly context: Omit<CommandContext, 'keep'>;
  readonly jid: string;
};

/** Arguments that an agent may give a command: names and versions, so that no address or path slips in. */
const ARGUMENT = /^[\w.@ -]*$/;

/** Words with which only the owner agrees to something. */
const CONSENT = /--|(?:^|\s)(?:allow|keep|moved|retire-contained)(?:\s|$)/;

/**
 * Opens the commands that agents may call. A text that it reads may persuade an agent of anything, so none of its
 * calls changes the code: the host asks the owner in its own words, and the owner's yes counts for what they read.
 */
export function openAgentCommands({ context, jid }: AgentCommandsOptions): AgentCommands {
  const { settings, store } = context;
  const commands = ownerCommands(context.commands);
  let proposed: string | null = null;
  /** The command's own question; null where the owner is asked whether it may run. */
  let question: ClosingQuestion | null = null;

  async function call(text: string): Promise<string> {
    const match = isCommandText(text) ? matchCommand(text, commands) : null;
    if (match?.kind !== 'found') throw new Error(`There is no command ${text}. ${namesOf()}`);
    const { command, argument } = match;
    if (command.look !== undefined) {
      return await command.look({ ...context, keep: () => {} }, argument);
    }
    if (command.isForAgents !== true) {
      throw new Error(`Only the owner can say /${command.name}. ${namesOf()}`);
    }
    if (!ARGUMENT.test(argument) || CONSENT.test(argument)) {
      throw new Error(
        'Only plain names can be proposed; addresses and paths are typed by the owner.',
      );
    }
    if (proposed !== null && proposed !== text) {
      throw new Error(`The owner is asked about ${proposed} first. Propose one at a time.`);
    }
    // Proposals must not pile up while the owner is away.
    if (store.asks.inChat(jid).length > 0) {
      throw new Error('The owner has another question to answer first.');
    }
    proposed = text;
    const own = await command.propose?.({ ...context, keep: () => {} }, argument);
    question = own ? { command: command.name, ...own } : null;
    return 'The owner is asked after your answer, and the command runs if they say yes. It has not run yet.';
  }

  function namesOf(): string {
    const names = commands.flatMap(({ name, look, isForAgents }) =>
      look !== undefined || isForAgents === true ? [`/${name}`] : [],
    );
    return `These can be called: ${names.join(', ')}.`;
  }

  return {
    call,
    withQuestion(result) {
      if (proposed === null || result.kind !== 'ended' || result.state !== 'answered')
        return result;
      const proposal = `${settings.assistantName} wants to run \`${proposed}\`, which changes its own code.`;
      if (question !== null) {
        return { ...result, question: { ...question, text: `${proposal} ${question.text}` } };
      }
      const asked = { command: proposed, data: null, text: `${proposal} Run it?`, run: proposed };
      return { ...result, question: { ...asked, declined: `\`${proposed}\` was not run.` } };
    },
  };
}
