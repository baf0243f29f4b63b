import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Operation } from './types.ts';

const Overrides = z
  .record(z.string(), z.object({ core: z.string(), range: z.string() }))
  .catch({})
  .default({});

/** A range of a skill that takes the place of the core's. */
export type Override = {
  readonly package: string;
  readonly core: string;
  readonly range: string;
  /** The name that the owner passes to `--allow`. */
  readonly consent: string;
};

/** Lists the overrides that a planned command adds: existing ones have been agreed to. */
export function newOverrides({ plan, installation }: Operation): readonly Override[] {
  const before = overridesIn(installation.state?.structured);
  return Object.entries(overridesIn(plan.target.structured))
    .filter(([name, override]) => !isDeepStrictEqual(before[name], override))
    .map(([name, override]) => ({
      package: name,
      ...override,
      consent: `package.json#${name}`,
    }));
}

/** Describes one override to the owner. */
export function overrideNote({ package: name, core, range }: Override): string {
  return `${name}: ${range} takes the place of the core's ${core}, with which it has no version in common.`;
}

function overridesIn(structured: Readonly<Record<string, unknown>> | undefined) {
  const file = structured?.['package.json'];
  const isObject = typeof file === 'object' && file !== null && 'npm_overrides' in file;
  return Overrides.parse(isObject ? file.npm_overrides : {});
}
