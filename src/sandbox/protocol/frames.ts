/**
 * Frames between the host and the agent.
 *
 * The agent opens the host's end (the socket `/run/claw/host.sock`, or a TCP address and a token from its
 * environment, see `endpoint.ts`) and asks `GET /frames` with `Upgrade: claw-frames`. From then on both sides
 * send frames: one JSON object a line, at most {@link MAX_FRAME_BYTES} with its newline.
 *
 *     agent  → ready {protocol, followUps}
 *     host   → turn {id, session, system, sections, prompt, notes, pictures, earlier, model, tools, maxRounds,
 *                           shellTimeoutMs, guarded, without}
 *     agent  → text {turn, delta}                          any number of times
 *     agent  → tool_call {id, turn, name, input}           a tool of the host
 *     host   → tool_result {id, ok, value, fault}
 *     agent  → tool_check {id, turn, name, input}          before a guarded tool of its own runs
 *     host   → tool_verdict {id, isAllowed, reason, seesResult}
 *     agent  → tool_ran {id, turn, ok, value}              its result, where the host wants to see it; the host
 *                                                          answers with the `tool_result` that the model is given
 *     agent  → permission {id, turn, text, choices, takesText, payload}   a question of a tool of its own:
 *                                                          for consent, or any other
 *     host   → decision {id, word, isAnswered, text}       the owner's word; `no` without an answer
 *     host   → message {turn, id, text, pictures}          said in the chat since the turn began
 *     agent  → took {turn, id}                             the next step's model call holds that message
 *     agent  → tool_began {id, turn, name, doing, input, isRepeatable, isOutside}   a tool of its own runs; one that is
 *                                                          not repeatable waits for a `tool_result`: it is on record
 *     agent  → tool_ended {id, turn, ok, error, result}    it has ended; a later run of the turn is told of it
 *     agent  → alive {turn}                                while a tool of its own runs, each second
 *     agent  → done {turn, text, session, leftBehind}
 *              or failed {turn, code, message, leftBehind}
 *     host   → stop                                        the agent ends itself
 *
 * One turn runs at a time. The text of `done` is all deltas of the turn joined, or null where that
 * would not fit a frame. `leftBehind` counts processes that the turn's commands left running; where it
 * is large, the next turn gets a fresh container. A message goes only to an agent that said `followUps` when it was ready, and
 * one at a time; it is part of the turn once the agent took it, and otherwise of a turn to come. An
 * agent from which nothing is heard for too long is stopped; what its model sends, and calls of the
 * host's tools that are under way, speak for it. Any other request on that way is a model call, see
 * `model/proxy.ts`.
 * Both sides import this file, so another agent in the container has to keep to these schemas only.
 */
import { z } from 'zod';
import { TOOL_FAULTS } from '../../lib/tool-fault.ts';
import { PROTOCOL } from './protocol.ts';

/** Names a conversation, and the file that keeps it. */
export const SessionId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);

const Id = z.string().min(1).max(200);
/** Processes that commands of the turn left running in the container. */
const LeftBehind = z.number().int().nonnegative().optional();

const ToolDeclaration = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
});

/** Models of one protocol that follow each other, by the name of the first. */
const ModelRun = z.strictObject({
  protocol: z.enum(['messages', 'chat-completions']),
  model: z.string(),
  /** The longest answer, in tokens; the server's own limit if left out. */
  answerTokens: z.number().int().positive().optional(),
});

/** A tool call that an earlier run of the turn made. */
const EarlierCall = z.strictObject({
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
  ok: z.boolean(),
  result: z.string(),
});

/** A picture that came with a message: the file as the agent sees it, or why there is none. */
const TurnPicture = z.strictObject({
  message: Id,
  path: z.string().nullable(),
  /** The end of a sentence. */
  problem: z.string().nullable(),
});

const TurnFrame = z.strictObject({
  type: z.literal('turn'),
  id: Id,
  session: SessionId.nullable(),
  system: z.string(),
  /** Facts for sections of the system prompt that the agent's side writes, by the section's name. */
  sections: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  prompt: z.string(),
  /** Notes that apply to this turn only, such as the time. */
  notes: z.string().optional(),
  /** Those that came with the messages of the prompt; only for a model that is shown them. */
  pictures: z.array(TurnPicture).optional(),
  /** Calls of an earlier run that was interrupted, which belong behind the prompt. */
  earlier: z.array(EarlierCall).optional(),
  model: z.strictObject({
    protocol: z.enum(['messages', 'chat-completions']),
    model: z.string(),
    answerTokens: z.number().int().positive().optional(),
    /** How freely the models choose their words, from 0 to 2; the servers' own choice if left out. */
    temperature: z.number().min(0).max(2).optional(),
    /** Runs of models in other protocols, which are asked where none before answers. */
    next: z.array(ModelRun).optional(),
    /** Runs for work that has models of its own. */
    side: z
      .strictObject({
        summary: z.array(ModelRun).min(1).optional(),
        subagent: z.array(ModelRun).min(1).optional(),
      })
      .optional(),
    contextTokens: z.number().int().positive(),
    /** False for a model that cannot call tools; it is offered none. */
    callsTools: z.boolean(),
    /** True for a model that is shown pictures. */
    seesPictures: z.boolean().optional(),
  }),
  tools: z.array(ToolDeclaration),
  maxRounds: z.number().int().positive(),
  /** False leaves the oldest messages of a long conversation out, without a summary. */
  summarizes: z.boolean().optional(),
  /** The longest command of the shell; 120 s if left out. */
  shellTimeoutMs: z.number().int().positive().optional(),
  /** The agent's own tools of which the host is asked before each call; none if left out. */
  guarded: z.union([z.literal('all'), z.array(z.string())]).optional(),
  /** The agent's own tools that it has not in this turn; none if left out. */
  without: z.array(z.string()).optional(),
});

const MessageFrame = z.strictObject({
  type: z.literal('message'),
  turn: Id,
  id: Id,
  text: z.string(),
  pictures: z.array(TurnPicture).optional(),
});

const ToolResultFrame = z.strictObject({
  type: z.literal('tool_result'),
  id: Id,
  ok: z.boolean(),
  value: z.unknown(),
  /** The kind of fault; `failed` by default. */
  fault: z.enum(TOOL_FAULTS).exactOptional(),
});

const ToolVerdictFrame = z.strictObject({
  type: z.literal('tool_verdict'),
  id: Id,
  isAllowed: z.boolean(),
  /** Why not, in words for the model. */
  reason: z.string().optional(),
  seesResult: z.boolean(),
});

const DecisionFrame = z.strictObject({
  type: z.literal('decision'),
  id: Id,
  word: z.string(),
  isAnswered: z.boolean(),
  text: z.string().optional(),
});

const Choice = z.strictObject({
  word: z.string().regex(/^[A-Za-z][A-Za-z0-9 _-]{0,39}$/),
  label: z.string().max(1_000),
});

export const HostFrame = z.discriminatedUnion('type', [
  TurnFrame,
  ToolResultFrame,
  ToolVerdictFrame,
  DecisionFrame,
  MessageFrame,
  z.strictObject({ type: z.literal('stop') }),
]);

export const AgentFrame = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('ready'),
    protocol: z.literal(PROTOCOL),
    followUps: z.boolean().optional(),
  }),
  z.strictObject({ type: z.literal('took'), turn: Id, id: Id }),
  z.strictObject({ type: z.literal('alive'), turn: Id }),
  z.strictObject({ type: z.literal('text'), turn: Id, delta: z.string() }),
  z.strictObject({
    type: z.literal('tool_call'),
    id: Id,
    turn: Id,
    name: z.string(),
    input: z.unknown(),
  }),
  z.strictObject({
    type: z.literal('tool_check'),
    id: Id,
    turn: Id,
    name: z.string(),
    input: z.unknown(),
  }),
  z.strictObject({
    type: z.literal('tool_ran'),
    id: Id,
    turn: Id,
    ok: z.boolean(),
    value: z.string(),
  }),
  z.strictObject({
    type: z.literal('tool_began'),
    id: Id,
    turn: Id,
    name: z.string().max(64),
    /** A few words for those who wait. */
    doing: z.string().max(200).optional(),
    input: z.unknown().optional(),
    isRepeatable: z.boolean().optional(),
    isOutside: z.boolean().optional(),
  }),
  z.strictObject({
    type: z.literal('tool_ended'),
    id: Id,
    turn: Id,
    ok: z.boolean(),
    /** Why it failed. */
    error: z.string().max(500).optional(),
    /** The whole result, or the whole error. */
    result: z.string().max(100_000).optional(),
  }),
  z.strictObject({
    type: z.literal('permission'),
    id: Id,
    turn: Id,
    text: z.string().min(1).max(4_000),
    choices: z.array(Choice).max(9),
    takesText: z.literal(true).optional(),
    payload: z.unknown().optional(),
  }),
  z.strictObject({
    type: z.literal('done'),
    turn: Id,
    text: z.string().nullable(),
    session: SessionId,
    leftBehind: LeftBehind,
  }),
  z.strictObject({
    type: z.literal('failed'),
    turn: Id,
    code: z.enum(['MODEL_FAILED', 'MODEL_TIMEOUT', 'AGENT_DIED']),
    message: z.string(),
    leftBehind: LeftBehind,
  }),
]);

export type HostFrame = z.output<typeof HostFrame>;
export type AgentFrame = z.output<typeof AgentFrame>;
export type TurnFrame = z.output<typeof TurnFrame>;
export type EarlierCall = z.output<typeof EarlierCall>;
export type TurnPicture = z.output<typeof TurnPicture>;
export type MessageFrame = z.output<typeof MessageFrame>;
