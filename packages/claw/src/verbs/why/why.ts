import { type Blamed, blameStep, EDIT_OWNER, isBinary } from '../../compose/blame/blame.ts';
import type { Account } from '../../compose/blame/blame-composed.ts';
import {
  containedNotes,
  findContainedParts,
  gaveWayNotes,
} from '../../compose/contained-changes.ts';
import { findKind } from '../../compose/files/structured-file.ts';
import { type DataOf, resultOf, type VerbResult } from '../../contract/result.ts';
import { readTreeFile } from '../../installed/disk.ts';
import {
  type Installation,
  readInstalledPackages,
  requireState,
} from '../../installed/installation.ts';
import type { EngineContext } from '../../operation/context.ts';
import { mapPath } from '../../package/manifest/path-map.ts';
import type { SkillPackage } from '../../package/package.ts';
import { type Colour, cut, painted, type Screen, shown } from '../../text/screen.ts';
import { findPlace, type Place, requireLines } from './file-location.ts';
import {
  accountFor,
  blamePublished,
  describeOwner,
  type OwnerReport,
  publisherOf,
  requireInstallation,
} from './ownership.ts';

/** Lines of a file on disk that have one owner; numbers are 1-based and inclusive. */
type OwnedRange = OwnerReport & {
  readonly from: number;
  readonly to: number;
  /** The lines on disk; empty for a binary file. */
  readonly text: string;
};

/**
 * Names the owners of the lines of a file, or of a part of it: `src/a.ts`, `src/a.ts:12`, `src/a.ts:12-20`.
 */
export async function why(context: EngineContext, argument: string): Promise<VerbResult<'why'>> {
  const { root } = context;
  const installation = await requireInstallation(root);
  const place = await findPlace(context, installation, argument);
  const { path } = place;
  const account = once(() => accountFor(installation));
  const published = blamePublished(installation, path, account);
  const disk = readTreeFile(root, path);
  if (disk === null) {
    const gone = goneReport(installation, path, account);
    return resultOf('why', 'done', { data: { path, ranges: [], binary: false, gone } });
  }
  const warnings = releaseNotes(installation, path, account);
  const kind = findKind(path, installation.releaseFile);
  const binary = isBinary(disk);
  const blamed = blameStep(kind, published, { after: disk, owner: () => EDIT_OWNER });
  const ranges = rangesOf(blamed, place, (owner) => describeOwner(owner, installation, account));
  const shown = binary ? ranges.map((range) => ({ ...range, text: '' })) : ranges;
  return resultOf('why', 'done', { data: { path, ranges: shown, binary, gone: null }, warnings });
}

/** Says which changes of layers to a file are no lines of theirs, since the release has them or has gone on from them. */
function releaseNotes(
  installation: Installation,
  path: string,
  account: () => Account,
): readonly string[] {
  const { releaseFile, pathMaps, resolutions } = installation;
  const changes = ({ manifest: { modifies, coreVersion } }: SkillPackage) =>
    modifies.some((named) => mapPath(named, coreVersion, pathMaps) === path);
  const layers = readInstalledPackages(installation).filter(changes);
  if (layers.length === 0) return [];
  const parts = findContainedParts(layers, { releaseFile, pathMaps, changed: [path] });
  const resolved = account().composition.resolvedConflicts.filter(
    ({ conflict }) => conflict.path === path,
  );
  return [...containedNotes(parts), ...gaveWayNotes(resolved, resolutions)];
}

type Gone = OwnerReport & { readonly movedTo: string | null };

function goneReport(installation: Installation, path: string, account: () => Account): Gone {
  const describe = (owner: Parameters<typeof describeOwner>[0]) =>
    describeOwner(owner, installation, account);
  if (requireState(installation).files.get(path) !== 'deleted') {
    return { ...describe(EDIT_OWNER), movedTo: null };
  }
  const made = account();
  const owner = describe(publisherOf(installation, path, made));
  return { ...owner, movedTo: made.composition.renames.get(path) ?? null };
}

function rangesOf(
  blamed: Blamed,
  place: Place,
  describe: (owner: Blamed['owners'][number]) => OwnerReport,
): readonly OwnedRange[] {
  const { from, to } = requireLines(place, blamed.lines.length);
  const ranges: OwnedRange[] = [];
  let report = '';
  for (let line = from; line <= to; line += 1) {
    const owner = blamed.owners[line - 1];
    if (owner === undefined) continue;
    const described = describe(owner);
    const text = Buffer.from(blamed.lines[line - 1] ?? '', 'latin1').toString('utf8');
    const last = ranges.at(-1);
    const isSame = last !== undefined && JSON.stringify(described) === report;
    if (isSame) ranges[ranges.length - 1] = { ...last, to: line, text: last.text + text };
    else ranges.push({ from: line, to: line, ...described, text });
    report = JSON.stringify(described);
  }
  return ranges;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

type WhyData = DataOf<'why'>;
type Owner = Omit<WhyData['ranges'][number], 'from' | 'to' | 'text'>;

const COLOURS: Readonly<Record<Owner['kind'], Colour>> = {
  core: 'dim',
  skill: 'cyan',
  customisation: 'magenta',
  resolution: 'yellow',
  edit: 'green',
};

const LABEL_WIDTH = 24;

/**
 * Returns the lines with their owners beside them, each named where its part begins, and below who they are.
 */
export function whyLines(data: WhyData, screen: Screen): readonly string[] {
  const { path, ranges, binary, gone } = data;
  if (gone !== null) {
    const way = gone.movedTo === null ? 'deleted by' : `moved to ${gone.movedTo} by`;
    return [`${path} is not there: ${way} ${labelOf(gone)}.`, ...legend([gone])];
  }
  const [first] = ranges;
  if (first === undefined) return [`${path} is empty.`];
  if (binary) return [`${path} is binary: ${labelOf(first)}.`, ...legend(ranges)];
  const width = Math.min(LABEL_WIDTH, Math.max(...ranges.map((range) => labelOf(range).length)));
  const digits = String(ranges.at(-1)?.to ?? 0).length;
  const room = screen.columns === null ? Infinity : screen.columns - width - digits - 4;
  const lines = ranges.flatMap((range) =>
    textLines(range.text).map((text, at) => {
      const label = at === 0 ? cut(labelOf(range), width) : '';
      const head = painted(label.padEnd(width), COLOURS[range.kind], screen);
      const number = painted(String(range.from + at).padStart(digits), 'dim', screen);
      const words = shown(screen.columns === null ? text : text.replaceAll('\t', '  '), screen);
      return `${head}  ${number}  ${cut(words, Math.max(room, 8))}`.trimEnd();
    }),
  );
  const notes = legend(ranges);
  return notes.length === 0 ? lines : [...lines, '', ...notes];
}

function textLines(text: string): readonly string[] {
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

function labelOf({ owner, kind, version, key = '' }: Owner): string {
  if (kind === 'resolution') return `resolution ${key.slice(0, 8)}`;
  // The version of a customisation only counts how often it was recorded.
  return kind === 'customisation' || !version ? owner : `${owner} ${version}`;
}

/** Returns one line for each that a name alone does not explain. */
function legend(owners: readonly Owner[]): readonly string[] {
  const notes = owners.flatMap((owner) => {
    const { kind, description, key, layers, origin } = owner;
    if (kind === 'resolution') {
      const known: Readonly<Record<string, string>> = { owner: 'you', release: 'the release' };
      const by = origin == null ? 'an unknown author' : (known[origin] ?? origin);
      return [`resolution ${key}: ${layers?.join(' against ')}, resolved by ${by}`];
    }
    return description ? [`${labelOf(owner)}: ${description}`] : [];
  });
  return [...new Set(notes)];
}
