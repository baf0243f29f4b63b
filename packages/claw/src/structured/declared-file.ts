import type { LayerDeclarations, StructuredInput, StructuredResult } from './declaration.ts';
import { composeServices } from './docker-services/compose-services.ts';
import { composeEnv } from './env.ts';
import { insertItem, setValue } from './json/json-edit.ts';
import { jsonBytes, readJson, valueAt } from './json/json-text.ts';
import { composeNpm, composeRanges, declaredRanges, unreadableRelease } from './npm/npm.ts';
import type { StructuredKind } from './structured-kind.ts';

/**
 * Recomputes a structured file from the release's and what all layers declare for it.
 *
 * Without a declaration for this file, the release's bytes are the result, untouched. The order of
 * the declarations decides only in which order a conflict names its two layers.
 *
 * @param input declarations in canonical order
 */
export function composeStructured(input: StructuredInput): StructuredResult {
  const { kind } = input;
  const declarations = input.declarations.filter(({ structured }) => isFor(kind, structured));
  if (declarations.length === 0) return { bytes: input.release, conflicts: [], outcome: {} };
  const concerned = { ...input, declarations };
  switch (kind) {
    case 'npm':
      return composeNpm(concerned);
    case 'env':
      return composeEnv(concerned);
    case 'compose':
      return composeServices(concerned);
    case 'container':
      return composeContainer(concerned);
    default:
      return { bytes: input.release, conflicts: [], outcome: {} };
  }
}

function isFor(kind: StructuredKind | null, declared: LayerDeclarations): boolean {
  switch (kind) {
    case 'npm':
      return Object.keys(declared.npmDependencies).length > 0;
    case 'env':
      return declared.envAdditions.length > 0;
    case 'compose':
      return Object.keys(declared.composeServices).length > 0;
    case 'container':
      return (
        declared.container.aptPackages.length > 0 ||
        Object.keys(declared.container.npmDependencies).length > 0
      );
    default:
      return false;
  }
}

const NEW_FILE = '{\n  "apt": [],\n  "npm": {}\n}\n';

/** Returns the image's package list: Debian packages are united, npm's ranges intersect. */
function composeContainer(input: StructuredInput): StructuredResult {
  const file = readJson(input.release ?? Buffer.from(NEW_FILE));
  if (!('root' in file)) return unreadableRelease(input, file);
  const wanted = declaredRanges(
    input.declarations,
    ({ structured }) => structured.container.npmDependencies,
  );
  const composed = composeRanges(file, { input, wanted, sections: ['npm'] });
  const packages = input.declarations.flatMap(({ structured }) => structured.container.aptPackages);
  const apt = [...new Set(packages)].sort();
  const listed = valueAt(file.root, ['apt']);
  if (listed !== null && listed.type !== 'array' && apt.length > 0) {
    return unreadableRelease(input, { line: 1, reason: '"apt" is not a list' });
  }
  return {
    bytes: jsonBytes(addPackages(composed.text, apt), input.release),
    conflicts: composed.conflicts,
    outcome: { apt_packages: apt, npm_dependencies: composed.ranges },
  };
}

function addPackages(text: string, packages: readonly string[]): string {
  let result = text;
  for (const name of packages) {
    const present = listedIn(result);
    if (present === null) {
      const value = `[\n${JSON.stringify(name)}\n]`;
      result = setValue(result, ['apt'], { value, place: () => 0 });
    } else if (!present.includes(name)) {
      const after = present.findIndex((other) => other > name);
      const at = after === -1 ? present.length : after;
      result = insertItem(result, ['apt'], { at, value: JSON.stringify(name) });
    }
  }
  return result;
}

function listedIn(text: string): readonly string[] | null {
  const file = readJson(Buffer.from(text));
  const list = 'root' in file ? valueAt(file.root, ['apt']) : null;
  return list?.type === 'array' ? (list.children ?? []).map(({ value }) => String(value)) : null;
}
