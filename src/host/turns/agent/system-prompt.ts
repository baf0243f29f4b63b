import { openContributions, type SilentContribution } from '../../../lib/contribution.ts';
import type { Environment } from '../../../lib/settings.ts';
import type {
  ForAgent,
  PromptCall,
  PromptContext,
  PromptContribution,
  PromptTurn,
} from '../../contracts/prompt-section.ts';

/** Ways of the sections out of a turn: to services, and to the container. */
export type PromptWays = PromptCall & {
  /** Takes what a section gives for the one of its name that the container writes. */
  readonly onFacts: (section: string, facts: ForAgent['forAgent']) => void;
  /** Takes the text of a section that changes with each turn; without it, that is part of the system prompt. */
  readonly onNote?: (text: string) => void;
};

/** Writes the system prompt of a turn. Never rejects. */
export type SystemPrompt = (turn: PromptTurn, ways: PromptWays) => Promise<string>;

/** Opens the sections of this tree, in their order. One that cannot be written is left out and logged. */
export function openSystemPrompt(
  definitions: readonly PromptContribution[],
  environment: Environment,
  { assistantName, dataDir, timeZone, log }: PromptContext,
): { readonly systemPrompt: SystemPrompt; readonly silent: readonly SilentContribution[] } {
  const inOrder = definitions.toSorted(
    (one, other) => one.order - other.order || (one.name < other.name ? -1 : 1),
  );
  const contextOf = () => ({ assistantName, dataDir, timeZone, log });
  const changing = new Set(
    inOrder.flatMap(({ name, changes }) => (changes === 'each-turn' ? [name] : [])),
  );
  const { made, silent } = openContributions(inOrder, environment, contextOf);

  async function written(
    { name, value: write }: (typeof made)[number],
    turn: PromptTurn,
    callService: PromptCall['callService'],
  ): Promise<string | ForAgent | null> {
    try {
      return await write(turn, { callService });
    } catch (error) {
      log.error('a section of the prompt is left out', { section: name, error: String(error) });
      return null;
    }
  }

  return {
    silent,
    async systemPrompt(given, { callService, onFacts, onNote }) {
      const turn = { ...plain(given), group: plainGroup(given) };
      const texts = await Promise.all(
        made.map(async (section) => {
          const result = await written(section, turn, callService);
          if (result === null || typeof result === 'string') {
            return { text: result ?? '', isNote: changing.has(section.name) };
          }
          onFacts(section.name, result.forAgent);
          return { text: '', isNote: false };
        }),
      );
      const said = texts.filter(({ text }) => text !== '');
      if (onNote === undefined) return said.map(({ text }) => text).join('\n\n');
      for (const { text, isNote } of said) if (isNote) onNote(text);
      return said.flatMap(({ text, isNote }) => (isNote ? [] : [text])).join('\n\n');
    },
  };
}

/** Copies what the type names and nothing more: the turn comes from parts of the host that know more. */
function plain(turn: PromptTurn): Omit<PromptTurn, 'group'> {
  const { isTask, taskType, now, prompt, beginsAnew, channel, models, senders, othersAtWork } =
    turn;
  return { isTask, taskType, now, prompt, beginsAnew, channel, models, senders, othersAtWork };
}

function plainGroup({ group: { name, folder, isMain } }: PromptTurn): PromptTurn['group'] {
  return { name, folder, isMain };
}
