import type { Conflict } from '../conflict.ts';
import type { SkillPackage } from '../skill/package.ts';
import { composeStructured } from '../structured/compose.ts';
import { structuredKind } from '../structured/kind.ts';
import type { TreeFile } from '../tree.ts';
import { Canvas, type Composition } from './composition.ts';
import { mergeLayer } from './layer.ts';
import { Names } from './names.ts';

export type ComposeInput = {
  /** The release's file at a path, or null. */
  readonly release: (path: string) => TreeFile | null;
  /** In canonical order. */
  readonly layers: readonly SkillPackage[];
};

/**
 * The release with each layer merged on in order. A pure function of file contents: no clock, no
 * disk, no network. Disagreement is a conflict in the result, never an exception.
 */
export function compose({ release, layers }: ComposeInput): Composition {
  const canvas = new Canvas(release);
  const names = new Names();
  for (const layer of layers) mergeLayer(canvas, names, layer);
  const structured = composeDeclarations(canvas, release, layers);
  return {
    files: canvas.files(),
    conflicts: canvas.conflicts(),
    renames: names.all(),
    structured,
  };
}

/** Files that are never text-merged, in the order in which they are composed. */
const STRUCTURED_PATHS = [
  'package.json',
  '.env.example',
  'docker-compose.yml',
  'docker-compose.yaml',
  'compose.yml',
  'compose.yaml',
  'container/packages.json',
] as const;

type Outcomes = Record<string, Readonly<Record<string, unknown>>>;

function composeDeclarations(
  canvas: Canvas,
  release: (path: string) => TreeFile | null,
  layers: readonly SkillPackage[],
): Outcomes {
  const outcomes: Outcomes = {};
  for (const path of structuredTargets(release)) {
    const concerned = layers.filter((layer) => declares(layer, path));
    if (concerned.length === 0) continue;
    const file = release(path);
    const composed = composeStructured({
      path,
      release: file?.bytes ?? null,
      declarations: concerned.map(({ manifest }) => ({
        layer: manifest.skill,
        structured: manifest.structured,
      })),
    });
    for (const conflict of composed.conflicts) canvas.conflict(conflict satisfies Conflict);
    outcomes[path] = composed.outcome;
    if (composed.bytes === null) continue;
    const made = { bytes: composed.bytes, isExecutable: file?.isExecutable ?? false };
    for (const { manifest } of concerned) canvas.put(path, made, manifest.skill);
  }
  return outcomes;
}

/** The compose file has four possible names; the one that the release has counts, else the first. */
function structuredTargets(release: (path: string) => TreeFile | null): readonly string[] {
  const composeFiles = STRUCTURED_PATHS.filter((path) => structuredKind(path) === 'compose');
  const present = composeFiles.find((path) => release(path) !== null) ?? composeFiles[0];
  return STRUCTURED_PATHS.filter((path) => structuredKind(path) !== 'compose' || path === present);
}

function declares({ manifest }: SkillPackage, path: string): boolean {
  const { npmDependencies, envAdditions, composeServices, container } = manifest.structured;
  switch (structuredKind(path)) {
    case 'npm':
      return Object.keys(npmDependencies).length > 0;
    case 'env':
      return envAdditions.length > 0;
    case 'compose':
      return Object.keys(composeServices).length > 0;
    case 'container':
      return container.aptPackages.length > 0 || Object.keys(container.npmDependencies).length > 0;
    default:
      return false;
  }
}
