import type { Conflict } from '../../conflict.ts';
import {
  CORE,
  type Declaration,
  type StructuredInput,
  type StructuredResult,
} from '../declaration.ts';
import { disagreement, unreadable } from '../disagreement.ts';
import { removeValue, setValue } from '../json/json-edit.ts';
import { type JsonText, jsonBytes, membersOf, readJson, valueAt } from '../json/json-text.ts';
import { intersectRanges } from './ranges.ts';

/** One party's requirement for a package: the core's own range, or a layer's. */
type Requirement = { readonly party: string; readonly range: string };

/** Ranges of layers that took the place of the core's, by package. */
type Overrides = Readonly<Record<string, { readonly core: string; readonly range: string }>>;

// npm reads the first of these sections that names a package; the range is narrowed in its section.
const SECTIONS = ['dependencies', 'optionalDependencies', 'devDependencies', 'peerDependencies'];

const NEW_FILE = '{\n  "private": true,\n  "dependencies": {}\n}\n';

/** Composes `package.json` with the ranges that all layers agree on; a new one where the release has none. */
export function composeNpm(input: StructuredInput): StructuredResult {
  const bytes = input.release ?? Buffer.from(NEW_FILE);
  const file = readJson(bytes);
  if (!('root' in file)) return unreadableRelease(input, file);
  const wanted = declaredRanges(input.declarations, ({ structured }) => structured.npmDependencies);
  const overriding = new Set(
    input.declarations.flatMap(({ structured }) => structured.npmOverrides),
  );
  const composed = composeRanges(file, { input, wanted, sections: SECTIONS, overriding });
  const { overrides } = composed;
  return {
    bytes: jsonBytes(composed.text, input.release),
    conflicts: composed.conflicts,
    outcome: {
      npm_dependencies: composed.ranges,
      ...(Object.keys(overrides).length > 0 ? { npm_overrides: overrides } : {}),
    },
  };
}

/** Collects the ranges that each layer wants, packages by name. */
export function declaredRanges(
  declarations: readonly Declaration[],
  select: (declaration: Declaration) => Readonly<Record<string, string>>,
): ReadonlyMap<string, readonly Requirement[]> {
  const requirements = new Map<string, Requirement[]>();
  for (const declaration of declarations) {
    for (const [name, range] of Object.entries(select(declaration))) {
      requirements.set(name, [
        ...(requirements.get(name) ?? []),
        { party: declaration.layer, range },
      ]);
    }
  }
  return new Map([...requirements].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Writes the intersection of all requirements into the section that names a package, else into the first. */
export function composeRanges(
  file: JsonText,
  options: {
    readonly input: StructuredInput;
    readonly wanted: ReadonlyMap<string, readonly Requirement[]>;
    readonly sections: readonly string[];
    /** Packages of which a layer's range may take the place of the core's; none by default. */
    readonly overriding?: ReadonlySet<string>;
  },
): {
  readonly text: string;
  readonly conflicts: readonly Conflict[];
  readonly ranges: Readonly<Record<string, string>>;
  readonly overrides: Overrides;
} {
  const { input, wanted, sections, overriding = new Set() } = options;
  let { text } = file;
  const conflicts: Conflict[] = [];
  const ranges: Record<string, string> = {};
  const overrides: Record<string, Overrides[string]> = {};
  for (const [name, requirements] of wanted) {
    const holding = sections.filter((section) => valueAt(file.root, [section, name]) !== null);
    const section = holding[0] ?? sections[0] ?? '';
    const own = holding.map((key) => ({ party: CORE, range: rangeAt(file, key, name) }));
    const met = overriding.has(name)
      ? own.filter((requirement) => areTogether([requirement, ...requirements]))
      : own;
    const agreed = agree(`${input.path}#${section}.${name}`, [...met, ...requirements], input);
    conflicts.push(...agreed.conflicts);
    if (agreed.range === null) {
      if (agreed.conflicts.length === 0) text = removeValue(text, [section, name]);
      continue;
    }
    const { range } = agreed;
    ranges[name] = range;
    if (own[0] !== undefined && met.length < own.length) {
      overrides[name] = { core: own[0].range, range };
    }
    if (own[0]?.range === range) continue;
    text = setValue(text, [section, name], {
      value: JSON.stringify(range),
      place: (keys) => sortedPlace(keys, name),
    });
  }
  return { text, conflicts, ranges, overrides };
}

function areTogether(requirements: readonly Requirement[]): boolean {
  return intersectRanges(requirements.map(({ range }) => range)) !== null;
}

/** Returns the index at which npm itself would insert a name. */
export function sortedPlace(names: readonly string[], name: string): number {
  const at = names.findIndex((present) => present.localeCompare(name, 'en') > 0);
  return at === -1 ? names.length : at;
}

/** Makes the result for an unreadable release: nothing is composed onto it. */
export function unreadableRelease(
  input: StructuredInput,
  fault: { readonly line: number; readonly reason: string },
): StructuredResult {
  const { path, release } = input;
  const reason = `${path} of the core cannot be read (line ${fault.line}: ${fault.reason}).`;
  const sides = { base: release, ours: release, theirs: release };
  const layer = input.declarations[0]?.layer ?? CORE;
  return {
    bytes: release,
    conflicts: [unreadable(path, [CORE, layer], { reason, sides })],
    outcome: {},
  };
}

function rangeAt(file: JsonText, section: string, name: string): string {
  return String(membersOf(valueAt(file.root, [section])).get(name)?.value);
}

type Agreed = { readonly range: string | null; readonly conflicts: readonly Conflict[] };

/**
 * Returns the range of all requirements; null with a conflict where they have none, and without where none is
 * wanted.
 */
function agree(path: string, requirements: readonly Requirement[], input: StructuredInput): Agreed {
  const base = requirements.find(({ party }) => party === CORE)?.range ?? null;
  let left = requirements;
  while (left.length > 0) {
    const common = intersectRanges(left.map(({ range }) => range));
    if (common !== null) return { range: common, conflicts: [] };
    const apart = farApart(left);
    const conflict = clash(path, apart, { base, input });
    const decided = input.decide?.(conflict) ?? null;
    if (decided === null || !isRangeOrNothing(decided.value)) {
      return { range: null, conflicts: [conflict] };
    }
    // The decided range is still to be combined with the others' ranges.
    const { value } = decided;
    const party = apart.at(-1)?.party ?? CORE;
    const others = left.filter((requirement) =>
      apart.every(({ range }) => range !== requirement.range),
    );
    if (value === null && others.length === 1)
      return { range: others[0]?.range ?? null, conflicts: [] };
    left = value === null ? others : [{ party, range: value }, ...others];
  }
  return { range: null, conflicts: [] };
}

function isRangeOrNothing(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && intersectRanges([value]) !== null);
}

/** Returns two requirements that no version satisfies; all of them where they only disagree together. */
function farApart(requirements: readonly Requirement[]): readonly Requirement[] {
  const pairs = requirements.flatMap((one, at) =>
    requirements.slice(at + 1).map((other) => [one, other]),
  );
  const apart = pairs.find((pair) => intersectRanges(pair.map(({ range }) => range)) === null);
  return apart ?? requirements;
}

function clash(
  path: string,
  requirements: readonly Requirement[],
  { base, input: { release } }: { readonly base: string | null; readonly input: StructuredInput },
): Conflict {
  const [first, last] = [requirements[0], requirements.at(-1)];
  const said = requirements.map(({ party, range }) => `${party} asks for ${range}`).join(', ');
  const others = requirements.slice(0, -1).map(({ range }) => range);
  return disagreement(path, [first?.party ?? CORE, last?.party ?? CORE], {
    reason: `${said}: no version satisfies all of them.`,
    sides: { base: release, ours: release, theirs: release },
    values: {
      base,
      ours: intersectRanges(others) ?? first?.range ?? null,
      theirs: last?.range ?? null,
    },
  });
}
