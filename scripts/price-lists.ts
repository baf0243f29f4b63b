import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

/** A release with an older list would count money wrongly for longer than its models are sold. */
const MAX_AGE_DAYS = 120;
const DAY_MS = 86_400_000;

const PriceList = z.looseObject({ as_of: z.iso.date(), models: z.looseObject({}) });

/** A list of prices: its path in the project, and its age. */
export type PriceListAge = {
  readonly path: string;
  readonly ageDays: number;
  readonly isOutdated: boolean;
};

/** Returns the lists of prices of the core and of the skills, with their age at that moment. */
export function priceListAges(root: string, nowMs: number): readonly PriceListAge[] {
  const folders = ['src/model/providers', 'skills/*/add/src/model/providers'];
  const paths = folders.flatMap((folder) => globSync(`${folder}/**/*.yaml`, { cwd: root }));
  return paths.toSorted().flatMap((path) => {
    const { success, data } = PriceList.safeParse(parse(readFileSync(join(root, path), 'utf8')));
    if (!success) return [];
    const ageDays = Math.floor((nowMs - Date.parse(data.as_of)) / DAY_MS);
    return [{ path, ageDays, isOutdated: ageDays > MAX_AGE_DAYS }];
  });
}

if (import.meta.main) {
  const outdated = priceListAges(join(import.meta.dirname, '..'), Date.now()).filter(
    ({ isOutdated }) => isOutdated,
  );
  for (const { path, ageDays } of outdated) {
    console.error(
      `${path} is ${ageDays} days old. Compare its prices with the provider's page, then set as_of to today.`,
    );
  }
  process.exitCode = outdated.length === 0 ? 0 : 1;
}
