import type { CliResult, DiscoveredResult, Failure, PrintedResult } from '../result.ts';
import { PIPE, type Screen } from '../screen.ts';
import { adoptLines } from './adopt.ts';
import { carriedLines, planLines, trialLines } from './carried.ts';
import { broughtBy, changeLines, headline } from './changes.ts';
import type { Detail } from './conflict.ts';
import { diffLines } from './diff.ts';
import { doctorLines } from './doctor.ts';
import { updateLines } from './layers.ts';
import { logLines, showLines } from './log.ts';
import { matrixLines } from './matrix.ts';
import { packLines, sessionLines } from './pack.ts';
import { proposalLines } from './proposals.ts';
import { listLines, statusLines } from './status.ts';
import { verifyLines } from './verify.ts';
import { blockingLines, recordingLines, resolvedLines, waitingLines } from './waiting.ts';
import { whyLines } from './why.ts';
import { wrapped } from './wrapped.ts';

/** A result for people: the result itself for stdout, troubles for stderr. */
export type Rendered = { readonly out: string; readonly err: string };

/**
 * Turns a verb's result into text for a screen, or for a pipe.
 *
 * @param details of the conflicts that a blocked verb leaves to be decided
 */
export function renderText(
  result: PrintedResult,
  screen: Screen = PIPE,
  details: readonly Detail[] = [],
): Rendered {
  // The output may be piped to `git apply`, so only the patch goes there.
  const isSame = result.verb === 'diff' && result.outcome === 'nothing';
  const err = [
    ...(isSame ? ['No differences.'] : []),
    ...result.warnings.map((warning) => `warning: ${warning}`),
    ...(result.error ? [`${result.error.code}: ${result.error.message}`] : []),
  ];
  const body = isFailure(result) ? [] : linesOf(result, screen, details);
  return { out: joined(body), err: joined(err.flatMap((line) => wrapped(line, screen))) };
}

function linesOf(
  result: CliResult | DiscoveredResult,
  screen: Screen,
  details: readonly Detail[],
): readonly string[] {
  if ('lines' in result) return result.lines;
  if (details.length === 0) return bodyOf(result, screen);
  return [
    ...headLines(result),
    headline(result),
    ...blockingLines(result.conflicts, details, screen),
  ];
}

function joined(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function isFailure(result: PrintedResult): result is Failure {
  return result.error !== null && result.data === null;
}

function bodyOf(result: CliResult, screen: Screen): readonly string[] {
  const { verb, data, outcome } = result;
  if (data === null) return withoutData(result);
  switch (verb) {
    case 'status':
      // Lines with an indent are paths, which stay whole to be copied.
      return statusLines(data).flatMap((line) =>
        line.startsWith('  ') ? [line] : wrapped(line, screen, 8),
      );
    case 'list':
      return listLines(data).flatMap((line) => wrapped(line, screen, 4));
    case 'show':
      return showLines(data).flatMap((line) => wrapped(line, screen, 4));
    case 'log':
      return logLines(data);
    case 'verify':
      return verifyLines(data);
    case 'matrix':
      return matrixLines(data);
    case 'why':
      return whyLines(data, screen);
    case 'diff':
      return diffLines(data, screen);
    case 'doctor':
      return doctorLines(data, screen);
    case 'plan':
      return [
        ...planLines(result, data),
        ...diffLines({ files: ('patches' in data ? data.patches : null) ?? [] }, screen),
      ];
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
    case 'resolve':
      return [...proposalLines(data.proposals ?? [], screen), ...resolvedLines(data)];
    case 'resolutions':
      return recordingLines(data);
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
