import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import type { Meta } from '../meta.ts';

const PREFIX = 'model.of.';
const ALL = 'model.of-all';

const Tokens = z.int().nonnegative();
const StoredChoice = z.object({
  name: z.string().min(1),
  contextTokens: Tokens.nullable(),
  price: z
    .object({ input: Tokens, output: Tokens, cacheWrite: Tokens, cacheRead: Tokens })
    .nullable(),
});

/** A model that the owner has chosen, and what its server told of it then. */
export type ModelChoice = z.output<typeof StoredChoice>;

/** The owner's choice of models: for the chats of a folder, or with null for all that have none of their own. */
export interface ModelChoices {
  of(folder: string | null): ModelChoice | null;
  /** Sets the model; null takes the choice back. */
  set(folder: string | null, choice: ModelChoice | null): void;
}

/** Returns the name of a folder's model: its own choice, else the one for all; null for none. */
export function chosenModel(choices: ModelChoices, folder: string): string | null {
  return (choices.of(folder) ?? choices.of(null))?.name ?? null;
}

/** The key of a folder's choice in the table of small facts. */
export const choiceKey = (folder: string | null): string =>
  folder === null ? ALL : `${PREFIX}${folder}`;

export function openModelChoices(meta: Pick<Meta, 'get' | 'set' | 'remove'>): ModelChoices {
  return {
    of(folder) {
      const kept = meta.get(choiceKey(folder));
      return kept === null ? null : StoredChoice.parse(JSON.parse(kept));
    },
    set(folder, choice) {
      if (choice === null) meta.remove(choiceKey(folder));
      else meta.set(choiceKey(folder), JSON.stringify(choice));
    },
  };
}

/** A choice as one who only looks sees it; the folder is null for all chats. */
export type KeptChoice = ModelChoice & { readonly folder: string | null };

/** Returns all choices in a database that is opened to look at it. */
export function readModelChoices(database: Database): readonly KeptChoice[] {
  const rows = database
    .prepare("SELECT key, value FROM meta WHERE key = :all OR key GLOB :each || '*'")
    .all({ all: ALL, each: PREFIX });
  return rows.flatMap((row) => {
    const { key, value } = Row.parse(row);
    const kept = StoredChoice.safeParse(JSON.parse(value)).data;
    return kept === undefined
      ? []
      : [{ ...kept, folder: key === ALL ? null : key.slice(PREFIX.length) }];
  });
}

const Row = z.object({ key: z.string(), value: z.string() });
