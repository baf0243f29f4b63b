import { z } from 'zod';
import type { Meta } from './meta.ts';

const LAST = 'sandbox.last';
const ACCEPTED = 'sandbox.accepted';
const STATE = 'sandbox.state';
const FAILED_BUILD = 'sandbox.failed-build';

/** The name of an engine; the store knows no list of them. */
const EngineName = z.string().min(1).max(64);
type EngineName = z.output<typeof EngineName>;

const State = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), engine: EngineName, description: z.string() }),
  z.object({ kind: z.literal('unavailable'), advice: z.string() }),
]);

/** The engine that runs the agents, or the reason that none does. */
export type EngineState = z.output<typeof State>;

const FailedBuild = z.object({ image: z.string(), problem: z.string(), at: z.number() });

/** The last failed build of the agents' image, and its time. The image's name says what it was to be made of. */
export type FailedBuild = z.output<typeof FailedBuild>;

/** The present engine of the agents, the last one, and the owner's consent. */
export interface Engines {
  /** Returns the weakest engine that agents may get without asking the owner; null where none ever ran them. */
  least(): EngineName | null;
  /** Notes that the owner lets agents run in this engine and in better ones. */
  accept(engine: EngineName): void;
  /** Notes how opening the sandbox ended. What runs agents now is what they may get next time. */
  note(state: EngineState): void;
  /** Forgets the state at the start of a process, which has not opened the sandbox yet. */
  forgetState(): void;
  /** Returns the result of opening the sandbox; null where the assistant has not tried yet. */
  state(): EngineState | null;
  /** Returns the last failed build of the agents' image; null where it went well since, or was forgotten. */
  failedBuild(): FailedBuild | null;
  noteFailedBuild(build: FailedBuild | null): void;
}

export function openEngines(meta: Meta): Engines {
  return {
    least: () => EngineName.safeParse(meta.get(ACCEPTED) ?? meta.get(LAST)).data ?? null,
    accept: (engine) => meta.set(ACCEPTED, engine),
    note(state) {
      if (state.kind === 'ready') meta.set(LAST, state.engine);
      meta.set(STATE, JSON.stringify(state));
    },
    forgetState: () => meta.remove(STATE),
    state() {
      const kept = meta.get(STATE);
      return kept === null ? null : (State.safeParse(JSON.parse(kept)).data ?? null);
    },
    failedBuild() {
      const kept = meta.get(FAILED_BUILD);
      return kept === null ? null : (FailedBuild.safeParse(JSON.parse(kept)).data ?? null);
    },
    noteFailedBuild(build) {
      if (build === null) meta.remove(FAILED_BUILD);
      else meta.set(FAILED_BUILD, JSON.stringify(build));
    },
  };
}
