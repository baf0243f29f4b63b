import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { hasMarkers, splitLines } from '@patchclaw/merge';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { type Digest, digestBytes, type FileDigest } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { pathFault } from '../package/checks/paths.ts';
import { parsePlainYaml } from '../package/manifest/plain-yaml.ts';
import { checkValue } from '../package/manifest/resolution-value.ts';
import { RESOLUTIONS } from './claw-folder.ts';
import { readTreeFile } from './disk.ts';
import {
  type Answer,
  type Resolution,
  resolutionKey,
  type Subject,
  valueDigest,
} from './resolution.ts';
import type { State } from './state-file.ts';

const LIMITS = { sizeBytes: 16 * 1024 * 1024, depth: 32 };

const Side = z.union([
  z.custom<FileDigest>(
    (value) => typeof value === 'string' && /^sha256:[0-9a-f]{64}( \+x)?$/.test(value),
    'must be sha256: and 64 hexadecimal digits',
  ),
  z.literal('absent'),
]);
const ConflictPath = z
  .string()
  .refine((path) => pathFault(path.split('#')[0] ?? '') === null, 'is not a path of a project');
// Text as people read it; what is no UTF-8 as base64.
const Bytes = z.union([z.string(), z.strictObject({ base64: z.base64() })]);
const Hunk = z.strictObject({
  author: z.string().optional(),
  base: Bytes,
  ours: Bytes,
  theirs: Bytes,
  resolved: Bytes,
});
const Subjects = {
  path: ConflictPath,
  kind: z.enum(['content', 'add-add', 'modify-delete', 'binary', 'structured']),
  layers: z.tuple([z.string(), z.string()]),
  sides: z.strictObject({ base: Side, ours: Side, theirs: Side }),
  origin: z.string(),
};
const Schema = z.union([
  z.strictObject({ ...Subjects, hunks: z.array(Hunk).min(1) }),
  z.strictObject({
    ...Subjects,
    file: z.union([
      z.literal('absent'),
      z.strictObject({ content: Bytes, executable: z.boolean().default(false) }),
    ]),
  }),
  z.strictObject({ ...Subjects, value: z.unknown() }),
]);

/** A subject, its answer and whose it is: what recordings and waiting decisions have in common. */
export type Recording = {
  readonly subject: Subject;
  readonly answer: Answer;
  readonly origin: string;
};

/** Returns a recording as readable text; equal ones give equal bytes. */
export function renderAnswered(answered: Recording): Buffer {
  const content = plainAnswered(answered, readable);
  return Buffer.from(stringify(content, { lineWidth: 0, aliasDuplicateObjects: false }));
}

/** Returns a decision that waits, as JSON: each answer reads and writes all of them, where YAML takes most of its time. */
export function renderDecision(answered: Recording): string {
  return JSON.stringify(plainAnswered(answered, asText));
}

/**
 * Reads what {@link renderAnswered} wrote. It is data from somewhere: nothing of it is used unchecked.
 *
 * @param place the file's name, for errors
 * @throws ClawError RESOLUTION_INVALID
 */
function parseAnswered(bytes: Buffer, place: string): Recording {
  return checkAnswered(readYaml(bytes, place), place);
}

/**
 * Reads what {@link renderDecision} wrote, or an older engine as YAML. The same is checked.
 *
 * @throws ClawError RESOLUTION_INVALID
 */
export function parseDecision(bytes: Buffer, place: string): Recording {
  let raw: unknown;
  try {
    raw = JSON.parse(bytes.toString('utf8'));
  } catch {
    raw = readYaml(bytes, place);
  }
  return checkAnswered(raw, place);
}

function checkAnswered(raw: unknown, place: string): Recording {
  const parsed = Schema.safeParse(raw);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(place, [issue?.path.join('.'), issue?.message].filter(Boolean).join(': '));
  }
  const { path, kind, layers, sides, origin } = parsed.data;
  const subject = { path, kind, layers, sides };
  const answer = toAnswer(parsed.data);
  if ((kind === 'structured') !== (answer.kind === 'value')) {
    throw invalid(place, `a ${kind} conflict is not resolved by a ${answer.kind}`);
  }
  return { subject, answer, origin };
}

/**
 * Reads a recording, whose name must be the digest of what it says.
 *
 * @throws ClawError RESOLUTION_INVALID
 */
export function parseResolution(
  bytes: Buffer,
  { key, place, pinned }: { key: string; place: string; pinned: Digest | null },
): Resolution {
  const { subject, answer, origin } = parseAnswered(bytes, place);
  if (resolutionKey(subject, answer) !== key) {
    throw invalid(place, 'its name is not the digest of its content: it was changed');
  }
  const digest = digestBytes(bytes);
  const isOwn = digest === pinned;
  if (!isOwn) checkForeign(subject, answer, place);
  return { key, subject, answer, origin, digest, isOwn };
}

/**
 * Checks a value from elsewhere: it must be a side's, or one that a skill could declare: no tag, no open
 * port.
 */
function checkForeign({ path, sides }: Subject, answer: Answer, place: string): void {
  if (answer.kind !== 'value') return;
  const wanted = valueDigest(answer.value);
  if (wanted === sides.ours || wanted === sides.theirs) return;
  try {
    checkValue(path, answer.value);
  } catch (error) {
    if (error instanceof ClawError) throw invalid(place, error.message);
    throw error;
  }
}

function readYaml(bytes: Buffer, place: string): unknown {
  try {
    return parsePlainYaml(bytes, place, LIMITS);
  } catch (error) {
    if (error instanceof ClawError) throw invalid(place, error.message);
    throw error;
  }
}

function toAnswer(raw: z.output<typeof Schema>): Answer {
  if ('hunks' in raw) {
    return {
      kind: 'hunks',
      hunks: raw.hunks.map((hunk) => ({
        ...(hunk.author === undefined ? {} : { author: hunk.author }),
        base: linesOf(hunk.base),
        ours: linesOf(hunk.ours),
        theirs: linesOf(hunk.theirs),
        resolved: linesOf(hunk.resolved),
      })),
    };
  }
  if ('file' in raw) {
    const { file } = raw;
    if (file === 'absent') return { kind: 'file', file: null };
    return {
      kind: 'file',
      file: { bytes: Buffer.from(latin1(file.content), 'latin1'), isExecutable: file.executable },
    };
  }
  return { kind: 'value', value: raw.value ?? null };
}

/** Writes bytes as text, as long as the same bytes are read from it. */
type WriteBytes = (bytes: Buffer) => z.output<typeof Bytes>;

function plainAnswered({ subject, answer, origin }: Recording, write: WriteBytes): object {
  return {
    path: subject.path,
    kind: subject.kind,
    layers: [...subject.layers],
    sides: { ...subject.sides },
    origin,
    ...plainAnswer(answer, write),
  };
}

function plainAnswer(answer: Answer, write: WriteBytes): object {
  if (answer.kind === 'value') return { value: answer.value ?? null };
  if (answer.kind === 'file') {
    const { file } = answer;
    if (file === null) return { file: 'absent' };
    return { file: { content: write(file.bytes), executable: file.isExecutable } };
  }
  const written = (lines: readonly string[]) => write(Buffer.from(lines.join(''), 'latin1'));
  return {
    hunks: answer.hunks.map(({ author, base, ours, theirs, resolved }) => ({
      ...(author === undefined ? {} : { author }),
      base: written(base),
      ours: written(ours),
      theirs: written(theirs),
      resolved: written(resolved),
    })),
  };
}

function readable(bytes: Buffer): z.output<typeof Bytes> {
  const text = asText(bytes);
  const isFaithful =
    typeof text === 'string' && parse(stringify({ text }, { lineWidth: 0 })).text === text;
  return isFaithful ? text : { base64: bytes.toString('base64') };
}

function asText(bytes: Buffer): z.output<typeof Bytes> {
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : { base64: bytes.toString('base64') };
}

function latin1(bytes: z.output<typeof Bytes>): string {
  const raw = typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes.base64, 'base64');
  return raw.toString('latin1');
}

function linesOf(bytes: z.output<typeof Bytes>): readonly string[] {
  return splitLines(latin1(bytes));
}

/** Tells whether an answer holds conflict markers itself. */
export function leavesMarkers(answer: Answer): boolean {
  if (answer.kind === 'value') return false;
  if (answer.kind === 'file')
    return answer.file !== null && hasMarkers(answer.file.bytes.toString('latin1'));
  return answer.hunks.some(({ resolved }) => hasMarkers(resolved.join('')));
}

function invalid(place: string, reason: string): ClawError {
  return new ClawError('RESOLUTION_INVALID', `${place}: ${reason}. ${wayOut(place)}`, {
    path: place,
  });
}

function wayOut(place: string): string {
  const key = /([0-9a-f]{16})\.yaml$/.exec(place)?.[1];
  if (key === undefined) return 'Run claw abort, then the command again.';
  return `Restore it from git, or be asked again: claw resolutions forget ${key}.`;
}

/** Returns the path of a recording. */
export function resolutionPath(key: string): string {
  return `${RESOLUTIONS}/${key}.yaml`;
}

/**
 * Returns every recording of the project, whatever its origin; those whose bytes `state.yaml` pins as its own
 * are this installation's.
 *
 * @throws ClawError RESOLUTION_INVALID
 */
export function readResolutions(root: string, state: State | null): readonly Resolution[] {
  return listKeys(root).map((key) => {
    const place = resolutionPath(key);
    const file = readTreeFile(root, place);
    if (file === null) {
      const message = `${place} is not a regular file. Move it away and try again.`;
      throw new ClawError('FILE_KIND', message, { path: place });
    }
    const known = state?.resolutions.get(key);
    return parseResolution(file.bytes, { key, place, pinned: known?.own ? known.digest : null });
  });
}

function listKeys(root: string): readonly string[] {
  try {
    return readdirSync(join(root, RESOLUTIONS))
      .flatMap((name) => /^([0-9a-f]{16})\.yaml$/.exec(name)?.[1] ?? [])
      .sort();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
