import type { z } from 'zod';
import { readWhatFits } from './config.ts';
import { brokenEnvLines, cutEnvValues, lineInEnvFile, readEnvFile } from './env-file.ts';
import { type Environment, parseSettings, type WrongSetting, wrongText } from './lib/settings.ts';

/** Something that has settings of its own, such as a channel. */
export type WithSettings = { readonly name: string; readonly settings: z.ZodObject };

/**
 * Finds the core's settings that are wrong.
 *
 * @param environment `.env` and the environment over it
 * @returns a sentence for each, which names the line to fix
 */
export function findWrongSettings(environment: Environment, projectDir: string): readonly string[] {
  const unreadable = readingProblem(projectDir);
  if (unreadable !== null) return [unreadable];
  return inSentences(readWhatFits(environment, projectDir).wrong, environment, projectDir);
}

/** Finds settings that are wrong of what has its own. Returns a sentence for each, as above. */
export function findWrongOwnSettings(
  contributions: readonly WithSettings[],
  environment: Environment,
  projectDir: string,
): readonly string[] {
  if (readingProblem(projectDir) !== null) return [];
  return contributions.flatMap(({ settings }) => {
    const parsed = parseSettings(settings, environment);
    return parsed.ok ? [] : inSentences(parsed.wrong, environment, projectDir);
  });
}

function inSentences(
  wrong: readonly WrongSetting[],
  environment: Environment,
  projectDir: string,
): readonly string[] {
  return wrong.map(
    (setting) => `${wrongText(setting, placeOf(setting.name, environment, projectDir))}.`,
  );
}

function readingProblem(projectDir: string): string | null {
  try {
    readEnvFile(projectDir);
    return null;
  } catch (error) {
    return `.env cannot be read: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

function placeOf(name: string, environment: Environment, projectDir: string): string {
  if (readEnvFile(projectDir)[name] !== environment[name]) return 'the environment';
  const line = lineInEnvFile(projectDir, name);
  return line === null ? '.env' : `line ${line} of .env`;
}

/**
 * Makes the check that a restart asks first: what is wrong with the settings as the next process would
 * get them, in words for the owner; null when nothing is.
 *
 * @param environment this process's own, in which the supervisor has merged `.env` as it was
 */
export function settingsCheck(
  environment: Environment,
  projectDir: string,
  contributions: readonly WithSettings[],
): () => string | null {
  const outside = withoutEnvFile(environment, projectDir);
  return () => {
    const next = nextEnvironment(outside, projectDir);
    const problems = [
      ...brokenLines(projectDir),
      ...findWrongSettings(next, projectDir),
      ...findWrongOwnSettings(contributions, next, projectDir),
    ];
    const moved = problems.length > 0 ? null : movedData({ environment, next, projectDir });
    const all = moved === null ? problems : [moved];
    return all.length === 0 ? null : all.map((problem) => `- ${problem}`).join('\n');
  };
}

function brokenLines(projectDir: string): readonly string[] {
  try {
    return brokenEnvLines(projectDir);
  } catch {
    return []; // Said by the look at the settings.
  }
}

/** Returns a warning for the owner about values of `.env` that are cut at a "#"; null for none. */
export function cutValuesWarning(projectDir: string): string | null {
  try {
    const found = cutEnvValues(projectDir);
    return found.length === 0 ? null : found.join('\n');
  } catch {
    return null; // Said by the look at the settings.
  }
}

/** Returns a text for the owner about wrong settings of the core and of other parts, found at a start. */
export function troubleOf(core: readonly string[], own: readonly string[]): string {
  const lines = [...core, ...own].map((problem) => `- ${problem}`).join('\n');
  const effect =
    core.length > 0
      ? 'so no agent runs for now'
      : 'so the parts that they belong to are off for now';
  return `Some settings cannot be read, ${effect}:\n\n${lines}\n\nFix that and say \`/restart\`.`;
}

function nextEnvironment(outside: Environment, projectDir: string): Environment {
  try {
    return { ...readEnvFile(projectDir), ...outside };
  } catch {
    return outside; // The check itself says that .env cannot be read.
  }
}

/** Returns the environment without the values that `.env` has brought. */
export function withoutEnvFile(environment: Environment, projectDir: string): Environment {
  const file = envFileOrNone(projectDir);
  return Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => file[name] !== value),
  );
}

function envFileOrNone(projectDir: string): Environment {
  try {
    return readEnvFile(projectDir);
  } catch {
    return {}; // Then the supervisor has found nothing in it either.
  }
}

/** The supervisor holds the lock, the log and the socket in the data folder that it started on. */
function movedData(parts: {
  readonly environment: Environment;
  readonly next: Environment;
  readonly projectDir: string;
}): string | null {
  const [now, next] = [parts.environment, parts.next].map(
    (environment) => readWhatFits(environment, parts.projectDir).settings.dataDir,
  );
  return now === next
    ? null
    : `CLAW_DATA names another folder (${next}): end the assistant, move ${now} there, and start it again.`;
}
