import { openContributions, type Silent } from '../../../lib/contribution.ts';
import type { Environment } from '../../../lib/settings.ts';
import type {
  PromptContext,
  PromptContribution,
  PromptTurn,
} from '../../contracts/prompt-section.ts';

/** Writes the system prompt of a turn. Never rejects. */
export type SystemPrompt = (turn: PromptTurn) => Promise<string>;

/** Opens the sections of this tree, in their order. One that cannot be written is left out and logged. */
export function openSystemPrompt(
  definitions: readonly PromptContribution[],
  environment: Environment,
  { assistantName, dataDir, timeZone, log }: PromptContext,
): { readonly systemPrompt: SystemPrompt; readonly silent: readonly Silent[] } {
  const inOrder = definitions.toSorted(
    (one, other) => one.order - other.order || (one.name < other.name ? -1 : 1),
  );
  const contextOf = () => ({ assistantName, dataDir, timeZone, log });
  const { made, silent } = openContributions(inOrder, environment, contextOf);

  async function written(
    { name, value: write }: (typeof made)[number],
    turn: PromptTurn,
  ): Promise<string | null> {
    try {
      return await write(turn);
    } catch (error) {
      log.error('a section of the prompt is left out', { section: name, error: String(error) });
      return null;
    }
  }

  return {
    silent,
    async systemPrompt({ group: { name, folder, isMain }, isTask, now, prompt, beginsAnew }) {
      const turn = { group: { name, folder, isMain }, isTask, now, prompt, beginsAnew };
      const sections = await Promise.all(made.map((section) => written(section, turn)));
      return sections.filter((text) => text !== null && text !== '').join('\n\n');
    },
  };
}
