import { harmless, harmlessLines, PIPE, type Screen, wrapped } from '../text/screen.ts';
import { adoptLines } from '../verbs/adopt/print.ts';
import {
  blockingLines,
  type Detail,
  resolvedLines,
  waitingLines,
} from '../verbs/conflicts/print.ts';
import { matrixLines } from '../verbs/matrix/print.ts';
import { packLines, sessionLines } from '../verbs/pack/print.ts';
import {
  broughtBy,
  changeLines,
  fileLine,
  headline,
  NO_FILE,
  type ShownResult,
} from '../verbs/print-changes.ts';
import { plannedRecordLines, recordedLines, updateLines } from '../verbs/update/print.ts';
import type { DataOf } from '../verbs.ts';
import type { CliResult, DiscoveredResult, Failure, PrintedResult } from './result.ts';

/** A result for people: the result itself for stdout, errors and warnings for stderr. */
export type RenderedResult = { readonly out: string; readonly err: string };

/**
 * Turns a verb's result into text for a screen, or for a pipe.
 *
 * @param details of the conflicts that a blocked verb leaves to be decided
 * @param asTyped writes the commands in a text as they have to be typed here
 */
export async function renderText(
  result: PrintedResult,
  screen: Screen = PIPE,
  details: readonly Detail[] = [],
  asTyped: (text: string) => string = (text) => text,
): Promise<RenderedResult> {
  // The output may be piped to `git apply`, so only the patch goes there.
  const isSame = result.verb === 'diff' && result.outcome === 'nothing';
  const err = [
    ...(isSame ? ['No differences.'] : []),
    ...result.warnings.map((warning) => `warning: ${warning}`),
    ...(result.error ? [`${result.error.code}: ${result.error.message}`] : []),
  ];
  // A program gets names and code as they are.
  const [told, detailed] =
    screen.columns === null ? [result, details] : [harmlessIn(result), harmlessIn(details)];
  const body = joined(isFailure(told) ? [] : await linesOf(told, screen, detailed));
  return {
    out: isCode(result) ? body : asTyped(body),
    err: joined(err.flatMap((line) => wrapped(asTyped(harmless(line)), screen))),
  };
}

/** Returns the same with each text in it as a terminal may have it. Lines that are written already may be painted. */
function harmlessIn<T>(value: T): T {
  if (typeof value === 'string') return harmless(value) as T;
  if (Array.isArray(value)) return value.map(harmlessIn) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([name, part]) => [name, name === 'lines' ? part : harmlessIn(part)]),
  ) as T;
}

async function linesOf(
  result: CliResult | DiscoveredResult,
  screen: Screen,
  details: readonly Detail[],
): Promise<readonly string[]> {
  if ('lines' in result) {
    return screen.columns === null ? result.lines : result.lines.map(harmlessLines);
  }
  if (details.length === 0) return await bodyOf(result, screen);
  return [
    ...headLines(result),
    headline(result),
    ...blockingLines(result.conflicts, details, screen),
  ];
}

/** Code is printed as it is. */
function isCode({ verb, data }: PrintedResult): boolean {
  const hasPatches = typeof data === 'object' && data !== null && 'patches' in data;
  return verb === 'diff' || verb === 'why' || hasPatches;
}

function joined(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function isFailure(result: PrintedResult): result is Failure {
  return result.error !== null && result.data === null;
}

/** The file of a verb that looks also prints its result, and is loaded already. */
async function bodyOf(result: CliResult, screen: Screen): Promise<readonly string[]> {
  const { verb, data, outcome } = result;
  if (data === null) return withoutData(result);
  switch (verb) {
    case 'status': {
      const { statusLines } = await import('../verbs/status.ts');
      // Lines with an indent are paths, which stay whole to be copied.
      return statusLines(data).flatMap((line) =>
        line.startsWith('  ') ? [line] : wrapped(line, screen, 8),
      );
    }
    case 'list': {
      const { listLines } = await import('../verbs/list.ts');
      return listLines(data).flatMap((line) => wrapped(line, screen, 4));
    }
    case 'show': {
      const { showLines } = await import('../verbs/show.ts');
      return showLines(data).flatMap((line) => wrapped(line, screen, 4));
    }
    case 'log': {
      const { logLines } = await import('../verbs/log.ts');
      return logLines(data);
    }
    case 'verify': {
      const { verifyLines } = await import('../verbs/verify.ts');
      return verifyLines(data);
    }
    case 'matrix':
      return matrixLines(data);
    case 'why': {
      const { whyLines } = await import('../verbs/why/why.ts');
      return whyLines(data, screen);
    }
    case 'diff': {
      const { diffLines } = await import('../verbs/diff.ts');
      return diffLines(data, screen);
    }
    case 'doctor': {
      const { doctorLines } = await import('../verbs/doctor/doctor.ts');
      return doctorLines(data, screen);
    }
    case 'plan': {
      const patches = 'patches' in data ? data.patches : undefined;
      if (patches === undefined) return planLines(result, data);
      const { diffLines } = await import('../verbs/diff.ts');
      return [...planLines(result, data), ...diffLines({ files: patches }, screen)];
    }
    case 'continue':
      if ('isTrial' in data) return trialLines(result, data);
      return carriedLines({ ...result, verb: data.verb }, data);
    case 'pack':
      return [...changeLines(result, broughtBy(data)), ...packLines(data)];
    case 'dev':
      if ('rounds' in data) return sessionLines(data);
      // Said by `pack`; at each save it would be in the way.
      return [...changeLines(result, broughtBy(data)), ...packLines({ ...data, toWrite: [] })];
    case 'undo':
      return carriedLines(result, { verb, ...data });
    case 'conflicts':
      return waitingLines(data, result.conflicts, screen);
    case 'resolve': {
      const { proposalLines } = await import('../verbs/resolve/propose.ts');
      return [...proposalLines(data.proposals ?? [], screen), ...resolvedLines(data)];
    }
    case 'resolutions': {
      const { recordingLines } = await import('../verbs/resolutions.ts');
      return recordingLines(data);
    }
    case 'recover':
      return [outcome === 'nothing' ? 'Nothing to recover.' : 'Recovered.'];
    case 'adopt':
      return adoptLines(result, data);
    case 'update':
      return carriedLines(result, { verb, ...data });
    case 'customize':
      return carriedLines(result, { verb, ...data });
    case 'rebase':
      return carriedLines(result, { verb, ...data });
    default:
      return changeLines(result, data).flatMap((line) => wrapped(line, screen, 4));
  }
}

/** Data of a verb that changes the tree, with the verb's name. */
type TreeChangeResult = DataOf<'continue'>;

/** Returns lines about a verb that changed the tree, or about the reason why it is blocked. */
function carriedLines(result: ShownResult, data: TreeChangeResult): readonly string[] {
  const isBlocked = result.outcome === 'blocked';
  switch (data.verb) {
    case 'customize':
    case 'rebase':
      return isBlocked ? changeLines(result, data) : recordedLines(data.customisation);
    case 'pack':
      return [...changeLines(result, data), ...packLines(data)];
    case 'update':
      return [
        ...updateLines(data),
        ...changeLines(result, data),
        ...(isBlocked ? [] : gitLines(data.gitMerge)),
      ];
    case 'undo': {
      if (isBlocked) return changeLines(result);
      // The first line says the cause, which is the same for all files.
      const files = result.changes.map(fileLine);
      return [`Taken back: ${data.undone}.${files.length === 0 ? ` ${NO_FILE}` : ''}`, ...files];
    }
    default:
      return changeLines(result, data);
  }
}

/** Returns what to do so that git, and a page such as GitHub's, count from the release as well. */
function gitLines(commit: string | null): readonly string[] {
  if (commit === null) return [];
  const name = commit.slice(0, 12);
  return [
    'git does not know of this merge. Once you have committed it, this makes it known:',
    `  git merge --strategy ours ${name}`,
  ];
}

/** Returns lines about the changes that such a verb would make. */
function planLines(result: ShownResult, data: DataOf<'plan'>): readonly string[] {
  if (data.verb === 'adopt') return adoptLines(result, data);
  const isRecorded = data.verb === 'customize' || data.verb === 'rebase';
  return [
    ...(data.verb === 'update' ? updateLines(data) : []),
    ...changeLines(result, broughtBy(data)),
    ...(isRecorded && result.outcome !== 'blocked' ? plannedRecordLines(data.customisation) : []),
    ...(data.verb === 'pack' ? packLines(data) : []),
  ];
}

/** Returns lines about a trial by `claw continue --prove`. */
function trialLines(result: ShownResult, data: TreeChangeResult): readonly string[] {
  const proof = 'proof' in data ? data.proof : undefined;
  const { checks = 0, tests = 0 } = proof ?? {};
  const ran = checks + tests === 0 ? 'There was nothing to run' : 'Checks and tests pass';
  const files = changeLines({ ...result, verb: 'plan' }, broughtBy(data));
  return [`${ran}; \`claw continue\` carries it out.`, ...files];
}

/** Returns what a blocked verb says before its conflicts. */
function headLines(result: CliResult): readonly string[] {
  if (result.verb === 'update') return result.data === null ? [] : updateLines(result.data);
  const isUpdate =
    result.verb === 'continue' &&
    result.data !== null &&
    'verb' in result.data &&
    result.data.verb === 'update';
  return isUpdate ? updateLines(result.data) : [];
}

function withoutData(result: CliResult): readonly string[] {
  switch (result.verb) {
    case 'continue':
    case 'resolve':
      return [NOTHING_WAITS];
    case 'abort':
      return [result.outcome === 'nothing' ? NOTHING_WAITS : 'Forgotten; the tree is as it was.'];
    default:
      return changeLines(result);
  }
}

const NOTHING_WAITS = 'Nothing waits for a decision.';
