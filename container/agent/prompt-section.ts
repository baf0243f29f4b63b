import { z } from 'zod';

/** Folders that the agent sees, as absolute paths. */
export type Places = {
  readonly group: string;
  readonly global: string;
  /** The agent's own notes. */
  readonly notes: string;
  /** `container/shared/` of the code, which every group may read. */
  readonly shared: string;
  /** Folders that the owner shares with this group, a name each. */
  readonly extra: string;
};

/** The agent's folders in its container. */
export const PLACES: Places = {
  group: '/workspace/group',
  global: '/workspace/global',
  notes: '/home/node/.claude/memory',
  shared: '/workspace/shared',
  extra: '/workspace/extra',
};

/** The turn that a section is for. */
export type SectionTurn<Facts> = {
  /** Facts from the host's section of the same name. */
  readonly facts: Facts;
  readonly places: Places;
  /** Names of the tools that the model may call in this turn. */
  readonly tools: readonly string[];
  /** True for the prompt of a loop of its own, which works on one part of the task and sees no memory. */
  readonly isLoop: boolean;
};

/** Writes a section for a turn; null leaves it out. If it throws, the prompt gets a line about the error. */
export type WriteSection<Facts> = (turn: SectionTurn<Facts>) => Promise<string | null>;

/** A section of the system prompt made of what is in the container. */
export type AgentSection = {
  readonly name: string;
  readonly order: number;
  /** Makes the section for the life of an agent, so that it may keep what it has read. */
  create(): WriteSection<unknown>;
};

/**
 * Defines a section that the agent's side writes, as a file in `prompt/` exports it under the name `section`.
 *
 * Sections follow those of the host by their order: 700 is the place of work, 800 what is remembered.
 */
export function defineSection<Shape extends z.ZodRawShape>(definition: {
  readonly name: string;
  readonly order: number;
  /** The schema of the facts; they are empty where the host has no section of that name. */
  readonly facts?: z.ZodObject<Shape>;
  create(): WriteSection<z.output<z.ZodObject<Shape>>>;
}): AgentSection {
  const { name, order, create } = definition;
  const schema = definition.facts ?? (z.object({}) as unknown as z.ZodObject<Shape>);
  return {
    name,
    order,
    create() {
      const write = create();
      return (turn) => write({ ...turn, facts: schema.parse(turn.facts ?? {}) });
    },
  };
}
