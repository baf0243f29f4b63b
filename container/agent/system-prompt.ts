import type { TurnFrame } from '../../src/sandbox/protocol/frames.ts';
import { type AgentSection, PLACES, type SectionTurn } from './prompt-section.ts';

/** The parts of a turn that its prompt needs. */
export type PromptParts = {
  readonly frame: Pick<TurnFrame, 'system' | 'sections'>;
  /** Names of the tools that the model may call. */
  readonly tools: readonly string[];
};

/** Writes the prompts of an agent's turns. Neither function rejects. */
export type PromptWriter = {
  /** Returns what the host says, and the sections after it: where the agent works, what it remembers. */
  forTurn(parts: PromptParts): Promise<string>;
  /** Returns the sections for a loop of its own; often empty. */
  forLoop(parts: PromptParts): Promise<string>;
};

/** Makes what writes the prompts, with each section made once. @param sections those of `container/agent/prompt/` */
export function createPromptWriter(
  sections: readonly AgentSection[],
  places = PLACES,
): PromptWriter {
  const made = sections.map(({ name, order, create }) => ({ name, order, write: create() }));

  async function written(
    { name, order, write }: (typeof made)[number],
    turn: Omit<SectionTurn<unknown>, 'places'>,
  ) {
    try {
      return { order, name, text: (await write({ ...turn, places })) ?? '' };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const [line = ''] = reason.split('\n');
      return { order, name, text: `(The section ${name} cannot be shown: ${line.slice(0, 300)})` };
    }
  }

  async function all({ frame, tools }: PromptParts, isLoop: boolean) {
    return await Promise.all(
      made.map((one) => written(one, { facts: frame.sections?.[one.name], tools, isLoop })),
    );
  }

  return {
    async forTurn(parts) {
      const sections = joined(await all(parts, false));
      return sections === '' ? parts.frame.system : `${parts.frame.system}\n\n${sections}`;
    },
    forLoop: async (parts) => joined(await all(parts, true)),
  };
}

function joined(
  texts: readonly { readonly order: number; readonly name: string; readonly text: string }[],
): string {
  return texts
    .toSorted((one, other) => one.order - other.order || (one.name < other.name ? -1 : 1))
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n\n');
}
