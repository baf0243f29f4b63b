import type { Conflict } from '../conflict.ts';
import {
  CORE,
  type Declaration,
  type StructuredInput,
  type StructuredResult,
} from './declaration.ts';
import { disagreement, unreadable } from './disagreement.ts';
import { setValue } from './json-edit.ts';
import { type JsonText, jsonBytes, membersOf, readJson, valueAt } from './json-text.ts';
import { intersectRanges } from './ranges.ts';

/** One party's wish for a package: the core's own range, or a layer's. */
type Wish = { readonly party: string; readonly range: string };

// npm reads the first of these that names a package; the range is narrowed where it stands.
const SECTIONS = ['dependencies', 'optionalDependencies', 'devDependencies', 'peerDependencies'];

const NEW_FILE = '{\n  "private": true,\n  "dependencies": {}\n}\n';

/** `package.json` with the ranges that all layers agree on; a new one where the release has none. */
export function composeNpm(input: StructuredInput): StructuredResult {
  const bytes = input.release ?? Buffer.from(NEW_FILE);
  const file = readJson(bytes);
  if (!('root' in file)) return unreadableRelease(input, file);
  const wanted = declaredRanges(input.declarations, ({ structured }) => structured.npmDependencies);
  const composed = composeRanges(file, { input, wanted, sections: SECTIONS });
  return {
    bytes: jsonBytes(composed.text, input.release),
    conflicts: composed.conflicts,
    outcome: { npm_dependencies: composed.ranges },
  };
}

/** What each layer wants of each package, packages by name. */
export function declaredRanges(
  declarations: readonly Declaration[],
  select: (declaration: Declaration) => Readonly<Record<string, string>>,
): ReadonlyMap<string, readonly Wish[]> {
  const wishes = new Map<string, Wish[]>();
  for (const declaration of declarations) {
    for (const [name, range] of Object.entries(select(declaration))) {
      wishes.set(name, [...(wishes.get(name) ?? []), { party: declaration.layer, range }]);
    }
  }
  return new Map([...wishes].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Writes the intersection of all wishes into the section that names a package, else into the first. */
export function composeRanges(
  file: JsonText,
  options: {
    readonly input: StructuredInput;
    readonly wanted: ReadonlyMap<string, readonly Wish[]>;
    readonly sections: readonly string[];
  },
): {
  readonly text: string;
  readonly conflicts: readonly Conflict[];
  readonly ranges: Readonly<Record<string, string>>;
} {
  const { input, wanted, sections } = options;
  let { text } = file;
  const conflicts: Conflict[] = [];
  const ranges: Record<string, string> = {};
  for (const [name, wishes] of wanted) {
    const holding = sections.filter((section) => valueAt(file.root, [section, name]) !== null);
    const section = holding[0] ?? sections[0] ?? '';
    const own = holding.map((key) => ({ party: CORE, range: rangeAt(file, key, name) }));
    const range = intersectRanges([...own, ...wishes].map((wish) => wish.range));
    if (range === null) {
      conflicts.push(clash(`${input.path}#${section}.${name}`, [...own, ...wishes], input));
      continue;
    }
    ranges[name] = range;
    if (own[0]?.range === range) continue;
    text = setValue(text, [section, name], {
      value: JSON.stringify(range),
      place: (keys) => sortedPlace(keys, name),
    });
  }
  return { text, conflicts, ranges };
}

/** Where npm itself would put a name among others. */
export function sortedPlace(names: readonly string[], name: string): number {
  const at = names.findIndex((present) => present.localeCompare(name, 'en') > 0);
  return at === -1 ? names.length : at;
}

/** The result for a release that cannot be read: nothing is composed onto what nobody understands. */
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

function clash(path: string, wishes: readonly Wish[], { release }: StructuredInput): Conflict {
  const pairs = wishes.flatMap((one, at) =>
    wishes.slice(at + 1).map((other) => [one, other] as const),
  );
  const apart = pairs.find(([one, other]) => intersectRanges([one.range, other.range]) === null);
  const parties = apart ?? wishes;
  const [ours, theirs] = [parties[0]?.party ?? CORE, parties.at(-1)?.party ?? CORE];
  const said = parties.map(({ party, range }) => `${party} asks for ${range}`).join(', ');
  return disagreement(path, [ours, theirs], {
    reason: `${said}: no version satisfies all of them.`,
    sides: { base: release, ours: release, theirs: release },
  });
}
