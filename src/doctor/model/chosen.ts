import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalog } from '../../model/catalog/catalog.ts';
import type { Models } from '../../model/model.ts';
import { type KeptChoice, readModelChoices } from '../../store/chats/model-choices.ts';
import { openReadOnly } from '../../store/open-read-only.ts';
import { type Finding, ok, problem, type Subject } from '../examination.ts';

/** Looks at the models that the owner has chosen by `/model`: whether they can be asked, and are still there. */
export async function examineChosen(
  { dataDir, isOffline }: Subject,
  { models, catalog }: { readonly models: Models; readonly catalog: Catalog },
): Promise<readonly Finding[]> {
  const choices = choicesIn(dataDir);
  return await Promise.all(
    choices.map(async (choice) => {
      const { name, folder } = choice;
      const chats = folder === null ? 'all chats' : `the chat in groups/${folder}`;
      const back = `Say \`/model default${folder === null ? ' for all' : ` for ${folder}`}\`, or name another there.`;
      const found = models.find(name);
      const lacks = found === null ? 'No provider here has it.' : found.server.problem();
      if (lacks !== null) return problem('model', `${chats}: ${name}: ${lacks}`, back);
      if (isOffline) return ok('model', `${chats}: ${name}, not asked`);
      const listing = await catalog.look(name);
      if (listing.kind === 'listed') return ok('model', `${chats}: ${name}`);
      if (listing.kind === 'unknown') return ok('model', `${chats}: ${name} (${listing.problem})`);
      return problem(
        'model',
        `${chats}: ${name} is not in the list of its server`,
        adviceFor(listing.nearest, back),
      );
    }),
  );
}

/** Returns what to take in place of a model that is gone. */
export function adviceFor(nearest: string | null, otherwise: string): string {
  return nearest === null ? otherwise : `Its nearest successor there is ${nearest}. ${otherwise}`;
}

function choicesIn(dataDir: string): readonly KeptChoice[] {
  const path = join(dataDir, 'claw.db');
  if (!existsSync(path)) return [];
  try {
    const database = openReadOnly(path);
    try {
      return readModelChoices(database);
    } finally {
      database.close();
    }
  } catch {
    return []; // A database that cannot be read is told in its own area.
  }
}
