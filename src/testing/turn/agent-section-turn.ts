import type { Places, SectionTurn } from '../../../container/agent/prompt-section.ts';

/** Makes the turn of a section that the agent's side writes, with folders of the test in place of a container's. */
export function sectionTurn(
  places: Partial<Places>,
  over: Partial<Omit<SectionTurn<unknown>, 'places'>> = {},
): SectionTurn<unknown> {
  const nowhere = '/nowhere';
  return {
    facts: undefined,
    tools: [],
    isLoop: false,
    ...over,
    places: {
      group: nowhere,
      global: nowhere,
      notes: nowhere,
      shared: nowhere,
      extra: nowhere,
      ...places,
    },
  };
}
