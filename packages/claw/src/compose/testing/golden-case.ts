import { isSameFile, type Tree, type TreeFile } from '@patchclaw/merge';
import { parse } from 'yaml';
import { mapPath, type PathMap } from '../../package/manifest/path-map.ts';
import type { SkillPackage } from '../../package/package.ts';
import { manifestText } from '../../package/package-fixture.ts';
import { packageFromFiles } from '../../package/package-from-files.ts';
import { type GivenAnswer, readAnswer } from './golden-answer.ts';
import { fileOf, type Section } from './golden-text.ts';

const OLD_CORE = '0.1.0';
const NEW_CORE = '0.2.0';

/** Everything that a plan is made of, as a golden file gives it. */
export type GoldenCase = {
  /** The installed release, and the one that the command brings: mostly the same. */
  readonly release: Tree;
  readonly newRelease: Tree;
  /** Moves of files from the old release to the new one. */
  readonly pathMaps: readonly PathMap[];
  readonly installed: readonly SkillPackage[];
  readonly wanted: readonly SkillPackage[];
  /** Files that differ from what the last command left; null for a deleted one. */
  readonly edits: ReadonlyMap<string, TreeFile | null>;
  readonly answers: readonly GivenAnswer[];
};

/**
 * Reads what a golden case gives.
 *
 * @throws Error for a heading that nothing reads
 */
export function readCase(sections: readonly Section[]): GoldenCase {
  const reader = new Reader(sections);
  const release = treeOf(reader.take(/^release: (\S+)$/));
  const changed = treeOf(reader.take(/^new release: (\S+)$/));
  const moves = reader.take(/^new release moves: (\S+) to (\S+)$/);
  const paths = Object.fromEntries(moves.map(({ match: [, from = '', to = ''] }) => [from, to]));
  const pathMaps = moves.length > 0 ? [{ since: NEW_CORE, paths }] : [];
  const newRelease = new Map(
    [...release].map(([path, file]) => [mapPath(path, OLD_CORE, pathMaps), file]),
  );
  for (const [path, file] of changed) newRelease.set(path, file);
  const layers = readLayers(reader, { release: present(release), newRelease: present(newRelease) });
  const edits = treeOf(reader.take(/^disk: (\S+)$/));
  const installed = namedOf(reader.take(/^installed: (.+)$/), layers) ?? [];
  const wanted = namedOf(reader.take(/^wanted: (.+)$/), layers) ?? [...layers.values()];
  const answers = reader.take(/^(recorded|decided)\b/).map(({ section }) => readAnswer(section));
  reader.refuseRest();
  return {
    release: present(release),
    newRelease: present(newRelease),
    pathMaps,
    installed,
    wanted,
    edits,
    answers,
  };
}

/**
 * Returns what a plan needs to know of the new release: the files that it changed, and those that it moved.
 */
export function coreChange(
  { release, newRelease, pathMaps }: GoldenCase,
  touched: Iterable<string>,
): { readonly changed: readonly string[]; readonly moves: ReadonlyMap<string, string> } {
  const all = new Set([...release.keys(), ...newRelease.keys()]);
  const changed = [...all].filter(
    (path) => !isSameFile(release.get(path) ?? null, newRelease.get(path) ?? null),
  );
  const known = [...new Set([...release.keys(), ...touched])];
  const moves = known.map((path) => [path, mapPath(path, OLD_CORE, pathMaps)] as const);
  return { changed, moves: new Map(moves.filter(([from, to]) => from !== to)) };
}

type Found = { readonly section: Section; readonly match: RegExpMatchArray };

class Reader {
  #rest: readonly Section[];

  constructor(sections: readonly Section[]) {
    this.#rest = sections;
  }

  take(pattern: RegExp): readonly Found[] {
    const found: Found[] = [];
    this.#rest = this.#rest.filter((section) => {
      const match = section.words.match(pattern);
      if (match) found.push({ section, match });
      return !match;
    });
    return found;
  }

  refuseRest(): void {
    for (const { words } of this.#rest)
      throw new Error(`no golden case has a heading "-- ${words}"`);
  }
}

type Draft = ReadonlyMap<string, TreeFile | null>;
type Releases = { readonly release: Tree; readonly newRelease: Tree };

function treeOf(found: readonly Found[]): Draft {
  return new Map(found.map(({ section, match }) => [match[1] ?? '', fileOf(section)]));
}

function present(draft: Draft): Tree {
  return new Map([...draft].flatMap(([path, file]) => (file === null ? [] : [[path, file]])));
}

function namedOf(
  found: readonly Found[],
  layers: ReadonlyMap<string, SkillPackage>,
): readonly SkillPackage[] | null {
  const [first] = found;
  if (first === undefined) return null;
  const names = (first.match[1] ?? '').split(', ').filter((name) => name !== 'none');
  return names.map((name) => {
    const layer = layers.get(name) ?? layers.get(`${name} 1.0.0`);
    if (layer === undefined) throw new Error(`this case has no layer ${name}`);
    return layer;
  });
}

const LAYER = /^(layer|customisation) ([a-z0-9-]+)(?: (\d\S*))?: (\w+) ?(.*)$/;

/** Returns the packages by name and version, in the order in which the file first names them. */
function readLayers(reader: Reader, releases: Releases): ReadonlyMap<string, SkillPackage> {
  const parts = Map.groupBy(
    reader.take(LAYER),
    ({ match: [, , name, version = '1.0.0'] }) => `${name} ${version}`,
  );
  return new Map([...parts].map(([id, found]) => [id, makeLayer(found, releases)]));
}

type Part = { readonly deed: string; readonly rest: string; readonly section: Section };

function makeLayer(found: readonly Found[], releases: Releases): SkillPackage {
  const [, kind, skill, version = '1.0.0'] = found[0]?.match ?? [];
  const parts = found.map(({ section, match: [, , , , deed = '', rest = ''] }) => ({
    deed,
    rest,
    section,
  }));
  const rests = (deed: string) =>
    parts.filter((part) => part.deed === deed).map(({ rest }) => rest);
  const files = new Map(parts.flatMap((part) => filesOf(part, releases)));
  const declared = parts.find(({ deed }) => deed === 'declares')?.section.text ?? '{}';
  const manifest = manifestText({
    skill,
    version,
    core_version: rests('core')[0] ?? OLD_CORE,
    adds: rests('add'),
    modifies: rests('modify'),
    file_ops: parts.flatMap(fileOpOf),
    depends: rests('needs'),
    structured: parse(declared),
  });
  files.set('manifest.yaml', { bytes: Buffer.from(manifest), isExecutable: false });
  const layer = packageFromFiles(files, {
    protectedPaths: [],
    kind: kind === 'customisation' ? 'customisation' : 'skill',
  });
  const unknown = parts.filter(({ section }) => section.flags.has('base unknown'));
  return { ...layer, withoutBase: new Set(unknown.map(({ rest }) => rest)) };
}

const DEEDS = ['add', 'modify', 'base', 'delete', 'rename', 'move', 'needs', 'core', 'declares'];

/** Returns the files of a package that one heading declares: its own, and the one it was written against. */
function filesOf(
  { deed, rest, section }: Part,
  { release, newRelease }: Releases,
): readonly (readonly [string, TreeFile])[] {
  if (!DEEDS.includes(deed)) throw new Error(`a layer cannot "${deed}"`);
  const isFile = ['add', 'modify', 'base'].includes(deed);
  const file = isFile ? fileOf(section) : null;
  const [path = ''] = rest.split(' to ');
  const { flags } = section;
  const core = flags.has('base as release')
    ? release
    : flags.has('base as new release')
      ? newRelease
      : null;
  const base = core?.get(path) ?? null;
  if (core !== null && base === null) throw new Error(`the release has no ${path} to be a base`);
  return [
    ...(file === null ? [] : [[`${deed}/${path}`, file] as const]),
    ...(base === null ? [] : [[`base/${path}`, base] as const]),
  ];
}

function fileOpOf({ deed, rest }: Part): readonly object[] {
  if (deed === 'delete') return [{ type: 'delete', path: rest }];
  if (deed !== 'rename' && deed !== 'move') return [];
  const [from, to] = rest.split(' to ');
  return [{ type: deed, from, to }];
}
