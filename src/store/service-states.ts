import { z } from 'zod';
import type { Meta } from './meta.ts';

const STATES = 'services.states';

const Known = z.object({
  name: z.string(),
  state: z.enum(['starting', 'running', 'failed', 'stopped']),
  /** Why it failed; null in every other state. */
  reason: z.string().nullable(),
  since: z.number(),
});

/** The last known state of a service, for programs beside the assistant. */
export type KnownService = Readonly<z.output<typeof Known>>;

/** The states of the services, as the running assistant noted them. */
export interface ServiceStates {
  note(service: KnownService): void;
  /** Forgets all states at the start of a process, which has started no service yet. */
  forget(): void;
  all(): readonly KnownService[];
}

export function openServiceStates(meta: Meta): ServiceStates {
  function all(): readonly KnownService[] {
    const kept = meta.get(STATES);
    return kept === null ? [] : (z.array(Known).safeParse(JSON.parse(kept)).data ?? []);
  }
  return {
    note(service) {
      const others = all().filter(({ name }) => name !== service.name);
      meta.set(STATES, JSON.stringify([...others, service]));
    },
    forget: () => meta.remove(STATES),
    all,
  };
}
