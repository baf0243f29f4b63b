import { resultOf, type VerbResult } from '../contract/result.ts';
import { ClawError, shellWord } from '../errors.ts';
import { createTreesReader, NO_REQUEST, type ReleaseRequest } from '../installed/release.ts';
import { missingConsent, shortNames } from '../operation/consent.ts';
import type { EngineContext, PlanningContext } from '../operation/context.ts';
import { skippedNotes } from '../operation/npm/npm.ts';
import { foreseeScripts, NO_SCRIPTS } from '../operation/npm/npm-scripts.ts';
import { asPlan, reportOperation } from '../operation/operation.ts';
import type { Operation } from '../operation/planned-operation.ts';
import { PLAIN_UPDATE, type UpdateOptions } from '../operation/update-options.ts';
import { planAdopt } from './adopt/adopt.ts';
import { topicWay } from './adopt/topics.ts';
import { findUpstream } from './adopt/upstream.ts';
import { planApply, requestPackages } from './apply.ts';
import { planCustomize } from './customize.ts';
import { patchesOf } from './diff.ts';
import { planInit } from './init.ts';
import { LEVELS } from './pack/next-version.ts';
import { isNewPackage, planNewPackage } from './pack/pack.ts';
import { planPackUpdate } from './pack/renew-package.ts';
import { planRebase } from './rebase.ts';
import { planRemove } from './remove.ts';
import { planReplay } from './replay.ts';
import { planUndo } from './undo.ts';
import { findNewestTag } from './update/new-release.ts';
import { planUpdate, readUnrecorded } from './update/update.ts';
import { planUpgrade } from './upgrade.ts';

/** A verb with its arguments; `release` is what the owner says of the release, as those verbs take it. */
export type PlannedVerb = {
  readonly verb: string;
  readonly args: readonly string[];
  readonly release?: ReleaseRequest;
  /** As an operation that waited keeps them. */
  readonly options?: Readonly<Record<string, string | null>>;
  /** With the changes of the project's files as patches. */
  readonly withPatches?: boolean;
  /** Options of an update beside its release. */
  readonly update?: UpdateOptions;
};

/**
 * Plans a changing verb. Touches nothing.
 *
 * @throws ClawError USAGE for a verb that cannot be planned, and every error of that verb
 */
export async function plan(
  context: EngineContext,
  planned: PlannedVerb,
): Promise<VerbResult<'plan'>> {
  const { verb } = planned;
  if (verb === 'undo') {
    refuseMisuse(verb, planned.args);
    return planUndo(context, planned.withPatches === true);
  }
  if (verb === 'update' && planned.args.length === 0) {
    const newest = await findNewestTag(context.root);
    if (newest.kind === 'found') return await plan(context, { ...planned, args: [newest.tag] });
    return resultOf('plan', 'nothing', { warnings: [newest.text] });
  }
  if (planned.options?.['by'] !== undefined && verb !== 'adopt') {
    throw new ClawError('USAGE', `${verb} takes no --by.`);
  }
  if (planned.options?.['renew'] === 'yes' && verb !== 'pack') {
    throw new ClawError('USAGE', `${verb} takes no --update.`);
  }
  if (await beginsPackage(context, planned)) {
    const [name = '', ...named] = planned.args;
    const made = await planNewPackage(context, name, named);
    return { ...made, verb: 'plan', data: { ...made.data, verb: 'pack' } };
  }
  const operation = await planVerb(context, planned);
  const isBlocked = operation.plan.conflicts.length > 0;
  const report = reportOperation(operation, isBlocked ? 'blocked' : 'done');
  const consent = missingConsent(operation, context.allow);
  const warnings = [
    ...report.warnings,
    ...shortNames(consent).map((path) => `This needs --allow ${shellWord(path)}.`),
  ];
  const isInstalled = verb !== 'adopt' && !isBlocked && context.skipsInstall !== true;
  const scripts = isInstalled ? await foreseeScripts(context, operation) : NO_SCRIPTS;
  const planReport = {
    ...report,
    warnings: [...warnings, ...skippedNotes(context, operation), ...scripts.warnings],
  };
  const patches = planned.withPatches ? { patches: patchesOf(operation.plan.changes) } : {};
  return asPlan(planReport, { consent, installScripts: scripts.packages, ...patches });
}

/** Tells whether `claw pack` is planned for a new name that the owner did not mark as existing. */
async function beginsPackage(
  context: EngineContext,
  { verb, args, options = {} }: PlannedVerb,
): Promise<boolean> {
  const [name] = args;
  if (verb !== 'pack' || name === undefined) return false;
  return options['renew'] !== 'yes' && (await isNewPackage(context, name));
}

/**
 * Plans a verb by its name, as its own function does.
 *
 * @throws ClawError USAGE for a verb that cannot be planned, and whatever that verb throws
 */
export async function planVerb(
  context: PlanningContext,
  { verb, args, release, options = {}, update }: PlannedVerb,
): Promise<Operation> {
  refuseMisuse(verb, args);
  refuseOptions(verb, release ?? NO_REQUEST, update ?? PLAIN_UPDATE);
  switch (verb) {
    case 'init':
      return await planInit(context, release ?? NO_REQUEST);
    case 'adopt': {
      const upstream = await findUpstream(context, args[0] ?? '');
      return await planAdopt(context, upstream, topicWay(options['by'] ?? 'one'));
    }
    case 'apply': {
      const readTrees = createTreesReader();
      const request = release ?? NO_REQUEST;
      const requested = await requestPackages(context, args, { request, readTrees });
      return await planApply(context, requested, request, readTrees);
    }
    case 'remove':
      return await planRemove(context, args);
    case 'upgrade':
      return await planUpgrade(context, args);
    case 'replay':
      return await planReplay(context);
    case 'update': {
      const given = update ?? PLAIN_UPDATE;
      const unrecorded = await readUnrecorded(context.root, given.release);
      const named = unrecorded === null ? given : { ...given, release: null };
      return await planUpdate(context, args[0] ?? '', named, null, unrecorded);
    }
    case 'customize':
      return await planCustomize(context, args[0] ?? '');
    case 'rebase':
      return await planRebase(context);
    case 'pack': {
      const [name = '', ...named] = args;
      const level = LEVELS.find((one) => one === options['level']) ?? null;
      const isUnproved = options['proof'] === 'none';
      return await planPackUpdate(context, name, { named, level, isUnproved });
    }
    default:
      throw new ClawError(
        'USAGE',
        `"${verb}" cannot be planned. These can: init, adopt, apply, remove, upgrade, replay, update, ` +
          'customize, rebase, undo and pack.',
      );
  }
}

function refuseMisuse(verb: string, args: readonly string[]): void {
  const takesSkills = ['apply', 'remove', 'pack'].includes(verb);
  const takesNothing = ['init', 'replay', 'rebase', 'undo'].includes(verb);
  const takesOne = {
    adopt: 'the address of upstream, or a ref',
    update: 'a folder or a git ref',
    customize: 'what you changed and why',
  }[verb];
  if (takesSkills && args.length === 0) throw new ClawError('USAGE', `Name a skill to ${verb}.`);
  if (takesOne !== undefined && args.length !== 1) {
    throw new ClawError('USAGE', `Give ${verb} one argument: ${takesOne}.`);
  }
  if (takesNothing && args.length > 0) {
    throw new ClawError('USAGE', `${verb} takes no arguments, but got ${args.join(' ')}.`);
  }
}

/** Refuses options that the planned verb itself does not take. */
function refuseOptions(
  verb: string,
  { release, coreVersion }: ReleaseRequest,
  { retireContained, keep, moved }: UpdateOptions,
): void {
  const isUpdate = verb === 'update';
  const wrong =
    release !== null && !['init', 'apply', 'update'].includes(verb)
      ? '--release'
      : coreVersion !== null && !['init', 'apply'].includes(verb)
        ? '--core-version'
        : retireContained && !isUpdate
          ? '--retire-contained'
          : keep.length > 0 && !isUpdate
            ? '--keep'
            : moved.length > 0 && !isUpdate
              ? '--moved'
              : null;
  if (wrong !== null) throw new ClawError('USAGE', `${verb} takes no ${wrong}.`);
}
