import { z } from 'zod';
import type { Meta } from './meta.ts';

const LAST = 'sandbox.last';
const ACCEPTED = 'sandbox.accepted';
const STATE = 'sandbox.state';

const EngineName = z.enum(['docker', 'podman', 'bubblewrap']);
type EngineName = z.output<typeof EngineName>;

const State = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), engine: EngineName, description: z.string() }),
  z.object({ kind: z.literal('unavailable'), advice: z.string() }),
]);

/** What runs the agents, or why nothing does. */
export type EngineState = z.output<typeof State>;

/** What runs the agents, what ran them last, and what the owner has said about it. */
export interface Engines {
  /** Returns the weakest engine that agents may get without asking the owner; null where none ever ran them. */
  least(): EngineName | null;
  /** The owner lets agents run in this engine and in better ones. */
  accept(engine: EngineName): void;
  /** Notes how opening the sandbox ended. What runs agents now is what they may get next time. */
  note(state: EngineState): void;
  /** A process begins, and has not looked for an engine yet. */
  forgetState(): void;
  /** How opening the sandbox ended last; null where the assistant has not looked yet. */
  state(): EngineState | null;
}

export function enginesOf(meta: Meta): Engines {
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
  };
}
