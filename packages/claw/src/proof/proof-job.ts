import type { Tree, TreeFile } from '@patchclaw/merge';
import { z } from 'zod';
import { type Digest, digestBytes } from '../digest.ts';
import { ClawError } from '../errors.ts';
import type { OwnTests, ProofFailure, ProofScope } from './proof.ts';
import type { LayerTests } from './view.ts';

/** A proof as a value: everything that its result depends on, whichever machine runs it. */
export type ProofJob = {
  /** The core, whole: a failure that it has as well is a warning. */
  readonly core: Tree;
  /** The differences of the tree to be proved; null for a file that goes. */
  readonly changed: ReadonlyMap<string, TreeFile | null>;
  readonly tests: readonly LayerTests[];
  /** npm's starting point; null for none. */
  readonly lock: Buffer | null;
  readonly checks: readonly string[];
  readonly testCommand: string | null;
  readonly own: OwnTests | null;
  readonly scope: ProofScope;
};

/** The outcome of a job. */
export type JobVerdict = {
  readonly failures: readonly JobFailure[];
  readonly warnings: readonly string[];
  readonly ms: number;
};

export type JobFailure = Pick<ProofFailure, 'name' | 'text' | 'output'> & {
  /** `npm`: its packages could not be installed. */
  readonly kind: ProofFailure['kind'] | 'npm';
};

/** A job as a text that names every content by its digest, and those contents. */
export type DescribedJob = {
  /** The digest of the text: jobs of one digest have one result. */
  readonly digest: Digest;
  /** Returns a content by its digest, or null for one that is not part of the job. The text itself is one. */
  readonly content: (digest: string) => Buffer | null;
};

/**
 * Returns the platform of a job: results depend on the system and on Node, so jobs of other platforms are other jobs.
 */
export function platformOf(process: Pick<NodeJS.Process, 'platform' | 'arch' | 'version'>): string {
  return `${process.platform} ${process.arch} ${process.version}`;
}

/**
 * Returns a function that describes jobs on one core, whose long list of files is made once.
 *
 * @param platform of the machine that asks, from `platformOf`
 */
export function describeJobs(core: Tree, platform: string): (job: ProofJob) => DescribedJob {
  const ofCore = new Map<string, Buffer>();
  const coreList = contentOf(ofCore, JSON.stringify(entriesOf(core, ofCore)));
  return ({ changed, tests, lock, checks, testCommand, own, scope }) => {
    const contents = new Map<string, Buffer>();
    const text: z.input<typeof JobText> = {
      format: FORMAT,
      platform,
      core: coreList,
      changed: entriesOf(changed, contents),
      tests: tests.map(({ skill, files, test }) => ({
        skill,
        files: entriesOf(files, contents),
        test: [...test],
      })),
      lock: lock === null ? null : contentOf(contents, lock),
      checks: [...checks],
      testCommand,
      own: own === null ? null : { ...own, tests: [...own.tests], except: [...own.except] },
      scope,
    };
    const digest = contentOf(contents, JSON.stringify(text));
    return { digest, content: (one) => contents.get(one) ?? ofCore.get(one) ?? null };
  };
}

/**
 * Reads a described job. Asks for the contents in three rounds: the text, the list of the core, all files.
 *
 * @param fetch returns these contents, in this order; their digests have been checked
 * @throws ClawError SCHEMA_INVALID for what is no job, or one of another version
 */
export async function readJob(
  digest: Digest,
  platform: string,
  fetch: (digests: readonly Digest[]) => Promise<readonly Buffer[]>,
): Promise<ProofJob> {
  const [text] = await fetch([digest]);
  const parsed = parse(JobText, text);
  if (parsed.platform !== platform) {
    throw new ClawError(
      'SCHEMA_INVALID',
      `The job is for ${parsed.platform}, this is ${platform}.`,
    );
  }
  const [list] = await fetch([parsed.core]);
  const core = parse(Entries, list);
  const { changed, tests, lock, checks, testCommand, own, scope } = parsed;
  const named = [core, changed, ...tests.map(({ files }) => files)].flat();
  const wanted = [
    ...new Set(named.flatMap(([, content]) => (content === null ? [] : [content]))),
    ...(lock === null ? [] : [lock]),
  ];
  const bytes = await fetch(wanted);
  const byDigest = new Map(wanted.map((one, at) => [one, bytes[at] ?? Buffer.alloc(0)]));
  const treeOf = (entries: z.output<typeof Entries>) =>
    new Map(
      entries.flatMap(([path, content, executable]) => {
        const file = content === null ? null : byDigest.get(content);
        return file ? [[path, { bytes: file, isExecutable: executable === 1 }] as const] : [];
      }),
    );
  const gone = changed.flatMap(([path, content]) =>
    content === null ? [[path, null] as const] : [],
  );
  return {
    core: treeOf(core),
    changed: new Map<string, TreeFile | null>([...treeOf(changed), ...gone]),
    tests: tests.map(({ skill, files, test }) => ({ skill, files: treeOf(files), test })),
    lock: lock === null ? null : (byDigest.get(lock) ?? null),
    checks,
    testCommand,
    own,
    scope,
  };
}

/** Another number where the result of the same text would be another. */
const FORMAT = 1;
const MOST_FILES = 200_000;

const ContentDigest = z.custom<Digest>(
  (value) => typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value),
);
/** Below the tree: a job comes from another machine. */
const Path = z
  .string()
  .max(4_096)
  .refine((path) => path.split('/').every((part) => part !== '' && part !== '.' && part !== '..'));
const Entries = z
  .array(z.tuple([Path, ContentDigest.nullable(), z.union([z.literal(0), z.literal(1)])]))
  .max(MOST_FILES);
const Words = z.array(z.string().max(10_000)).max(10_000);

const JobText = z.strictObject({
  format: z.literal(FORMAT),
  platform: z.string().max(200),
  core: ContentDigest,
  changed: Entries,
  tests: z
    .array(
      z.strictObject({
        skill: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,213}$/),
        files: Entries,
        test: Words,
      }),
    )
    .max(10_000),
  lock: ContentDigest.nullable(),
  checks: Words,
  testCommand: z.string().max(10_000).nullable(),
  own: z
    .strictObject({
      tests: Words,
      except: Words,
      command: z.string().max(10_000),
      seconds: z.number(),
      most: z.number(),
    })
    .nullable(),
  scope: z.enum(['skills', 'related', 'all']),
});

function parse<T>(schema: z.ZodType<T>, bytes: Buffer | undefined): T {
  try {
    return schema.parse(JSON.parse(String(bytes)));
  } catch (cause) {
    throw new ClawError('SCHEMA_INVALID', 'This is no proof that this version can run.', { cause });
  }
}

function entriesOf(
  files: ReadonlyMap<string, TreeFile | null>,
  contents: Map<string, Buffer>,
): [string, Digest | null, 0 | 1][] {
  return [...files]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, file]) => [
      path,
      file === null ? null : contentOf(contents, file.bytes),
      file?.isExecutable === true ? 1 : 0,
    ]);
}

function contentOf(contents: Map<string, Buffer>, content: Buffer | string): Digest {
  const bytes = Buffer.isBuffer(content) ? content : Buffer.from(content);
  const digest = digestBytes(bytes);
  contents.set(digest, bytes);
  return digest;
}
