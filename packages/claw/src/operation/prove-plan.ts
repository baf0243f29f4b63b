import { copyFileSync, mkdirSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { TreeFile } from '@patchclaw/merge';
import { type Followed, followImports } from '../compose/follow-imports.ts';
import { digestBytes } from '../digest.ts';
import { ClawError, shellWord, shellWords } from '../errors.ts';
import { CONFIG_PATH, type CodebaseConfig, parseConfig } from '../installed/config.ts';
import { readTreeFile, treeReader } from '../installed/disk.ts';
import type { Installation } from '../installed/installation.ts';
import { listProjectFiles } from '../installed/project-files.ts';
import { mapPath } from '../package/manifest/path-map.ts';
import type { SkillPackage } from '../package/package.ts';
import type { ProofFailure } from '../proof/proof.ts';
import type { LayerTests } from '../proof/view.ts';
import type { EngineContext } from './context.ts';
import { type TestedTree, withFollowedTests } from './followed-tests.ts';
import { keepProof, mayKeepProof, type ProofOutcome, proofKey, readProof } from './kept-proof.ts';
import type { PreparedPackages } from './npm/npm.ts';
import { lackingPackages } from './npm/packages-lacking.ts';
import type { Operation } from './planned-operation.ts';
import { releaseReader } from './release-state.ts';
import { updateOptionsOf } from './update-options.ts';

/**
 * Runs the checks and the tests of all layers on the planned tree, beside the project. The proof of a waiting
 * operation is kept, and is not repeated unless something that it depends on has changed.
 *
 * @returns what ran; warnings are what the present tree fails as well, and what could not be fenced in
 * @throws ClawError CHECKS_FAILED, TESTS_FAILED with what failed in `data.failures`
 */
export async function proveTree(
  context: EngineContext,
  operation: Operation,
  packages: PreparedPackages,
): Promise<ProofOutcome> {
  const { root } = operation.installation;
  const config = plannedConfig(operation);
  const { plan, installed, installation } = operation;
  const isTested = plan.layers.some(({ manifest }) => manifest.test.length > 0);
  const nothing = {
    checks: 0,
    tests: 0,
    reused: 0,
    own: 0,
    note: null,
    warnings: packages.warnings,
  };
  if (config.check.length === 0 && !isTested && config.related === null) return nothing;
  // Another release may move nothing but the versions of packages, which is a change of the tree too.
  const isMoved = operation.core != null && packages.nodeModules !== null;
  const { proof: way } = operation;
  if (way?.isSkipped === true) return nothing;
  // What goes into a package is in the tree already, so that the tree does not change by it.
  const isFolded = way !== undefined && way.compared.size > 0;
  const isSame = plan.changes.length === 0 && !isMoved && !isFolded;
  if (isSame && !bringsTests(operation)) return nothing;
  const paths = await listProjectFiles(root, config);
  // Packages that npm has just prepared are others each time.
  const isKept = packages.nodeModules === null && mayKeepProof(root);
  const { proof: scope = 'related' } = context;
  const key = isKept ? proofKey(operation, paths, scope) : null;
  const known = key && readProof(root, key);
  if (known) return known;
  const { prove } = await import('../proof/prove.ts');
  const { openMemory } = await import('../proof/remembered-passes.ts');
  const proof = await prove({
    root,
    paths,
    changed: changedFiles(operation),
    tests: plan.layers.map((layer) => testsOf(layer, plannedTree(operation))),
    presentTests: installed.map((layer) => testsOf(layer, presentTree(installation))),
    ...(way ? { compared: { files: way.compared, nodeModules: null } } : {}),
    checks: config.check,
    testCommand: config.test,
    own: config.related,
    scope,
    keep: config.keep,
    isParallel: config.parallel,
    memory: openMemory(root),
    logFolder: LOGS,
    present: { checks: installation.config.check, testCommand: installation.config.test },
    nodeModules: packages.nodeModules === null ? null : join(root, packages.nodeModules),
    environment: context.environment,
    signal: context.signal,
    limits: config.limits,
    onProgress: context.onProgress,
  });
  const [failure, ...others] =
    installation.state === null
      ? proof.failures.map((one) => withLastingLog(one, context))
      : proof.failures;
  if (failure === undefined) {
    const proved = {
      checks: config.check.length,
      tests: plan.layers.reduce((sum, { manifest }) => sum + manifest.test.length, 0),
      reused: proof.reused,
      own: proof.own,
      note: proof.note,
      warnings: [...packages.warnings, ...proof.warnings],
    };
    if (key !== null) keepProof(root, key, proved);
    return proved;
  }
  const changed = changedFiles(operation);
  const read = treeReader(root);
  const planned = (path: string) => (changed.has(path) ? (changed.get(path) ?? null) : read(path));
  const error = failed([failure, ...others], config, packages.isSkipped ? missing(operation) : []);
  const behind = leftBehind(operation, [...paths, ...changed.keys()], planned);
  throw new ClawError(error.code, `${error.message}${behind}`, { data: error.data });
}

/** Folder of the whole outputs of failed commands, until the next proof. */
const LOGS = '.claw/cache/proof';

/**
 * Moves the whole outputs of a project's first command to the owner's cache: if that command fails, it leaves no
 * `.claw/` behind.
 *
 * @returns the failure with the absolute path of its output; unchanged where it could not be moved
 */
function withLastingLog(failure: ProofFailure, { root, environment }: EngineContext): ProofFailure {
  const { HOME, XDG_CACHE_HOME } = environment;
  const cache = XDG_CACHE_HOME ?? (HOME ? join(HOME, '.cache') : '');
  if (failure.log === null || !isAbsolute(cache)) return failure;
  const project = digestBytes(root).replace(/^.*:/, '').slice(0, 16);
  const log = join(cache, 'claw/proof', project, basename(failure.log));
  try {
    mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
    copyFileSync(join(root, failure.log), log);
    return { ...failure, log };
  } catch {
    return failure; // The beginning of the output is in the message anyway.
  }
}

function failed(
  failures: readonly [ProofFailure, ...ProofFailure[]],
  { test }: CodebaseConfig,
  missing: readonly string[],
): ClawError {
  const [{ kind, name, text, log, stop }] = failures;
  const subject = {
    check: `The check "${name}"`,
    test: `The tests of ${name}, run by "${test}",`,
    own: `Tests of the code itself (${name})`,
  }[kind];
  const isOne = kind === 'check';
  const end = stop === null ? 'failed' : isOne ? 'was stopped' : 'were stopped';
  const more = failures.slice(1).map((one) => one.name);
  const skipped =
    missing.length === 0
      ? ''
      : `Because of --no-install these packages of the new tree are not installed: ${missing.join(', ')}. ` +
        'Give the command again without --no-install; or install them yourself, as with ' +
        `npm install --no-save ${shellWords(missing)}, and then give it again.`;
  const lines = [
    `${subject} ${end} on the new tree, so nothing was changed.`,
    text,
    more.length === 0 ? '' : `More failed: ${more.join(', ')}.`,
    log === null ? '' : `All of it: ${log}`,
    skipped,
    wayOn(failures[0]),
  ];
  return new ClawError(
    isOne ? 'CHECKS_FAILED' : 'TESTS_FAILED',
    lines.filter((line) => line !== '').join('\n'),
    { data: missing.length === 0 ? { failures } : { failures, missingPackages: missing } },
  );
}

/** Says what the owner can do after a failed proof. */
function wayOn({ kind, name, stop }: ProofFailure): string {
  if (stop !== null && stop !== 'time') {
    const busy = stop === 'silence' || stop === 'cpu' ? 'when the machine is less busy, ' : '';
    return `Next: try again${busy === '' ? '' : ` ${busy.trim()}`} or set a higher limit in claw.config.yaml.`;
  }
  if (kind === 'own') {
    return 'Next: try again, or leave out the tests of the code itself with --proof skills.';
  }
  return kind === 'test'
    ? `Next: try again, in case the test failed by chance. If it fails again, tell the author of ${name}.`
    : 'Next: fix what the check names, and try again.';
}

/** Names the packages of the planned tree that are not installed as it asks for them. */
function missing({ plan, installation: { root } }: Operation): readonly string[] {
  const change = plan.changes.find(({ path }) => path === 'package.json');
  return lackingPackages(
    root,
    change === undefined ? readTreeFile(root, 'package.json') : change.after,
  );
}

/** Returns the files in which the planned tree differs from the one that it is compared with. */
function changedFiles({ plan, proof, installation }: Operation) {
  const read = treeReader(installation.root);
  const edited = [...(proof?.compared.keys() ?? [])].map((path) => [path, read(path)] as const);
  return new Map([...edited, ...plan.changes.map(({ path, after }) => [path, after] as const)]);
}

/**
 * Tells whether a layer comes whose tests have never run on this tree, although it may change no byte of it.
 */
function bringsTests({ plan, installed }: Operation): boolean {
  const known = new Set(installed.map(({ digest }) => digest));
  return plan.layers.some(({ manifest, digest }) => manifest.test.length > 0 && !known.has(digest));
}

/** Reads the configuration of the planned tree: an update may change the checks. */
function plannedConfig({ plan, installation }: Operation): CodebaseConfig {
  const change = plan.changes.find(({ path }) => path === CONFIG_PATH);
  return change ? parseConfig(change.after?.bytes.toString('utf8') ?? null) : installation.config;
}

function plannedTree(operation: Operation): TestedTree {
  const { target, pathMaps } = operation.plan;
  const releaseFile = releaseReader(operation);
  const has = (path: string) => (target.files.get(path)?.file ?? releaseFile(path)) !== null;
  return { pathMaps, has };
}

function presentTree({ pathMaps, publishedFile }: Installation): TestedTree {
  return { pathMaps, has: (path) => publishedFile(path) !== null };
}

/** Returns a layer's tests for a proof. */
export function testsOf(layer: SkillPackage, tree: TestedTree): LayerTests {
  const { skill, test } = layer.manifest;
  return { skill, files: withFollowedTests(layer, tree), test };
}

type Lookup = (path: string) => TreeFile | null;

/**
 * Lists files of a planned tree that still import a moved file by its old path. They hold unrecorded edits of
 * the owner, which an update leaves unchanged.
 *
 * @param planned the file in the new tree
 * @returns lines that begin with a line break; empty where there are none
 */
function leftBehind(
  { core, arguments: [wanted = ''], options = {}, plan, installation }: Operation,
  paths: Iterable<string>,
  planned: Lookup,
): string {
  if (core == null) return '';
  const has = (path: string) => planned(path) !== null;
  const moved = (path: string) =>
    has(path) ? path : mapPath(path, installation.coreVersion, plan.pathMaps);
  const groups = new Map<string, string[]>();
  for (const path of new Set(paths)) {
    const file = planned(path);
    if (file === null) continue;
    const { followed } = followImports(file, { from: path, to: path, moved, has });
    for (const what of new Set(followed.map(told))) {
      groups.set(what, [...(groups.get(what) ?? []), path]);
    }
  }
  if (groups.size === 0) return '';
  const again = updateOptionsOf(options).moved.map((move) => `--moved ${shellWord(move)}`);
  const lines = [...groups].map(([what, files]) => `\n${what}: ${files.sort().join(', ')}`);
  return (
    `${lines.join('')}\nImports in recorded edits follow a move: claw customize "what you changed and why", ` +
    `then ${[`claw update ${shellWord(wanted)}`, ...again].join(' ')}`
  );
}

function told({ from, to }: Followed): string {
  return `${from} is ${to} now, and is still imported by its former path in`;
}
