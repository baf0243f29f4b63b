import type { Group, Turn } from '../../../store/store.ts';
import { questionOfAgent } from '../../asking/agent-question.ts';
import type { AskedAbout, Asking } from '../../asking/asking.ts';
import type { AskQuestion } from '../../contracts/ask.ts';
import type { ClockPort, LogPort, StorePort } from '../../contracts/ports.ts';
import { answerWithFiles } from '../../outbound/answer-files.ts';
import type { LiveAnswer, LiveAnswers } from '../../outbound/live/live-answers.ts';
import { toolLine } from '../../outbound/live/tool-line.ts';
import type { OutgoingFiles } from '../../outbound/outgoing-files.ts';
import { taskOfTurn } from '../../scheduler/task-turn.ts';
import { queuedByOf, toolChoiceOf } from '../../services/queued-turn.ts';
import type { Services } from '../../services/services.ts';
import type { CommandContexts } from '../commands/command-contexts.ts';
import type { TurnRecords } from '../record/turn-records.ts';
import { openAgentCommands } from '../tool-calls/agent-command.ts';
import { openCallJournal } from '../tool-calls/call-journal.ts';
import { openOutsideWords } from '../tool-calls/outside-words.ts';
import type { OpenTurnTools } from '../tool-calls/turn-tools.ts';
import { type TurnResult, unregistered } from '../turn-result.ts';
import type { Typing } from '../typing.ts';
import type { AgentCallbacks, MissingTools } from './agent-turn.ts';
import type { FollowUps } from './follow-ups.ts';

export type AgentRunnerOptions = StorePort &
  ClockPort &
  LogPort & {
    readonly runTurn: (turn: Turn, callbacks: AgentCallbacks) => Promise<TurnResult>;
    readonly openTools: OpenTurnTools;
    /** Waits for the tools of a turn, no longer than the turn is there. */
    readonly toolsReady: (turn: Turn, folder: string) => ReturnType<Services['toolsReady']>;
    readonly records: Pick<TurnRecords, 'begin'>;
    /** Contexts of the owner's commands, which an agent may propose. */
    readonly contexts: CommandContexts;
    readonly asking: Asking;
    readonly followUps: FollowUps;
    readonly outgoingFiles: Pick<OutgoingFiles, 'hold'>;
    readonly typing: Typing;
    readonly live: LiveAnswers;
  };

/** Creates the runner of an agent's turn: its tools, its questions, and the messages that arrive meanwhile. */
export function createAgentRunner(
  options: AgentRunnerOptions,
): (turn: Turn) => Promise<TurnResult> {
  const { store, runTurn, openTools, contexts, asking, followUps, typing, live } = options;
  const unstoppable = new AbortController().signal;
  /** By folder, what its chat knows of missing tools. */
  const toldMissing = new Map<string, ReadonlySet<string>>();

  async function run(turn: Turn): Promise<TurnResult> {
    const group = store.groups.byJid(turn.jid);
    if (group === null) return unregistered();
    const isTask = taskOfTurn(store, turn) !== null;
    const { context } = contexts(turn, group, unstoppable);
    const commands = openAgentCommands({ context, jid: turn.jid });
    // Nothing of a scheduled turn is shown before its end: perhaps it has nothing to say.
    const answer = isTask ? null : live.open(turn);
    const ask = async (question: AskQuestion, to: AskedAbout['to']) => {
      const end = answer?.beginQuestion();
      return await asking.ask(question, { turn, to }).finally(() => end?.());
    };
    const missingTools = await waitForTools(turn, group, answer);
    const choice = toolChoiceOf(turn);
    const journal = openCallJournal(options, turn);
    const ownerCommand = commands.call;
    const outside = openOutsideWords(options, turn, group);
    const tools = openTools({ turn, group, isTask, ask, ownerCommand, choice, journal, outside });
    const record = options.records.begin(turn);
    const callbacks: AgentCallbacks = {
      record,
      missingTools,
      earlier: () => journal.earlier(tools.seen),
      outside,
      onOwnToolRun(run) {
        if (run.kind === 'began' && run.isOutside !== false) outside.note(`\`${run.name}\``);
        journal.ownTool(run);
      },
      onTool: (call, signal) => record.called(call, () => tools.call(call, signal)),
      onOwnTool: (call) => record.checked(call, () => tools.check(call)),
      guardedOwnTools: tools.guardedOwnTools,
      ownToolsOff: tools.ownToolsOff,
      onAsk: async (question) => await ask(questionOfAgent(question, group), 'owner'),
      toolsFor: tools.offer,
      isSilent: tools.isSilent,
    };
    // Scheduled turns show no typing indicator and take no follow-ups; a message that arrives meanwhile
    // gets its own turn.
    if (answer === null) {
      return await withFiles(commands.withQuestion(await runTurn(turn, callbacks)), group);
    }
    const seen: AgentCallbacks = {
      ...callbacks,
      ...shownTools(answer, callbacks, tools.doing),
      onText: answer.addText,
      followUps: followUps.eventsOf(turn),
    };
    const result = await typing
      .during(turn.jid, () => runTurn(turn, seen))
      .finally(() => {
        followUps.close(turn);
        answer.close();
      });
    return await withFiles(commands.withQuestion(result), group);
  }

  /** Waits, where services still find out what tools they have. The chat is told once of each that is missing. */
  async function waitForTools(
    turn: Turn,
    { folder }: Group,
    answer: LiveAnswer | null,
  ): Promise<MissingTools> {
    const wait = () => options.toolsReady(turn, folder);
    const end = answer?.begin('waiting for tools');
    const missing = await (answer === null ? wait() : typing.during(turn.jid, wait));
    end?.();
    for (const reason of missing) {
      options.log.warn('a turn begins without tools', { turn: turn.id, reason });
    }
    // A service reads the answer to its own turn.
    if (queuedByOf(turn) !== null) return { forAgent: missing, forChat: [] };
    // A task may have nothing to say.
    if (answer === null) return { forAgent: missing, forChat: missing };
    const before = toldMissing.get(folder);
    toldMissing.set(folder, new Set(missing));
    return { forAgent: missing, forChat: missing.filter((one) => before?.has(one) !== true) };
  }

  /** Sends pictures of the group's folder along that the answer shows. */
  async function withFiles(result: TurnResult, { folder }: Group): Promise<TurnResult> {
    if (result.kind !== 'ended' || result.state !== 'answered') return result;
    const [first, ...others] = result.texts;
    if (first === undefined) return result;
    const { text, held } = await answerWithFiles(options.outgoingFiles, folder, first);
    return { ...result, texts: [text, ...others], held };
  }

  return (turn) => run(turn).finally(() => asking.abandon(turn.id));
}

/** An agent can say that any number of its tools run. */
const MAX_SHOWN_TOOLS = 32;

/** Has the chat see what the tools of a turn do, if it takes long. */
function shownTools(
  answer: LiveAnswer,
  { onTool, onOwnToolRun }: Pick<AgentCallbacks, 'onTool' | 'onOwnToolRun'>,
  doing: (name: string) => string | undefined,
): Pick<AgentCallbacks, 'onTool' | 'onOwnToolRun'> {
  const own = new Map<string, () => void>();
  return {
    onTool(call, signal) {
      const end = answer.begin(toolLine(call.name, doing(call.name)));
      return onTool(call, signal).finally(end);
    },
    onOwnToolRun(run) {
      onOwnToolRun(run);
      if (run.kind === 'ended') {
        own.get(run.id)?.();
        own.delete(run.id);
      } else if (own.size < MAX_SHOWN_TOOLS && !own.has(run.id)) {
        own.set(run.id, answer.begin(toolLine(run.name, run.doing)));
      }
    },
  };
}
