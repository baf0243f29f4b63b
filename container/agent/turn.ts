import {
  experimental_createSteering as createSteering,
  isStepCount,
  type ModelMessage,
  type StepResult,
  streamText,
  type ToolSet,
} from 'ai';
import type { AgentFrame, TurnFrame } from '../../src/sandbox/protocol/frames.ts';
import type { AgentTool } from './agent-tool.ts';
import { type AnswerEnd, isPaused, modelFault, noticeOfEnd } from './answer-end.ts';
import { ContextWindow } from './conversation/context-window.ts';
import { afterEarlierCalls } from './conversation/earlier-calls.ts';
import { SESSIONS_DIR, Session } from './conversation/session.ts';
import type { FollowUps } from './follow-ups.ts';
import { reported } from './host/reported-tool.ts';
import { toolsWithLoops } from './loop.ts';
import { languageModel } from './model.ts';
import type { ReadPicture } from './pictures/kept-pictures.ts';
import { messageWith, withNotes, withoutPictures, withPictures } from './pictures/seen-pictures.ts';
import { wasThought } from './plain-answers.ts';
import { countProcesses } from './processes.ts';
import { StreamedText } from './streamed-text.ts';
import type { PromptWriter } from './system-prompt.ts';
import type { ToolParts } from './toolset.ts';

export type TurnParts = ToolParts & {
  readonly send: (frame: AgentFrame) => boolean;
  /** Processes that were there before the first turn. */
  readonly ownProcesses: number;
  /** Brings in what is said in the chat while the turn runs. */
  readonly followUps: FollowUps;
  readonly prompts: PromptWriter;
  readonly readPicture: ReadPicture;
};

/** Makes a tool's runs known: they count as signs of life, and the record of the turn has them. */
export type Announce = (tool: AgentTool) => AgentTool;

/** Pauses of a model, of each of which it goes on by itself. */
const MAX_PAUSES = 5;

/** The parts of a turn that its answer needs, and the stream for the model's text. */
export type AnswerParts = TurnParts & { readonly text: StreamedText; readonly announce: Announce };

/** Answers a turn, and keeps it in its session. @returns that session's id @throws why the model did not answer */
export type Answer = (frame: TurnFrame, parts: AnswerParts) => Promise<string>;

/**
 * Runs one turn to its `done` or `failed`. Never rejects.
 *
 * @param answer the loop of model and tools
 */
export async function runTurn(
  frame: TurnFrame,
  parts: TurnParts,
  answer: Answer = answerInLoop,
): Promise<void> {
  const { send } = parts;
  const heartbeat = new Heartbeat(() => send({ type: 'alive', turn: frame.id }));
  const text = new StreamedText(frame.id, send);
  /** What was said before comes before it. */
  const sendAfterText: typeof send = (sent) => {
    text.flush();
    return send(sent);
  };
  const announce: Announce = (tool) =>
    reported(heartbeat.during(tool), {
      turn: frame.id,
      send: sendAfterText,
      hostTools: parts.hostTools,
    });
  try {
    const tools = parts.tools.map(announce);
    const session = await answer(frame, { ...parts, tools, text, announce });
    const end = leftBehind(parts);
    const done = { type: 'done', turn: frame.id, session, leftBehind: end } as const;
    if (!sendAfterText({ ...done, text: text.whole })) send({ ...done, text: null });
  } catch (error) {
    const message = modelFault(error);
    const end = leftBehind(parts);
    sendAfterText({
      type: 'failed',
      turn: frame.id,
      code: 'MODEL_FAILED',
      message,
      leftBehind: end,
    });
  } finally {
    heartbeat.end();
  }
}

const HEARTBEAT_MS = 1_000;

/**
 * Says again and again that a tool is at work: a long command is no hung agent, which says nothing.
 *
 * A tool may outlive its turn when the model fails beside it; nothing more is said of it then.
 */
class Heartbeat {
  readonly #beat: () => void;
  #isOver = false;

  constructor(beat: () => void) {
    this.#beat = beat;
  }

  during(tool: AgentTool): AgentTool {
    return {
      ...tool,
      run: async (input, context) => {
        const timer = setInterval(() => {
          if (!this.#isOver) this.#beat();
        }, HEARTBEAT_MS);
        try {
          return await tool.run(input, context);
        } finally {
          clearInterval(timer);
        }
      },
    };
  }

  end(): void {
    this.#isOver = true;
  }
}

/** Answers a turn with the AI SDK's loop. */
export const answerInLoop: Answer = async (frame, parts) => {
  const { text } = parts;
  const session = await Session.open(SESSIONS_DIR, frame.session);
  const question = await messageWith(frame.prompt, frame.pictures ?? [], parts.readPicture);
  const asked = afterEarlierCalls(frame, withNotes(question, frame.notes));
  const before = frame.model.seesPictures
    ? await withPictures(session.messages, parts.readPicture)
    : session.messages;
  const { contextTokens } = frame.model;
  const model = languageModel(frame.model);
  const window = new ContextWindow({
    model,
    summariser: languageModel(frame.model, 'summary'),
    summarizes: frame.summarizes ?? true,
    contextTokens,
    session,
  });
  const tookIn = (id: string) => parts.send({ type: 'took', turn: frame.id, id });
  const tools = frame.model.callsTools
    ? toolsWithLoops(frame, parts, languageModel(frame.model, 'subagent'))
    : {};
  const instructions = await parts.prompts.forTurn({ frame, tools: Object.keys(tools) });
  const said: ModelMessage[] = [...asked];
  let end: AnswerEnd;
  for (let pauses = 0; ; pauses += 1) {
    const steering = createSteering();
    parts.followUps.takenBy(({ id, message }) => void steering.steer(message, { id }));
    const result = streamText({
      model: window.model,
      instructions,
      messages: [...before, ...said],
      tools,
      experimental_steering: steering,
      stopWhen: isStepCount(frame.maxRounds),
      // Failures arrive in the stream, where they end the turn: no need to print them.
      onError: () => {},
    });
    for await (const part of result.stream) {
      if (part.type === 'text-delta') {
        if (wasThought(part)) text.forgetStep();
        text.add(part.text);
      } else if (part.type === 'finish-step') text.endStep();
      else if (part.type === 'steering-message') tookIn(part.id);
      else if (part.type === 'error') throw part.error;
    }
    said.push(...(await result.steps).flatMap(messagesOf));
    const [finishReason, rawFinishReason] = [
      await result.finishReason,
      await result.rawFinishReason,
    ];
    end = { finishReason, rawFinishReason };
    if (!isPaused(end) || pauses >= MAX_PAUSES) break;
  }
  const notice =
    end.finishReason === 'tool-calls'
      ? `I stopped after ${frame.maxRounds} rounds of tool calls. Say "go on" to continue.`
      : noticeOfEnd(end, !text.isEmpty);
  if (notice !== null) {
    text.add(notice);
    said.push({ role: 'assistant', content: notice });
  }
  if (text.isEmpty || said.at(-1)?.role !== 'assistant') {
    // Without it, a question would follow one without an answer, which some servers refuse from then on. The
    // host is sent nothing: in a task, that is a way to stay silent.
    said.push({ role: 'assistant', content: '(ended without a word)' });
  }
  await session.append(said.map(withoutPictures), window.tokens);
  return session.id;
};

function leftBehind({ ownProcesses }: TurnParts): number {
  return Math.max(0, countProcesses() - ownProcesses);
}

/** Returns a step as the session keeps it: what was brought in before it, and what came of it. */
function messagesOf(step: StepResult<ToolSet>): ModelMessage[] {
  return [...(step.experimental_steeringMessages ?? []), ...step.response.messages];
}
