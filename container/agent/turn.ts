import {
  isStepCount,
  type ModelMessage,
  type Experimental_Steering as Steering,
  type StepResult,
  streamText,
  type ToolSet,
} from 'ai';
import type { AgentFrame, TurnFrame } from '../../src/sandbox/protocol/frames.ts';
import { MAX_FRAME_BYTES } from '../../src/sandbox/protocol/protocol.ts';
import { ContextWindow } from './conversation/context-window.ts';
import { Session } from './conversation/session.ts';
import { Heartbeat } from './heartbeat.ts';
import { reported } from './host/reported-tool.ts';
import { toolsWithLoops } from './loop.ts';
import { languageModel } from './model.ts';
import { modelFault } from './model-fault.ts';
import type { ReadPicture } from './pictures/kept-pictures.ts';
import { messageWith, withoutPictures, withPictures } from './pictures/seen-pictures.ts';
import { countProcesses } from './processes.ts';
import type { PromptWriter } from './system-prompt.ts';
import type { ToolParts } from './toolset.ts';

const SESSIONS_DIR = '/home/node/.claude/sessions';
/** Far below the longest frame, however much of a delta JSON has to escape. */
const MAX_DELTA_CHARS = 100_000;

export type TurnParts = ToolParts & {
  readonly send: (frame: AgentFrame) => boolean;
  /** Processes that were there before the first turn. */
  readonly ownProcesses: number;
  /** Brings in what is said in the chat while the turn runs. */
  readonly steering: Steering;
  readonly prompts: PromptWriter;
  readonly readPicture: ReadPicture;
};

/** Runs one turn to its `done` or `failed`. Never rejects. */
export async function runTurn(frame: TurnFrame, parts: TurnParts): Promise<void> {
  const heartbeat = new Heartbeat(() => parts.send({ type: 'alive', turn: frame.id }));
  const tools = parts.tools.map((tool) =>
    reported(heartbeat.during(tool), { turn: frame.id, send: parts.send }),
  );
  try {
    await answer(frame, { ...parts, tools });
  } catch (error) {
    parts.send({
      type: 'failed',
      turn: frame.id,
      code: 'MODEL_FAILED',
      message: modelFault(error),
      leftBehind: leftBehind(parts),
    });
  } finally {
    heartbeat.end();
  }
}

async function answer(frame: TurnFrame, parts: TurnParts): Promise<void> {
  const session = await Session.open(SESSIONS_DIR, frame.session);
  const asked: ModelMessage = await messageWith(
    frame.prompt,
    frame.pictures ?? [],
    parts.readPicture,
  );
  const before = frame.model.seesPictures
    ? await withPictures(session.messages, parts.readPicture)
    : session.messages;
  const text = new StreamedText(frame.id, parts.send);
  const { contextTokens } = frame.model;
  const model = languageModel(frame.model);
  const window = new ContextWindow({
    model,
    summariser: languageModel(frame.model, 'summary'),
    contextTokens,
    session,
  });
  const tookIn = (id: string) => parts.send({ type: 'took', turn: frame.id, id });
  const tools = frame.model.callsTools
    ? toolsWithLoops(frame, parts, languageModel(frame.model, 'subagent'))
    : {};
  const result = streamText({
    model: window.model,
    instructions: await parts.prompts.forTurn({ frame, tools: Object.keys(tools) }),
    messages: [...before, asked],
    tools,
    experimental_steering: parts.steering,
    stopWhen: isStepCount(frame.maxRounds),
    // Failures arrive in the stream, where they end the turn: no need to print them.
    onError: () => {},
  });
  for await (const part of result.stream) {
    if (part.type === 'text-delta') text.add(part.text);
    else if (part.type === 'finish-step') text.endStep();
    else if (part.type === 'steering-message') tookIn(part.id);
    else if (part.type === 'error') throw part.error;
  }
  const said: ModelMessage[] = [asked, ...(await result.steps).flatMap(messagesOf)];
  if ((await result.finishReason) === 'tool-calls') {
    const notice = `I stopped after ${frame.maxRounds} rounds of tool calls. Say "go on" to continue.`;
    text.add(notice);
    said.push({ role: 'assistant', content: notice });
  }
  if (text.isEmpty || said.at(-1)?.role === 'user') {
    // Without it, two questions would follow each other, which some servers refuse from then on. The
    // host is sent nothing: in a task, that is a way to stay silent.
    said.push({ role: 'assistant', content: '(ended without a word)' });
  }
  await session.append(said.map(withoutPictures), window.tokens);
  const done = {
    type: 'done',
    turn: frame.id,
    session: session.id,
    leftBehind: leftBehind(parts),
  } as const;
  if (!parts.send({ ...done, text: text.whole })) parts.send({ ...done, text: null });
}

function leftBehind({ ownProcesses }: TurnParts): number {
  return Math.max(0, countProcesses() - ownProcesses);
}

/** Returns a step as the session keeps it: what was brought in before it, and what came of it. */
function messagesOf(step: StepResult<ToolSet>): ModelMessage[] {
  return [...(step.experimental_steeringMessages ?? []), ...step.response.messages];
}

/** The answer on its way out: what the model says in all its steps, a blank line between two. */
class StreamedText {
  readonly #turn: string;
  readonly #send: TurnParts['send'];
  #parts: string[] = [];
  #length = 0;
  #isBetweenSteps = false;

  constructor(turn: string, send: TurnParts['send']) {
    this.#turn = turn;
    this.#send = send;
  }

  add(text: string): void {
    if (text === '') return;
    const delta = this.#isBetweenSteps && this.#length > 0 ? `\n\n${text}` : text;
    this.#isBetweenSteps = false;
    // A text longer than a frame is not collected; the host has the deltas.
    if (this.#length <= MAX_FRAME_BYTES) this.#parts.push(delta);
    this.#length += delta.length;
    for (let from = 0; from < delta.length; from += MAX_DELTA_CHARS) {
      const piece = delta.slice(from, from + MAX_DELTA_CHARS);
      this.#send({ type: 'text', turn: this.#turn, delta: piece });
    }
  }

  endStep(): void {
    this.#isBetweenSteps = true;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  get whole(): string | null {
    return this.#length <= MAX_FRAME_BYTES ? this.#parts.join('') : null;
  }
}
