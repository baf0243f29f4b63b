import { z } from 'zod';
import type { Settings } from '../config.ts';
import { discoverExports } from '../lib/discover.ts';
import { parseWhatFits } from '../lib/settings.ts';
import { secretValues } from '../supervisor/environment.ts';
import { scrubber } from '../supervisor/log/scrub.ts';

/** One thing that was checked: its state in a sentence, and the next step. */
export type Finding = {
  readonly area: string;
  readonly ok: boolean;
  readonly message: string;
  /** The next step for the owner; also for a thing that works and could be better. */
  readonly advice: string | null;
};

/** The installation under examination. */
export type Subject = {
  readonly projectDir: string;
  readonly dataDir: string;
  /** The owner's home folder. */
  readonly homeDir: string;
  /** `.env` and the environment over it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Null where they do not parse, which is a finding of its own. */
  readonly settings: Settings | null;
  /** True forbids requests to other machines. */
  readonly isOffline: boolean;
  readonly now: () => number;
};

/**
 * Looks at one part of the assistant without changing it. A file in `src/doctor/` that exports one as
 * `examination` is discovered. An error that it throws becomes a finding.
 */
export type Examination = {
  readonly area: string;
  /** Findings are shown in this order, then by area. */
  readonly order: number;
  examine(subject: Subject): Promise<readonly Finding[]>;
};

/** Defines an examination that reads settings of its own; a value that cannot be used counts as not set. */
export function defineExamination<S extends z.ZodRawShape>(definition: {
  readonly area: string;
  readonly order: number;
  /** Names of the environment, each with a default or optional. */
  readonly settings: z.ZodObject<S>;
  examine(subject: Subject, own: z.output<z.ZodObject<S>>): Promise<readonly Finding[]>;
}): Examination {
  const { area, order, settings } = definition;
  return {
    area,
    order,
    examine: (subject) =>
      definition.examine(subject, parseWhatFits(settings, subject.environment).values),
  };
}

/** Makes the finding of a thing that works, and perhaps could be better. */
export function ok(area: string, message: string, advice: string | null = null): Finding {
  return { area, ok: true, message, advice };
}

/** Makes the finding of a thing that does not work. */
export function problem(area: string, message: string, advice: string): Finding {
  return { area, ok: false, message, advice };
}

const Schema = z.custom<Examination>(
  (value) =>
    z.looseObject({ area: z.string(), order: z.number(), examine: z.function() }).safeParse(value)
      .success,
  'must be an Examination: { area, order, examine }',
);

/** Finds the examinations of this tree. Rejects if a file cannot be loaded. */
export function discoverExaminations(
  folder: string = import.meta.dirname,
): Promise<readonly Examination[]> {
  return discoverExports(folder, 'examination', Schema);
}

/** Returns all that the examinations find, at once. Never rejects. */
export async function examineAssistant(
  subject: Subject,
  examinations: Promise<readonly Examination[]> = discoverExaminations(),
): Promise<readonly Finding[]> {
  const found = await examinations.catch((error: unknown) =>
    String(error instanceof Error ? error.message : error),
  );
  if (typeof found === 'string') {
    return [problem('doctor', `The assistant cannot be examined: ${found}`, 'Fix that file.')];
  }
  const inOrder = found.toSorted(
    (one, other) => one.order - other.order || (one.area < other.area ? -1 : 1),
  );
  const findings = await Promise.all(inOrder.map((one) => carryOut(one, subject)));
  // Whatever a server or a library said of a key.
  const scrub = scrubber(new Set(secretValues(subject.environment)));
  return findings.flat().map((finding) => ({
    ...finding,
    message: scrub(finding.message),
    advice: finding.advice === null ? null : scrub(finding.advice),
  }));
}

async function carryOut(
  { area, examine }: Examination,
  subject: Subject,
): Promise<readonly Finding[]> {
  try {
    return await examine(subject);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [problem(area, message, 'Fix that first: claw could not look any further.')];
  }
}
