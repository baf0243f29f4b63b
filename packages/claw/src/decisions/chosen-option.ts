import type { Conflict } from '../conflict.ts';
import { ClawError } from '../errors.ts';
import type { PlainChoice } from './choice.ts';
import { optionsAtPlaces, optionsOf, type PlaceOption } from './resolution-options.ts';

/**
 * Returns the choice that numbers make, one for each place of a conflict, counted from 1.
 *
 * @throws ClawError USAGE for a number that no way has, and for more or fewer numbers than places
 */
export function numberedOption(conflict: Conflict, numbers: readonly number[]): PlainChoice {
  const { path, hunks } = conflict;
  const places = optionsAtPlaces(conflict);
  if (hunks.length === 0) {
    const way = numbers.length === 1 ? optionsOf(conflict)[(numbers[0] ?? 0) - 1] : undefined;
    if (way !== undefined) return way.choice;
    throw usage(path, `${path} takes one number from 1 to ${optionsOf(conflict).length}.`);
  }
  if (numbers.length !== places.length) {
    const each =
      places.length === 1
        ? 'one place, so it takes one number'
        : `${places.length} places, so it takes as many numbers, with commas between them`;
    throw usage(path, `${path} has ${each}.`);
  }
  const chosen = places.map((ways, at) => {
    const way = ways[(numbers[at] ?? 0) - 1];
    if (way !== undefined) return way;
    throw usage(
      path,
      `There is no choice ${numbers[at]} for ${path}: \`claw conflicts\` lists them.`,
    );
  });
  refuseHalfMoved(path, places, chosen);
  return { kind: 'picks', picks: chosen.map(({ pick }) => pick) };
}

/**
 * Returns the choice that resolves all of a conflict by one rule.
 *
 * @throws ClawError USAGE for a rule that does not resolve it
 */
export function optionByRule(conflict: Conflict, rule: string): PlainChoice {
  const ways = optionsOf(conflict);
  const way = ways.find((one) => one.rule === rule);
  if (way !== undefined) return way.choice;
  const rules = ways.map((one) => one.rule).join(', ');
  throw usage(
    conflict.path,
    `${rule} does not resolve ${conflict.path} as a whole. These do: ${rules === '' ? 'none' : rules}.`,
  );
}

/** Refuses an edit at the new place of a block without the other place: it would be lost, or be there twice. */
function refuseHalfMoved(
  path: string,
  places: readonly (readonly PlaceOption[])[],
  chosen: readonly PlaceOption[],
): void {
  for (const { rule, label } of chosen) {
    if (rule !== 'moved') continue;
    const isMoved = (way: PlaceOption | undefined) => way?.rule === rule && way.label === label;
    const isHalf = places.some((ways, at) => ways.some(isMoved) && !isMoved(chosen[at]));
    if (!isHalf) continue;
    throw usage(path, `Choose “${label}” at both places of ${path} that have it, or at none.`);
  }
}

function usage(path: string, message: string): ClawError {
  return new ClawError('USAGE', message, { path });
}
