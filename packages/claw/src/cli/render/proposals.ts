import type { DataOf } from '../../commands.ts';
import { painted, type Screen, shown } from '../screen.ts';
import { diffLines } from './diff.ts';

/** Returns lines that show a model's proposals, for the owner to read before they go on. */
export function proposalLines(
  proposals: NonNullable<DataOf<'resolve'>['proposals']>,
  screen: Screen,
): readonly string[] {
  return proposals.flatMap(({ path, origin, value, patch }) => [
    painted(`${origin} proposes for ${path}:`, 'cyan', screen),
    ...(patch === null
      ? [`  ${shown(JSON.stringify(value), screen)}`]
      : diffLines({ files: [{ patch }] }, screen)),
  ]);
}
