import { join } from 'node:path';
import type { Settings } from '../config.ts';
import type { KnownMachines, Places } from '../lib/machines.ts';
import type { StartProgram } from '../lib/program.ts';
import type { Environment } from '../lib/settings.ts';
import type { ToolFaultKind } from '../lib/tool-fault.ts';
import type { Candidates, SideWork } from '../model/candidates.ts';
import type { FailureReason, ModelFailure } from '../model/failure.ts';
import type { CutPrompt, PaidCall } from '../model/metering/paying-turn.ts';
import type { Model } from '../model/model.ts';
import type { Admission } from '../model/tokens.ts';
import type { BuildMemory, EngineContribution } from './engines/engine.ts';
import type { MachinesContribution } from './machines/machines.ts';

/** The agent's folder of files that came with messages of its chat. */
export const MEDIA_DIR = '/workspace/media';

/** Returns the host's folder of those files. Only the host writes there; it is made when a container starts. */
export function mediaFolder(dataDir: string, folder: string): string {
  return join(dataDir, 'media', folder);
}

/**
 * A picture that came with a message: the file as the agent sees it, or the reason why there is none, as the end of a
 * sentence.
 */
export type TurnPicture = {
  /** The channel's id of the message. */
  readonly message: string;
  readonly path: string | null;
  readonly problem: string | null;
};

/** A tool call that an earlier run of a turn made. */
export type EarlierCall = {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** False where it failed, and where nobody knows what came of it; the result says which. */
  readonly ok: boolean;
  readonly result: string;
};

/** One turn of an agent: what it is asked, in which conversation, and what it may use. */
export type TurnRequest = {
  readonly id: string;
  /** The group's folder under `groups/`, which decides mounts, socket and session. */
  readonly folder: string;
  readonly isMain: boolean;
  /** It runs beside the group's other turns, in a container of its own that ends with it. */
  readonly isBeside?: boolean | undefined;
  /** Resumes this conversation; null begins a new one. */
  readonly session: string | null;
  /** The models that may answer, best first. */
  readonly models: Candidates;
  /** Those for work of the turn that has models of its own. */
  readonly sideModels?: Readonly<Partial<Record<SideWork, Candidates>>> | undefined;
  readonly system: string;
  /** Notes that apply to this turn only, such as the time. The model reads them before the prompt. */
  readonly notes?: string;
  /** Facts for the sections of the system prompt that the container writes, by the section's name. */
  readonly sections?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly prompt: string;
  /** Those that came with the prompt's messages; none for a model that is shown no pictures. */
  readonly pictures?: readonly TurnPicture[];
  /** The calls of an earlier run that was interrupted: the model goes on after them. */
  readonly earlier?: readonly EarlierCall[];
  /** The host's tools that this turn is offered; calls of any other are refused. */
  readonly tools: readonly HostTool[];
  /** The agent's own tools of which each call is asked about by `onOwnTool` before it runs; none if left out. */
  readonly guardedOwnTools?: readonly string[] | 'all' | undefined;
  /** The agent's own tools that it does not have in this turn; none if left out. */
  readonly ownToolsOff?: readonly string[] | undefined;
};

/** A call of a host tool by the agent; whose it is was decided by the socket it came through. */
export type HostToolCall = {
  readonly folder: string;
  readonly name: string;
  readonly input: unknown;
};
export type HostToolResult = {
  readonly ok: boolean;
  readonly value: unknown;
  /** The kind of fault; absent after a success, or if no kind is known. */
  readonly fault?: ToolFaultKind;
};

/** The answer to an agent that is about to run a tool of its own. */
export type OwnToolVerdict =
  | { readonly kind: 'refused'; readonly reason: string }
  /** `after` gets the result and returns the one that the model sees; null where none is looked at. */
  | {
      readonly kind: 'allowed';
      readonly after: ((result: HostToolResult) => Promise<HostToolResult>) | null;
    };

/** A question of a tool that runs in the container. No choices: yes or no. */
export type AgentQuestion = {
  readonly text: string;
  readonly choices: readonly { readonly word: string; readonly label: string }[];
  /** The owner's next message is the answer, in their own words. */
  readonly takesText?: true;
  /** The subject of the question, shown exactly as it is; undefined for none. */
  readonly payload?: unknown;
};
/** The chosen word; also `no` if there was no answer. `text` is an answer in the person's own words. */
export type AgentReply = {
  readonly word: string;
  readonly isAnswered: boolean;
  readonly text?: string;
};

/** A tool that the host offers to agents, with a JSON schema of its input. */
export type HostTool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
};

export type TurnOutcome =
  | {
      readonly kind: 'answered';
      readonly text: string;
      readonly session: string;
      /** The answer was longer than 1 MB and was cut there. */
      readonly isTruncated: boolean;
    }
  | {
      readonly kind: 'failed';
      readonly code:
        | 'MODEL_FAILED'
        | 'MODEL_TIMEOUT'
        | 'AGENT_GARBAGE'
        | 'AGENT_DIED'
        /** Nothing is known to be wrong with the turn: it may run again elsewhere. */
        | 'MACHINE_LOST'
        | 'TURN_TIMEOUT'
        | 'AGENT_STUCK'
        | 'BUDGET'
        | 'NO_ENGINE';
      /** One sentence fit for the chat. */
      readonly message: string;
      /** The reason for a model's failure, if it concerns more than this turn, and the model. */
      readonly reason?: FailureReason;
      readonly model?: string;
    };

/** A message handed to an agent in the middle of its turn. */
export type FollowUp = {
  readonly id: string;
  readonly text: string;
  readonly pictures?: readonly TurnPicture[];
};

/**
 * A tool of the agent's own that has started or ended, as the agent reports it. A later run of the turn is told of
 * it.
 */
export type OwnToolRun =
  | {
      readonly kind: 'began';
      readonly id: string;
      readonly name: string;
      /** Its own words for what it does; undefined for none. */
      readonly doing?: string | undefined;
      readonly input?: unknown;
      readonly isRepeatable?: boolean | undefined;
      /** True if the text that it reads was written outside the chat. */
      readonly isOutside?: boolean | undefined;
    }
  | {
      readonly kind: 'ended';
      readonly id: string;
      /** Null where it went well. */
      readonly error: string | null;
      /** The tool's whole result, or the whole error. */
      readonly result?: string | undefined;
    };

/** Events of a running turn. An error in `onTool` is reported to the agent; the others must not throw. */
export type TurnEvents = {
  /** A part of the answer, as the model writes it; all parts joined are the answer. */
  readonly onText?: (delta: string) => void;
  /** The signal is aborted when the turn is over: no one waits for the result any more. */
  readonly onTool: (call: HostToolCall, signal?: AbortSignal) => Promise<HostToolResult>;
  /** Asked before a guarded tool of the agent's own runs. An error refuses the call, as does its absence. */
  readonly onOwnTool?: ((call: HostToolCall) => Promise<OwnToolVerdict>) | undefined;
  readonly onOwnToolRun?: ((run: OwnToolRun) => void) | undefined;
  /** Asks the owner. What it throws counts as no answer, and so does every question without it. */
  readonly onAsk?: ((question: AgentQuestion) => Promise<AgentReply>) | undefined;
  /**
   * The agent has the turn and takes more, one at a time. `send` returns false for what cannot be
   * sent. What was sent counts as said once `onAccepted` names it, and may as well never be taken.
   */
  readonly onReady?: (send: (followUp: FollowUp) => boolean) => void;
  readonly onAccepted?: (id: string) => void;
  /**
   * Asked before each call of a model; may wait until calls under way are charged. The signal is
   * aborted when the agent stops waiting. Without it every call is let through and none is charged.
   */
  readonly onModelCall?: (call: PaidCall, signal: AbortSignal) => Promise<Admission>;
  /** A model began to answer. */
  readonly onModelAnswer?: ((model: Model) => void) | undefined;
  /** A model gave no answer, and the next one is asked. */
  readonly onModelPassedOver?: (model: Model, failure: ModelFailure) => void;
  /** A model's server answered a part of the prompt only, by its own count. */
  readonly onPromptCut?: ((model: Model, cut: CutPrompt) => void) | undefined;
};

/** Runs agents, one warm container per group. `runTurn` never rejects: every end is an outcome. */
export interface Sandbox {
  readonly engine: string;
  /** One line for the greeting and `/status`, such as "docker 28.2, image patchclaw-agent". */
  readonly description: string;
  runTurn(request: TurnRequest, events: TurnEvents): Promise<TurnOutcome>;
  /** Ends the group's containers, or the one in which a turn runs; the next turn starts a new one. */
  stop(folder: string, turn?: string): Promise<void>;
  /** Starts a program that is no agent, in a container of its own. Rejects with a sentence where that cannot be. */
  startProgram: StartProgram;
  /** Returns the number of containers. */
  warm(): number;
  /** The other machines that are known. */
  readonly machines?: KnownMachines;
  close(): Promise<void>;
}

/** A group's container runs, or is gone. */
export type ContainerEvent =
  | { readonly kind: 'started'; readonly id: string }
  | { readonly kind: 'ended'; readonly id: string; readonly reason: string };

/** `projectDir` holds groups/, container/ and src/; `settings.dataDir` holds sessions and sockets. */
export type SandboxOptions = {
  readonly projectDir: string;
  readonly settings: Settings;
  /** The owner's home folder: `~` in the list of shared folders, and where an engine may have its socket. */
  readonly homeDir: string;
  /** The owner's time zone, such as Europe/Berlin; that of this process by default. */
  readonly timeZone?: string;
  /** A clock in milliseconds that never goes back. */
  readonly elapsed: () => number;
  /** The clock by which files here are stamped, in milliseconds. */
  readonly now: () => number;
  readonly onProgress: (line: string) => void;
  /** Called with each event of the groups' containers, for the log. Must not throw. */
  readonly onContainer?: (folder: string, event: ContainerEvent) => void;
  /** The engines of this tree; found by themselves by default. */
  readonly engines?: readonly EngineContribution[];
  /** `.env` and the environment over it: an engine gets its own settings of it. */
  readonly environment?: Environment;
  /** The weakest engine that agents may get without the owner's word; null or left out for any. */
  readonly least?: string | null;
  /** Base of the agent's image; by default `patchclaw-base:bookworm` if it is there, else node:24-slim. */
  readonly baseImage?: string | null;
  /** Sources of other machines; none by default. */
  readonly machines?: readonly MachinesContribution[];
  /** The machines of chats; all at home by default. */
  readonly places?: Places;
  /** Both sides have changed a file of a chat in ways that do not go together. Must not throw. */
  readonly onFileConflict?: (folder: string, text: string) => void;
  /** Something is wrong with another machine, in sentences for the owner. Must not throw. */
  readonly onMachineTrouble?: (text: string) => void;
  /** Failed builds of that image, between starts; without it each start tries again. */
  readonly builds?: BuildMemory;
  /** The longest silence of the model's server. A minute by default. */
  readonly modelTimeoutMs?: number;
};

/** Why no agent can run here, and the one line that says what to install. */
export type SandboxUnavailable = {
  readonly kind: 'unavailable';
  readonly advice: string;
  /** An engine is there, and weaker than what ran agents before: the owner decides. */
  readonly needsWord?: boolean;
};
export type SandboxReady = { readonly kind: 'ready'; readonly sandbox: Sandbox };
