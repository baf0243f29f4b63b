import type { TreeFile } from '@patchclaw/merge';
import type { Manifest } from '../../package/manifest/manifest.ts';
import type { SkillPackage } from '../../package/package.ts';
import type { SetUp } from '../../package/skill-page.ts';
import type { PackedEdit } from './packed-edit.ts';

/** Facts about a code file that depend on the conventions of its codebase. */
export type CodeFacts = {
  /** Names of `.env` that it reads. */
  readonly settings: readonly string[];
  /** Commands that ask the owner for settings. */
  readonly setUp: readonly string[];
  /** The owner's step after which a running program has the file, as a sentence without capital and stop. */
  readonly restart: string | null;
};

/** Reads the facts of a file; the caller provides it, since the engine knows no codebase. */
export type ReadCode = (path: string, text: string) => CodeFacts;

/** A file of a package that reads settings. */
type Reader = { readonly path: string; readonly settings: readonly string[] };

const SETTINGS_FILE = '.env.example';

/**
 * Collects the settings that an owner sets up: those that the manifest declares, and those that only the code shows.
 */
export function setUpOf(
  skill: SkillPackage,
  known: KnownSettings,
  read: ReadCode | undefined,
): SetUp {
  const { envAdditions, npmDependencies, composeServices, container } = skill.manifest.structured;
  const edits = workOf(skill);
  const facts = edits.flatMap(({ path, after }) => factsOf(read, path, after) ?? []);
  const declared = envAdditions.map(({ name }) => name);
  const undeclared = readersOf(edits, known, read).flatMap(({ settings }) => settings);
  return {
    settings: [
      ...envAdditions,
      ...[...new Set(undeclared)]
        .filter((name) => !declared.includes(name))
        .map((name) => ({ name, description: null, example: null })),
    ],
    commands: facts.flatMap(({ setUp }) => setUp),
    restart: facts.find(({ restart }) => restart !== null)?.restart ?? null,
    services: Object.keys(composeServices),
    npmPackages: npmDependencies,
    imagePackages: [...Object.keys(container.npmDependencies), ...container.aptPackages],
  };
}

/** The settings that are there without the skill. */
export type KnownSettings = {
  readonly releaseFile: (path: string) => TreeFile | null;
  readonly others: readonly { readonly manifest: Manifest }[];
};

/**
 * Warns of settings that a package's code reads and its manifest does not add, file by file. Settings in the core's
 * `.env.example` or in another layer do not count.
 */
export function undeclaredSettings(
  made: SkillPackage,
  known: KnownSettings,
  read: ReadCode | undefined,
): readonly string[] {
  const { skill, structured } = made.manifest;
  const declared = new Set(structured.envAdditions.map(({ name }) => name));
  return readersOf(workOf(made), known, read).flatMap(({ path, settings }) => {
    const lacking = settings.filter((name) => !declared.has(name));
    if (lacking.length === 0) return [];
    const each = lacking.length === 1 ? 'it' : 'them';
    return [
      `${path} reads ${lacking.join(' and ')}, which env_additions of skills/${skill}/manifest.yaml lacks. ` +
        `Name ${each} there, or add ${each} to ${SETTINGS_FILE} with a comment above, then: ` +
        `claw pack ${skill} ${SETTINGS_FILE} --update.`,
    ];
  });
}

/** Returns files that read settings which they did not read before, and which nothing else adds. */
function readersOf(
  edits: readonly PackedEdit[],
  { releaseFile, others }: KnownSettings,
  read: ReadCode | undefined,
): readonly Reader[] {
  const core = releaseFile(SETTINGS_FILE)?.bytes.toString('utf8') ?? '';
  const known = new Set([
    // A line in comments is a setting too.
    ...(core.match(/\b[A-Z][A-Z0-9_]*\b/g) ?? []),
    ...others.flatMap(({ manifest }) => manifest.structured.envAdditions.map(({ name }) => name)),
  ]);
  return edits.flatMap(({ path, before, after }) => {
    const former = new Set(factsOf(read, path, before)?.settings);
    const now = factsOf(read, path, after)?.settings ?? [];
    const settings = now.filter((name) => !former.has(name) && !known.has(name));
    return settings.length === 0 ? [] : [{ path, settings }];
  });
}

/** Returns the files that a package adds and changes, each beside the one that it was written against. */
function workOf({ manifest, files }: SkillPackage): readonly PackedEdit[] {
  const file = (path: string) => files.get(path) ?? null;
  const moves = new Map(
    manifest.fileOps.flatMap((op) => (op.type === 'delete' ? [] : [[op.to, op.from] as const])),
  );
  return [
    ...manifest.adds.map((path) => ({ path, before: null, after: file(`add/${path}`) })),
    ...manifest.modifies.map((path) => ({
      path,
      before: file(`base/${path}`) ?? file(`base/${moves.get(path) ?? path}`),
      after: file(`modify/${path}`),
    })),
  ];
}

function factsOf(
  read: ReadCode | undefined,
  path: string,
  file: TreeFile | null,
): CodeFacts | null {
  if (read === undefined || file === null) return null;
  return read(path, file.bytes.toString('utf8'));
}
