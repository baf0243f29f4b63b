import { resultOf, type VerbResult } from '../../contract/result.ts';
import { readConfig } from '../../installed/config.ts';
import { readState } from '../../installed/state-file.ts';
import type { EngineContext } from '../../operation/context.ts';
import { type Colour, painted, type Screen, wrapped } from '../../text/screen.ts';
import type { Check, Finding, Subject } from './check.ts';
import { kept, operations, stateFile } from './installation-checks.ts';
import { machine, project } from './machine-checks.ts';

const CHECKS: readonly Check[] = [...machine, stateFile, ...kept, ...operations, ...project];

/**
 * Checks everything that commands rely on, and says what to do. It changes nothing, and does not even recover. The
 * result is a failure if something is wrong; it never throws because of it.
 */
export async function doctor({
  root,
  environment,
  now,
}: EngineContext): Promise<VerbResult<'doctor'>> {
  const subject: Subject = {
    root,
    environment,
    now,
    state: orNull(() => readState(root)),
    config: orNull(() => readConfig(root)),
  };
  const findings: Finding[] = [];
  for (const check of CHECKS) {
    const finding = await runCheck(check, subject);
    if (finding !== null) findings.push(finding);
  }
  const isWell = findings.every(({ ok }) => ok);
  return resultOf('doctor', isWell ? 'done' : 'failed', { data: { findings } });
}

async function runCheck({ area, run }: Check, subject: Subject): Promise<Finding | null> {
  try {
    const look = await run(subject);
    return look && { area, ...look };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const advice = 'Fix that first: claw could not look any further.';
    return { area, ok: false, message, advice };
  }
}

/** Returns null for anything unreadable: its own check reports why. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** Data of the result of `claw doctor`. */
export type DoctorData = {
  readonly findings: readonly FoundByDoctor[];
};

type FoundByDoctor = {
  /** The code and what changes it, or the assistant that it is. */
  readonly part?: 'code' | 'assistant';
  readonly area: string;
  readonly ok: boolean;
  readonly message: string;
  readonly advice: string | null;
};

const HEADINGS = { code: 'The code', assistant: 'The assistant' } as const;

/** Returns one line for each finding, the advice below it, and the verdict. */
export function doctorLines({ findings }: DoctorData, screen: Screen): readonly string[] {
  const width = Math.max(...findings.map(({ area }) => area.length));
  const hasParts = findings.some(({ part }) => part === 'assistant');
  const lines = findings.flatMap((finding, n) => {
    const { part = 'code' } = finding;
    const isFirst = hasParts && (n === 0 || findings[n - 1]?.part !== part);
    const heading = isFirst ? [...(n === 0 ? [] : ['']), HEADINGS[part]] : [];
    return [...heading, ...findingLines(finding, width, screen)];
  });
  return [...lines, ...(hasParts ? [''] : []), verdict(findings)];
}

function findingLines(finding: FoundByDoctor, width: number, screen: Screen): readonly string[] {
  const { area, ok, message, advice } = finding;
  const [mark, colour] = markOf(ok, advice);
  const head = `${painted(mark, colour, screen)} ${area.padEnd(width)}  ${message}`;
  const hang = width + 4;
  const remedy = advice === null ? [] : [`${' '.repeat(hang)}${painted(advice, 'dim', screen)}`];
  return [head, ...remedy].flatMap((line) => wrapped(line, screen, hang));
}

function markOf(ok: boolean, advice: string | null): readonly [string, Colour] {
  if (!ok) return ['✗', 'red'];
  return advice === null ? ['✓', 'green'] : ['!', 'yellow'];
}

function verdict(findings: DoctorData['findings']): string {
  const { length } = findings.filter(({ ok }) => !ok);
  const suggestions = findings.filter(({ ok, advice }) => ok && advice !== null).length;
  if (length === 0 && suggestions > 0) {
    return `Everything works; ${suggestions} ${suggestions === 1 ? 'suggestion' : 'suggestions'} above.`;
  }
  return length === 0
    ? 'Everything works.'
    : `${length} of these ${length === 1 ? 'needs' : 'need'} you.`;
}
