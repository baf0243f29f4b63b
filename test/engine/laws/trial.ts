import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import * as engine from '../../../packages/claw/src/index.ts';
import { type Call, carryOut, contextAt, type Killer } from './call.ts';
import { type Answer, type Deed, describeDeed, type Edit, type Kill, type Verb } from './deeds.ts';
import { filesIn, filesOf, layOut, layOutSkill, temporaryFolder } from './disk.ts';
import { type Doc, isSameDoc } from './doc.ts';
import { haltAt } from './halt.ts';
import { compose, type Disk, ENV_ID, type Side, treeOf } from './model.ts';
import {
  appliedNames,
  customDescription,
  customName,
  freshNames,
  type Prediction,
  predict,
  type Situation,
} from './prediction.ts';
import { textDoc, type World } from './world.ts';

const RECORDING: readonly Deed[] = [
  { kind: 'edit', edit: { kind: 'new', name: 'last.txt', value: 'mine' } },
  { kind: 'verb', verb: { kind: 'customize' }, answer: 'abort' },
];

/** One codebase on which a sequence of verbs and edits happens, and what the model says of it. */
export class Trial {
  readonly #folder = temporaryFolder();
  readonly #root = join(this.#folder, 'app');
  readonly #story: string[] = [];
  readonly #kill: Kill | null;
  readonly #killer: Killer;
  #at: Situation;
  #verbs = 0;
  #kills = 0;

  constructor(world: World, kill: Kill | null, killer: Killer) {
    this.#kill = kill;
    this.#killer = killer;
    const published = compose(world.core, [], new Map(), null);
    this.#at = {
      world,
      model: { release: 0, layers: [], recordings: new Map(), published },
      disk: treeOf(published),
      done: [],
      offered: new Map(world.skills.map(({ name, versions }) => [name, versions[0]])),
      customisations: 1,
    };
  }

  /**
   * Carries a sequence out; throws with the whole story where something is not as it has to be.
   *
   * @param then what is looked at in the end, in place of a clone and of the tree without its layers
   */
  async run(
    deeds: readonly Deed[],
    then: ((root: string) => Promise<void>) | null = null,
  ): Promise<{ readonly kills: number }> {
    try {
      fs.mkdirSync(this.#root);
      layOut(this.#root, new Map(), this.#at.disk);
      for (const layer of this.#at.offered.values()) layOutSkill(this.#root, layer);
      const release = this.#releaseFolder(0);
      await engine.init(contextAt(this.#root), { release, coreVersion: null });
      for (const deed of deeds) await this.#deed(deed);
      // A sequence too short for its kill gets one more verb, which always has something to do.
      if (this.#kill !== null && this.#verbs <= this.#kill.verb) {
        this.#verbs = this.#kill.verb;
        for (const deed of RECORDING) await this.#deed(deed);
      }
      await this.#verify();
      if (then !== null) await then(this.#root);
      else {
        await this.#replayElsewhere();
        await this.#takeAllOut();
      }
      return { kills: this.#kills };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${this.#story.join('\n')}\n${reason}`, { cause: error });
    } finally {
      fs.rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  async #deed(deed: Deed): Promise<void> {
    if (deed.kind === 'edit') {
      const disk = edited(this.#at.disk, deed.edit);
      layOut(this.#root, this.#at.disk, disk);
      this.#at = { ...this.#at, disk };
      this.#story.push(describeDeed(deed));
      return;
    }
    const predicted = predict(this.#at, deed.verb, null);
    if (predicted === null) return;
    this.#story.push(describeDeed(deed));
    if (deed.verb.kind === 'update' && fs.existsSync(join(this.#root, '.claw/pending'))) {
      await expect(this.#call(deed.verb)).rejects.toMatchObject({ code: 'OPERATION_PENDING' });
      await engine.abort(contextAt(this.#root));
    }
    const isKilled = this.#kill !== null && this.#verbs === this.#kill.verb;
    this.#verbs += 1;
    if (isKilled) await this.#killed(deed.verb, predicted, this.#kill);
    else await this.#carryOut(deed.verb, deed.answer, predicted);
    this.#expectTree();
  }

  async #carryOut(verb: Verb, answer: Answer, predicted: Prediction): Promise<void> {
    const result = await this.#call(verb);
    this.#story.push(`  ${result.outcome} ${result.conflicts.map(({ path }) => path).join(' ')}`);
    if (predicted.conflicts.size === 0) {
      this.#take(verb, result.outcome, predicted);
      return;
    }
    const paths = result.conflicts.map(({ path }) => path).sort();
    expect({ outcome: result.outcome, paths }).toEqual({
      outcome: 'blocked',
      paths: [...predicted.conflicts].sort(),
    });
    this.#expectTree();
    if (answer === 'abort') await engine.abort(contextAt(this.#root));
    else if (answer !== 'leave') await this.#resolve(verb, answer);
  }

  async #resolve(verb: Verb, side: Side): Promise<void> {
    const context = contextAt(this.#root);
    this.#story.push(`  resolve --${side}, continue`);
    const resolved = predict(this.#at, verb, side);
    if (resolved === null) throw new Error('what could be begun can be continued');
    for (let round = 0; ; round += 1) {
      const { data } = await engine.conflicts(context);
      for (const path of openPaths(data)) await engine.resolve(context, path, { kind: side });
      const result = await engine.continueOperation(context);
      if (result.outcome === 'blocked' && round < 8) continue;
      this.#take(verb, result.outcome, resolved);
      return;
    }
  }

  /** Checks that a verb did what was predicted, and takes over its effect. */
  #take(verb: Verb, outcome: string, predicted: Prediction): void {
    expect(outcome === 'done' || outcome === 'nothing', outcome).toBe(true);
    const { disk, model, done, customisations } = this.#at;
    const transaction = {
      before: model,
      diskBefore: disk,
      diskAfter: predicted.disk,
      moves: predicted.moves,
    };
    const isUndo = verb.kind === 'undo';
    const grown = outcome === 'done' && done !== null ? [...done, transaction].slice(-10) : done;
    this.#at = {
      ...this.#at,
      model: predicted.model,
      disk: predicted.disk,
      done: isUndo ? (done?.slice(0, -1) ?? null) : grown,
      customisations: customisations + (verb.kind === 'customize' ? 1 : 0),
    };
  }

  async #killed(verb: Verb, predicted: Prediction, { moment, next, again }: Kill): Promise<void> {
    const call = this.#prepare(verb);
    const twin = `${this.#folder}/twin`;
    fs.cpSync(this.#root, twin, { recursive: true });
    // A copy's records of earlier commands count only at the owner's word.
    await engine.recover(contextAt(twin), 'adopt');
    const watch = haltAt(twin, null, () => {});
    const planned = await carryOut(contextAt(twin), call).finally(() => watch.end());
    fs.rmSync(twin, { recursive: true });
    const nth = 1 + Math.floor(moment * watch.count());
    this.#story.push(`  killed at ${nth} of ${watch.count()} (${planned.outcome}), then ${next}`);
    const stateBefore = this.#state();
    const isKilled = await this.#killer(this.#root, call, nth);
    this.#story.push(isKilled ? '  killed' : '  done before it could be killed');
    this.#kills += isKilled ? 1 : 0;
    if (again !== null) await this.#stopAt(again, next);
    await this.#recover(next);
    const isBlocked = predicted.conflicts.size > 0;
    const isAfter = !isBlocked && this.#state() !== stateBefore;
    this.#story.push(`  is ${isAfter ? 'after' : 'before'}`);
    if (isAfter) this.#take(verb, planned.outcome, predicted);
    // The transaction that was undone goes after the undo itself is done: either may be the last.
    if (isAfter && verb.kind === 'undo') this.#at = { ...this.#at, done: null };
    this.#expectTree();
    await engine.abort(contextAt(this.#root));
    expect(leftovers(this.#root)).toEqual([]);
    await this.#verify();
  }

  /** A recovery that gets no further than to one of its own changes. */
  async #stopAt(nth: number, next: Kill['next']): Promise<void> {
    const watch = haltAt(this.#root, nth, () => {});
    try {
      await this.#recover(next);
    } catch (error) {
      if (!watch.isHalted()) throw error;
      this.#story.push(`  stopped again at ${nth}`);
    } finally {
      watch.end();
    }
  }

  async #recover(next: Kill['next']): Promise<void> {
    const context = contextAt(this.#root);
    if (next === 'status') await engine.status(context);
    else if (next === 'verify') await engine.verify(context);
    else if (next === 'recover') await engine.recover(context, null);
    else await engine.abort(context);
  }

  /** Disk, state and composition agree, but for the edits that the model knows of. */
  async #verify(): Promise<void> {
    const { model, disk } = this.#at;
    const published = treeOf(model.published);
    const paths = [...new Set([...published.keys(), ...disk.keys()])];
    const edits = paths.filter(
      (path) => !isSameDoc(published.get(path) ?? null, disk.get(path) ?? null),
    );
    const { outcome, data } = await engine.verify(contextAt(this.#root));
    expect({ outcome, data }).toMatchObject({
      outcome: 'done',
      data: { recomposed: [], damaged: [], edits: edits.sort().map((path) => ({ path })) },
    });
    expect((await engine.list(contextAt(this.#root), { available: false })).data).toMatchObject(
      model.layers.map(({ name }) => ({ name })),
    );
  }

  /** A bare clone of the core with the committed state replays to what was composed here. */
  async #replayElsewhere(): Promise<void> {
    const { world, model } = this.#at;
    const root = join(this.#folder, 'clone');
    fs.mkdirSync(root);
    layOut(root, new Map(), world.releases[model.release]?.files ?? new Map());
    const isCommitted = (path: string) => !/\.claw\/(pending|backup|tx|cache|lock\.db)/.test(path);
    fs.cpSync(join(this.#root, '.claw'), join(root, '.claw'), {
      recursive: true,
      filter: isCommitted,
    });
    const result = await engine.replay(contextAt(root));
    expect(result.conflicts).toEqual([]);
    expect(filesOf(root)).toEqual(filesIn(treeOf(model.published)));
  }

  /** Without its layers it is the release and the edits, byte for byte. */
  async #takeAllOut(): Promise<void> {
    const names = this.#at.model.layers.map(({ name }) => name);
    if (names.length === 0) return;
    const verb = { kind: 'remove', names } as const;
    const predicted = predict(this.#at, verb, null);
    if (predicted === null || predicted.conflicts.size > 0) return;
    this.#story.push(`remove ${names.join(' ')}`);
    await this.#carryOut(verb, 'abort', predicted);
    this.#expectTree();
    const prepared = fs.readdirSync(join(this.#root, '.claw/cache'));
    expect(prepared.filter((name) => /^(base|pending)-/.test(name))).toEqual([]);
  }

  #expectTree(): void {
    expect(filesOf(this.#root)).toEqual(filesIn(this.#at.disk));
  }

  #state(): string {
    return fs.readFileSync(join(this.#root, '.claw/state.yaml'), 'utf8');
  }

  async #call(verb: Verb): Promise<engine.VerbResult> {
    return await carryOut(contextAt(this.#root), this.#prepare(verb));
  }

  #prepare(verb: Verb): Call {
    switch (verb.kind) {
      case 'apply':
        return { kind: 'apply', names: freshNames(this.#at, verb.names) };
      case 'remove':
        return { kind: 'remove', names: appliedNames(this.#at, verb.names) };
      case 'drop':
        return { kind: 'remove', names: [customName(this.#at, verb.nth) ?? ''] };
      case 'upgrade':
        return { kind: 'upgrade', names: this.#offerNewer(appliedNames(this.#at, verb.names)) };
      case 'update':
        return { kind: 'update', names: [this.#releaseFolder(verb.release)] };
      case 'customize':
        return { kind: 'customize', names: [customDescription(this.#at)] };
      default:
        return { kind: verb.kind, names: [] };
    }
  }

  #offerNewer(names: readonly string[]): readonly string[] {
    const offered = new Map(this.#at.offered);
    for (const { name, versions } of this.#at.world.skills) {
      if (!names.includes(name)) continue;
      offered.set(name, versions[1]);
      layOutSkill(this.#root, versions[1]);
    }
    this.#at = { ...this.#at, offered };
    return names;
  }

  #releaseFolder(release: number): string {
    const folder = join(this.#folder, `release-${release}`);
    if (!fs.existsSync(folder)) {
      fs.mkdirSync(folder);
      layOut(folder, new Map(), this.#at.world.releases[release]?.files ?? new Map());
    }
    return folder;
  }
}

/** A hand on a file: the n-th that there is, in the order of their names. */
function edited(disk: Disk, edit: Edit): Disk {
  const next = new Map(disk);
  if (edit.kind === 'new') return next.set(edit.name, textDoc([edit.value]));
  const paths = [...disk.keys()].filter((path) => path !== 'migrations.yaml').sort();
  const path = paths[edit.file % paths.length] ?? '';
  const doc = disk.get(path);
  if (doc === undefined) return disk;
  const isStructured = doc.style !== 'text';
  if (edit.kind === 'delete') {
    if (!isStructured) next.delete(path);
    return next;
  }
  if (doc.style === 'raw')
    return next.set(path, { ...doc, slots: [`\0${'value' in edit ? edit.value : 'mine'}`] });
  if (edit.kind === 'slot') return next.set(path, withEdit(doc, edit.slot, edit.value, path));
  if (isStructured) return disk;
  return next.set(
    path,
    edit.kind === 'mode'
      ? { ...doc, isExecutable: !doc.isExecutable }
      : { ...doc, eol: doc.eol === '\n' ? '\r\n' : '\n' },
  );
}

/** Declared settings and the version are left to those whose they are. */
function withEdit(doc: Doc, slot: number, value: string, path: string): Doc {
  const at =
    path === ENV_ID ? slot % 2 : doc.style === 'json' ? 1 + (slot % 2) : slot % doc.slots.length;
  return { ...doc, slots: doc.slots.map((old, index) => (index === at ? value : old)) };
}

function openPaths(data: unknown): readonly string[] {
  const isOpen = typeof data === 'object' && data !== null && 'open' in data;
  return isOpen && Array.isArray(data.open) ? data.open : [];
}

/** Returns files that may not remain after a kill, a recovery and one more command. */
function leftovers(root: string): readonly string[] {
  const inside = (folder: string) => {
    const path = join(root, '.claw', folder);
    return fs.existsSync(path) ? fs.readdirSync(path).map((name) => `${folder}/${name}`) : [];
  };
  const known =
    /^(base|backup|cache|composed|custom|inferred|packages|resolutions|tx|lock\.db|state\.yaml|\.git(ignore|attributes))$/;
  return [
    ...inside('tx').filter((path) => path !== 'tx/.gitignore'),
    ...fs.readdirSync(join(root, '.claw')).filter((name) => !known.test(name)),
  ];
}
