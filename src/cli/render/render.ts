import type { MatrixData, VerbResult } from '../../engine/commands.ts';
import { PIPE, type Screen } from '../screen.ts';
import { groupLines, taskLines } from './assistant.ts';
import { type DiffData, diffLines } from './diff.ts';
import { type DoctorData, doctorLines } from './doctor.ts';
import { plannedRecordLines, recordedLines, updateLines } from './layers.ts';
import { matrixLines } from './matrix.ts';
import { developedLines, type PackData, packLines } from './pack.ts';
import { type ProposedData, proposalLines } from './proposals.ts';
import { type ServiceData, serviceLines } from './service.ts';
import { type ListEntry, listLines, MARKS, type StatusData, statusLines } from './status.ts';
import { movedLines, recordingLines, resolvedLines, WAYS_ON, waitingLines } from './waiting.ts';
import { type WhyData, whyLines } from './why.ts';

/** A result for people: the result itself for stdout, troubles for stderr. */
export type Rendered = { readonly out: string; readonly err: string };

/** Turns a verb's result into text for a screen, or for a pipe. */
export function renderText(result: VerbResult, screen: Screen = PIPE): Rendered {
  // A patch is piped on: what is no patch stays out of it.
  const isSame = result.verb === 'diff' && result.outcome === 'nothing';
  const err = [
    ...(isSame ? ['No differences.'] : []),
    ...result.warnings.map((warning) => `warning: ${warning}`),
    ...(result.error ? [`${result.error.code}: ${result.error.message}`] : []),
  ];
  return { out: joined(bodyOf(result, screen)), err: joined(err) };
}

function joined(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function bodyOf(result: VerbResult, screen: Screen): readonly string[] {
  if (result.verb === 'matrix') return result.data ? matrixLines(result.data as MatrixData) : [];
  if (result.error && result.verb !== 'verify') return [];
  switch (result.verb) {
    case 'status':
      return statusLines(result.data as StatusData);
    case 'list':
      return listLines(result.data as readonly ListEntry[]);
    case 'verify':
      return verifyLines(result.data as VerifyData | null);
    case 'why':
      return whyLines(result.data as WhyData, screen);
    case 'diff':
      return diffLines(result.data as DiffData, screen);
    case 'doctor':
      return doctorLines(result.data as DoctorData, screen);
    case 'recover':
      return [result.outcome === 'nothing' ? 'Nothing to recover.' : 'Recovered.'];
    case 'service':
      return serviceLines(result.data as ServiceData);
    case 'chat':
      return []; // Printed as it came.
    case 'groups':
      return groupLines(result.data);
    case 'tasks':
      return taskLines(result.data);
    case 'setup':
      return [setupLine(result.data)];
    case 'customize':
    case 'rebase':
      if (result.outcome === 'blocked') return changeLines(result);
      return recordedLines(result.data as Parameters<typeof recordedLines>[0]);
    case 'pack':
      return [...changeLines(result), ...packLines(result.data as PackData)];
    case 'dev':
      return developedLines(result, () => [
        ...changeLines(result),
        // Said by `pack`; at each save it would be in the way.
        ...packLines({ ...(result.data as PackData), toWrite: [] }),
      ]);
    case 'update':
      return [
        ...updateLines(result.data as Parameters<typeof updateLines>[0]),
        ...changeLines(result),
      ];
    case 'plan':
      return [
        ...updateLines(result.data as Parameters<typeof updateLines>[0]),
        ...changeLines(result),
        ...(result.outcome === 'blocked'
          ? []
          : plannedRecordLines(result.data as Parameters<typeof recordedLines>[0])),
        ...((result.data as { verb?: string } | null)?.verb === 'pack'
          ? packLines(result.data as PackData)
          : []),
      ];
    case 'undo': {
      if (result.outcome === 'blocked') return changeLines(result);
      const { undone } = result.data as { readonly undone: string };
      const [, ...files] = changeLines(result);
      return [`Taken back: ${undone}.${files.length === 0 ? ` ${NO_FILE}` : ''}`, ...files];
    }
    case 'conflicts':
      return waitingLines(result.data as Parameters<typeof waitingLines>[0], result.conflicts);
    case 'resolve':
      return [
        ...proposalLines((result.data as ProposedData).proposals ?? [], screen),
        ...resolvedLines(result.data as Parameters<typeof resolvedLines>[0]),
      ];
    case 'resolutions':
      return recordingLines(result.data as Parameters<typeof recordingLines>[0]);
    case 'continue':
      if (result.data === null) return ['Nothing waits for a decision.'];
      if ((result.data as TrialData).isTrial === true) return trialLines(result);
      return bodyOf({ ...result, verb: (result.data as { readonly verb: string }).verb }, screen);
    case 'abort':
      return [
        result.outcome === 'nothing'
          ? 'Nothing waits for a decision.'
          : 'Forgotten; the tree is as it was.',
      ];
    default:
      return changeLines(result);
  }
}

function changeLines(result: VerbResult): readonly string[] {
  const files = result.changes.map(
    ({ path, kind, cause }) => `  ${MARKS[kind]} ${path}  (${cause})`,
  );
  const brought = result.data as BroughtData | null;
  const extras = [
    ...(brought?.sources ?? []).flatMap(sourceLine),
    ...(brought?.packages?.length ? [`  packages: ${brought.packages.join(', ')}`] : []),
    ...(brought?.settings?.length ? [`  settings: ${brought.settings.join(', ')}`] : []),
    ...(brought?.proof?.note ? [`  proof: ${brought.proof.note}`] : []),
  ];
  if (result.outcome !== 'blocked') return [headline(result), ...files, ...extras];
  const rest = files.length === 0 ? [] : ['All else that it would change:', ...files, ...extras];
  return [headline(result), ...conflictLines(result), ...(result.verb === 'plan' ? rest : [])];
}

type BroughtData = {
  readonly packages?: readonly string[];
  readonly settings?: readonly string[];
  /** `note` says which tests did not run. */
  readonly proof?: { readonly note?: string | null };
  readonly sources?: readonly {
    readonly name: string;
    readonly version: string;
    readonly source: string;
    readonly commit?: string;
  }[];
};

/** A skill of the project's own needs no word on where it is from. */
function sourceLine({
  name,
  version,
  source,
  commit,
}: NonNullable<BroughtData['sources']>[number]): readonly string[] {
  if (source === name) return [];
  const at = commit ? ` (commit ${commit.slice(0, 7)})` : '';
  return [`  from: ${name} ${version} out of ${source}${at}`];
}

function headline({ verb, outcome, changes, conflicts }: VerbResult): string {
  const count = `${changes.length} ${changes.length === 1 ? 'file' : 'files'}`;
  if (outcome === 'nothing') return 'Nothing to do.';
  if (outcome === 'blocked') {
    return `Blocked by ${conflicts.length} ${conflicts.length === 1 ? 'conflict' : 'conflicts'}; the tree is as it was.`;
  }
  if (verb === 'plan') return changes.length === 0 ? NO_FILE : `This would change ${count}:`;
  return changes.length === 0 ? `Done: ${verb}. ${NO_FILE}` : `Done: ${verb} changed ${count}.`;
}

type TrialData = {
  readonly isTrial?: boolean;
  readonly proof?: { readonly checks: number; readonly tests: number };
};

/** What `claw continue --prove` found. */
function trialLines(result: VerbResult): readonly string[] {
  const { checks = 0, tests = 0 } = (result.data as TrialData).proof ?? {};
  const ran = checks + tests === 0 ? 'There was nothing to run' : 'Checks and tests pass';
  return [`${ran}; \`claw continue\` carries it out.`, ...changeLines({ ...result, verb: 'plan' })];
}

/** What is recorded below .claw alone. */
const NO_FILE = 'No file of the project changes.';

function conflictLines({ conflicts, verb }: VerbResult): readonly string[] {
  const lines = conflicts.flatMap((conflict) => {
    const { path, kind, layers, reason, hunks } = conflict;
    const count = hunks.filter((hunk) => hunk.kind === 'conflict').length;
    const where = verb === 'plan' || count === 0 ? '' : `\n    see .claw/pending/${path}`;
    return [
      `  ! ${path}  ${kind}, ${layers.join(' against ')}`,
      `    ${reason}${where}`,
      ...movedLines(conflict, verb === 'plan'),
    ];
  });
  return [...lines, ...(verb === 'plan' ? [] : [WAYS_ON])];
}

const FORMS = { 'line-ends': 'line ends', mode: 'mode' } as const;

type VerifyData = {
  readonly clean: boolean;
  readonly edits: readonly {
    readonly path: string;
    readonly owner: string;
    readonly lines: readonly (readonly [number, number])[];
    readonly form: readonly (keyof typeof FORMS)[];
    readonly touches: readonly string[];
  }[];
  readonly recomposed: readonly string[];
};

function verifyLines(data: VerifyData | null): readonly string[] {
  if (data === null) return [];
  if (data.clean) return ['Disk, state and composition agree.'];
  const edits = data.edits.map(({ path, owner, lines, form, touches }) => {
    const ranges = lines
      .map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
      .join(', ');
    const also = form.map((word) => ` (${FORMS[word]})`).join('');
    const others = touches.filter((name) => name !== 'core');
    const whose = others.length === 0 ? '' : `, in lines of ${others.join(', ')}`;
    return `  ${path}${ranges === '' ? '' : `:${ranges}`}${also}  ${owner}${whose}`;
  });
  const recomposed = data.recomposed.map(
    (path) => `  ${path}  this engine would compose it otherwise`,
  );
  const lines = [...edits, ...recomposed];
  return lines.length === 0 ? [] : ['Differs from what was published:', ...lines];
}

/** What was set up tells in its own words what came of it. */
function setupLine(data: unknown): string {
  return (data as { readonly summary: string }).summary;
}
