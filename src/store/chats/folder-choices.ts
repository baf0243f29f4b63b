import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import type { Meta } from '../meta.ts';

const MODEL_PREFIX = 'model.of.';
const MODEL_OF_ALL = 'model.of-all';

const Tokens = z.int().nonnegative();
const StoredChoice = z.object({
  name: z.string().min(1),
  contextTokens: Tokens.nullable(),
  price: z
    .object({ input: Tokens, output: Tokens, cacheWrite: Tokens, cacheRead: Tokens })
    .nullable(),
});

/** A model that the owner has chosen, and the facts that its server reported then. */
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
  folder === null ? MODEL_OF_ALL : `${MODEL_PREFIX}${folder}`;

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
    .all({ all: MODEL_OF_ALL, each: MODEL_PREFIX });
  return rows.flatMap((row) => {
    const { key, value } = Row.parse(row);
    const kept = StoredChoice.safeParse(JSON.parse(value)).data;
    return kept === undefined
      ? []
      : [{ ...kept, folder: key === MODEL_OF_ALL ? null : key.slice(MODEL_PREFIX.length) }];
  });
}

const Row = z.object({ key: z.string(), value: z.string() });

const Switches = z.array(z.string().min(1));

/** The tools that the owner has switched off, for the chats of a folder: names, or the beginning of some and `*`. */
export interface ToolSwitches {
  offIn(folder: string): readonly string[];
  set(folder: string, off: readonly string[]): void;
}

/** The key of a folder's switches in the table of small facts. */
export const switchesKey = (folder: string): string => `tools.off.${folder}`;

export function openToolSwitches(meta: Pick<Meta, 'get' | 'set' | 'remove'>): ToolSwitches {
  return {
    offIn(folder) {
      const kept = meta.get(switchesKey(folder));
      return kept === null ? [] : Switches.parse(JSON.parse(kept));
    },
    set(folder, off) {
      if (off.length === 0) meta.remove(switchesKey(folder));
      else meta.set(switchesKey(folder), JSON.stringify([...new Set(off)].sort()));
    },
  };
}

/** Tells whether a tool is among those that are switched off; `web_*` are all whose names begin with `web_`. */
export function isSwitchedOff(off: readonly string[], tool: string): boolean {
  return off.some((one) => (one.endsWith('*') ? tool.startsWith(one.slice(0, -1)) : one === tool));
}
