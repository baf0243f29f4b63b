import fc from 'fast-check';
import type { Doc } from './doc.ts';
import { type Core, type Disk, ENV_ID, type Id, type Layer, type Work } from './model.ts';

/** A codebase, its later releases, and packages for it, each in two versions. */
export type World = {
  readonly core: Core;
  readonly releases: readonly Release[];
  readonly skills: readonly Skill[];
};

export type Release = { readonly core: Core; readonly files: Disk };
export type Skill = { readonly name: string; readonly versions: readonly [Layer, Layer] };

export const NAMES = ['alpha', 'beta', 'gamma', 'delta'] as const;
const PICTURE = 'picture.png';
const PATHS = ['a.txt', 'src/b.txt', 'src/deep/c.txt', 'd.sh'] as const;
const SLOTS = 4;

const slot = fc.nat(SLOTS - 1);
const place = fc.record({ doc: fc.nat(PATHS.length - 1), slot });

const coreDoc = fc.record({
  isWindows: fc.boolean(),
  isExecutable: fc.integer({ min: 0, max: 3 }).map((n) => n === 3),
});

const releaseSeed = fc.record({
  changes: fc.array(fc.tuple(place, fc.constantFrom('released', 'shared', '')), { maxLength: 3 }),
  moved: fc.option(fc.nat(PATHS.length - 1), { nil: null }),
  isGone: fc.integer({ min: 0, max: 3 }).map((n) => n === 3),
  isLonger: fc.boolean(),
  picture: fc.boolean(),
  description: fc.boolean(),
  port: fc.boolean(),
});

const versionSeed = fc.record({
  changes: fc.array(fc.tuple(place, fc.constantFrom('own', 'own', 'shared', '')), { maxLength: 3 }),
  script: fc.option(fc.nat(PATHS.length - 1), { nil: null }),
  hasOwnFile: fc.boolean(),
  shared: fc.constantFrom(null, null, 'one', 'other'),
  isSetting: fc.boolean(),
  isMoving: fc.boolean(),
  picture: fc.constantFrom(null, null, null, 'own', 'shared'),
});

type ReleaseSeed = typeof releaseSeed extends fc.Arbitrary<infer T> ? T : never;
type VersionSeed = typeof versionSeed extends fc.Arbitrary<infer T> ? T : never;

export const world: fc.Arbitrary<World> = fc
  .record({
    docs: fc.array(coreDoc, { minLength: 2, maxLength: PATHS.length }),
    releases: fc.tuple(releaseSeed, releaseSeed),
    skills: fc.array(fc.tuple(versionSeed, versionSeed), { minLength: 4, maxLength: 4 }),
  })
  .map(({ docs, releases, skills }) => {
    const core = firstCore(docs);
    const second = nextRelease({ core, files: core.docs }, releases[0], 2);
    const third = nextRelease(second, releases[1], 3);
    return {
      core,
      releases: [{ core, files: core.docs }, second, third],
      skills: skills.map((seeds, nth) => skillOf(core, nth, seeds)),
      [fc.toStringMethod]: () => JSON.stringify({ docs, releases, skills }),
    };
  });

export function textDoc(slots: readonly string[], rest: Partial<Doc> = {}): Doc {
  return { style: 'text', slots, eol: '\n', isExecutable: false, ...rest };
}

function rawDoc(value: string): Doc {
  return { ...textDoc([`\0${value}\r\n\0`]), style: 'raw' };
}

function firstCore(seeds: readonly { isWindows: boolean; isExecutable: boolean }[]): Core {
  const docs = new Map<Id, Doc>();
  for (const [n, { isWindows, isExecutable }] of seeds.entries()) {
    const slots = Array.from({ length: SLOTS }, (_, at) => `core ${at}`);
    docs.set(PATHS[n] ?? '', textDoc(slots, { eol: isWindows ? '\r\n' : '\n', isExecutable }));
  }
  const settings = ['localhost', '80', ...NAMES.map(() => '')];
  docs.set(ENV_ID, { ...textDoc(settings), style: 'env' });
  docs.set(PICTURE, rawDoc('core'));
  docs.set('package.json', { ...textDoc(['1.0.0', 'an app', 'none']), style: 'json' });
  return { docs, moves: new Map() };
}

function nextRelease(before: Release, seed: ReleaseSeed, version: 2 | 3): Release {
  const docs = new Map(before.core.docs);
  const moves = new Map(before.core.moves);
  const texts = PATHS.filter((id) => docs.has(id));
  for (const [at, value] of seed.changes) {
    const id = texts[at.doc % texts.length] ?? '';
    docs.set(id, withSlot(docs, id, at.slot, value === 'released' ? `release ${version}` : value));
  }
  docs.set('package.json', withSlot(docs, 'package.json', 0, `${version}.0.0`));
  if (seed.description) {
    docs.set('package.json', withSlot(docs, 'package.json', 1, `an app, ${version}`));
  }
  if (seed.port) docs.set(ENV_ID, withSlot(docs, ENV_ID, 1, `8${version}`));
  if (seed.picture) docs.set(PICTURE, rawDoc(`release ${version}`));
  if (seed.isLonger) docs.set(`new${version}.txt`, textDoc([`new in ${version}`]));
  const last = texts.at(-1);
  if (seed.isGone && last !== undefined && last !== PATHS[0]) docs.delete(last);
  const moved = PATHS[seed.moved ?? -1];
  const map: Record<string, string> = {};
  if (moved !== undefined && docs.has(moved)) {
    const to = `moved${version}/${moved.split('/').at(-1)}`;
    map[moves.get(moved) ?? moved] = to;
    moves.set(moved, to);
  }
  if (Object.keys(map).length > 0) {
    const known = before.core.docs.get('migrations.yaml')?.slots[0] ?? '';
    const entry = JSON.stringify({ since: `${version}.0.0`, path_map: map });
    docs.set('migrations.yaml', { ...textDoc([`${known}- ${entry}\n`]), style: 'raw' });
  }
  const files = [...docs].map(([id, doc]) => [moves.get(id) ?? id, doc] as const);
  return { core: { docs, moves }, files: new Map(files) };
}

function skillOf(core: Core, nth: number, seeds: readonly [VersionSeed, VersionSeed]): Skill {
  const name = NAMES[nth] ?? '';
  const version = (seed: VersionSeed, number: number): Layer => ({
    name,
    version: number,
    isCustom: false,
    works: [...changesOf(core, seed, name, number), ...addsOf(seed, name, number)],
    setting: seed.isSetting ? nth : null,
  });
  return { name, versions: [version(seeds[0], 1), version(seeds[1], 2)] };
}

/** Among skills gamma alone deletes, delta alone renames: what two of them do is tested elsewhere. */
function changesOf(core: Core, seed: VersionSeed, name: string, version: number): readonly Work[] {
  const texts = PATHS.filter((id) => core.docs.has(id));
  const changed = new Map<Id, Doc>();
  const get = (id: Id) => changed.get(id) ?? core.docs.get(id) ?? textDoc([]);
  for (const [at, value] of seed.changes) {
    const id = texts[at.doc % texts.length] ?? '';
    changed.set(
      id,
      withSlot(
        new Map([[id, get(id)]]),
        id,
        at.slot,
        value === 'own' ? `${name} ${version}` : value,
      ),
    );
  }
  const script = texts[seed.script ?? -1];
  if (script !== undefined) changed.set(script, { ...get(script), isExecutable: true });
  if (seed.picture !== null) {
    changed.set(PICTURE, rawDoc(seed.picture === 'own' ? `${name} ${version}` : 'shared'));
  }
  const works: Work[] = [];
  const gone = texts.at(-1);
  if (name === 'gamma' && seed.isMoving && gone !== undefined && gone !== PATHS[0]) {
    works.push({ kind: 'delete', id: gone, base: core.docs.get(gone) ?? textDoc([]) });
    changed.delete(gone);
  }
  if (name === 'delta' && seed.isMoving) {
    works.push({ kind: 'rename', id: PATHS[0], to: 'renamed/by-delta.txt' });
    changed.delete(PATHS[0]);
  }
  for (const [id, after] of changed) {
    const base = core.docs.get(id) ?? textDoc([]);
    if (JSON.stringify(base) !== JSON.stringify(after))
      works.push({ kind: 'modify', id, base, after });
  }
  return works;
}

function addsOf(seed: VersionSeed, name: string, version: number): readonly Work[] {
  const own = textDoc([`${name} ${version}`, 'x'], { isExecutable: version === 2 });
  return [
    ...(seed.hasOwnFile ? [{ kind: 'add', id: `${name}/new.txt`, after: own } as const] : []),
    ...(seed.shared
      ? [{ kind: 'add', id: 'both/shared.txt', after: textDoc([seed.shared]) } as const]
      : []),
  ];
}

function withSlot(docs: ReadonlyMap<Id, Doc>, id: Id, slot: number, value: string): Doc {
  const doc = docs.get(id) ?? textDoc([]);
  return { ...doc, slots: doc.slots.map((old, at) => (at === slot ? value : old)) };
}
