import { enrol } from './enrol.ts';
import { FarRefused } from './far-state.ts';
import { joinCode } from './join-code.ts';
import { readWorkerConfig, writeWorkerConfig } from './worker-folder.ts';

/** What a machine says of itself when it joins. */
export type Joining = {
  readonly code: string;
  /** What it has, in the owner's words, between commas. */
  readonly has: string;
  /** Chats that it runs at once. */
  readonly slots: number;
};

/** A home may be away for so long before a worker ends what it runs. */
export const PATIENCE_MINUTES = 60;
const MAX_ABILITIES = 32;

/**
 * Makes this machine one of a home's.
 *
 * @returns its name there, and the home that it had before
 * @throws FarRefused where the code is none, or the home does not take it
 */
export async function joinHome(
  dataDir: string,
  { code: text, has, slots }: Joining,
): Promise<{ readonly name: string; readonly before: string | null }> {
  const code = joinCode.read(text);
  if (code === null) {
    throw new FarRefused('That is no code. `npx claw far add nas` at home prints one.');
  }
  const abilities = abilitiesOf(has);
  const known = readWorkerConfig(dataDir);
  const seed = await enrol(code);
  const { name, host, port, certificate } = code;
  writeWorkerConfig(dataDir, {
    ...{ name, host, port, certificate, seed, abilities, capacity: slots },
    patienceMinutes: PATIENCE_MINUTES,
  });
  return { name, before: known === null ? null : `${known.host}, where it was ${known.name}` };
}

/** Reads what a machine has, in the owner's words. @throws FarRefused where that is too much */
export function abilitiesOf(has: string): string[] {
  const abilities = has.split(/[\s,]+/).filter((one) => one !== '');
  if (abilities.length > MAX_ABILITIES || abilities.some(({ length }) => length > 64)) {
    throw new FarRefused('A machine has up to 32 things, each of up to 64 letters.');
  }
  return abilities;
}
