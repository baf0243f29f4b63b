import { painted, type Screen, shown } from '../screen.ts';
import { diffLines } from './diff.ts';

/** What a model proposed for a conflict: a change of ours, or a value. */
export type ShownProposal = {
  readonly path: string;
  readonly origin: string;
  readonly value: unknown;
  readonly patch: string | null;
};

/** What `claw resolve --agent` tells. */
export type ProposedData = { readonly proposals?: readonly ShownProposal[] };

/** What a model proposed, as the owner has to see it before they go on. */
export function proposalLines(
  proposals: readonly ShownProposal[],
  screen: Screen,
): readonly string[] {
  return proposals.flatMap(({ path, origin, value, patch }) => [
    painted(`${origin} proposes for ${path}:`, 'cyan', screen),
    ...(patch === null
      ? [`  ${shown(JSON.stringify(value), screen)}`]
      : diffLines({ files: [{ patch }] }, screen)),
  ]);
}
