import { disputesOf } from '../compose/answer.ts';
import { type Conflict, OWNER } from '../conflict.ts';
import { ClawError, shellWord } from '../errors.ts';
import type { State } from '../installed/state-file.ts';
import type { Pending } from '../pending/pending.ts';
import type { HunkChoice, PlainChoice } from './choice.ts';

type Side = 'ours' | 'theirs';
type Layers = readonly [ours: string, theirs: string];

/** The roles of layers in a waiting command, by their names. */
export type Roles = {
  /** The command brings it. */
  readonly comes: (layer: string) => boolean;
  /** It is the owner's own: their edits, or a customisation. */
  readonly isOwners: (layer: string) => boolean;
};

/** The words that `--take` knows beside names of layers. */
const WORDS = { release: 'release', mine: 'mine' } as const;

/** Returns who comes with a waiting command, and what is the owner's. */
export function rolesIn({ verb, arguments: args }: Pending, state: State | null): Roles {
  const layers = state?.layers ?? [];
  const customisations = new Set(
    layers.flatMap(({ kind, name }) => (kind === 'customisation' ? [name] : [])),
  );
  const installed = new Set(layers.map(({ name }) => name));
  const isOwners = (layer: string) => layer === OWNER || customisations.has(layer);
  const comes = (layer: string) => {
    if (isOwners(layer)) return false;
    if (isRelease(layer)) return verb === 'update';
    if (verb === 'upgrade') return args.length === 0 || args.includes(layer);
    return !installed.has(layer);
  };
  return { comes, isOwners };
}

/**
 * Returns the side that a person means who knows `ours` and `theirs` from git: what is there, and what comes.
 *
 * @throws ClawError USAGE where the canonical order of layers has them the other way round
 */
export function sideOfWord(conflict: Conflict, word: Side, roles: Roles): Side {
  const turned = placesOf(conflict).find((layers) => isTurned(layers, roles));
  if (turned === undefined) return word;
  const [ours, theirs] = turned;
  const takes = turned.map((layer) => `--take ${shellWord(takeWord(layer, turned, roles))}`);
  throw new ClawError(
    'USAGE',
    `In ${conflict.path} ours would be ${described(ours, roles)}, and theirs ${described(theirs, roles)}: the other way ` +
      `round than in git. Name the side that you want: ${takes.join(' or ')}.`,
    { path: conflict.path },
  );
}

/**
 * Returns the choice of one side by the name of its layer, at every place of a conflict. Several names with commas
 * between them count as one side; `release` is the core, `mine` what is the owner's.
 *
 * @throws ClawError USAGE where a place has no such side
 */
export function choiceByLayer(conflict: Conflict, name: string, roles: Roles): PlainChoice {
  const sides = sidesByLayer(conflict, name, roles);
  const [first = 'ours'] = sides;
  if (sides.every((side) => side === first)) return { kind: first };
  return { kind: 'picks', picks: sides };
}

/** Returns the choice of both sides, those of one layer first. @throws ClawError as the two functions above do */
export function bothByLayer(conflict: Conflict, first: string, roles: Roles): PlainChoice {
  if (first === 'ours' || first === 'theirs') {
    return { kind: 'both', first: sideOfWord(conflict, first, roles) };
  }
  const sides = sidesByLayer(conflict, first, roles);
  const [one = 'ours'] = sides;
  if (sides.every((side) => side === one)) return { kind: 'both', first: one };
  const picks = sides.map((side): HunkChoice => (side === 'ours' ? 'ours-theirs' : 'theirs-ours'));
  return { kind: 'picks', picks };
}

/** Returns the words by which `--take` takes the sides of a conflict. */
export function takeWords({ layers }: Conflict, roles: Roles): Layers {
  const [ours, theirs] = layers;
  return [takeWord(ours, layers, roles), takeWord(theirs, layers, roles)];
}

function sidesByLayer(conflict: Conflict, name: string, roles: Roles): readonly Side[] {
  return placesOf(conflict).map((layers) => {
    const found = layers.map((layer) => isNamed(layer, name, roles));
    if (found[0] !== found[1]) return found[0] ? 'ours' : 'theirs';
    const takes = layers.map((layer) => takeWord(layer, layers, roles));
    const what = found[0] ? 'both sides are' : 'no side is';
    throw new ClawError(
      'USAGE',
      `${conflict.path}: ${what} ${name} where ${layers.join(' and ')} disagree. Say ` +
        `${takes.map((one) => `--take ${shellWord(one)}`).join(' or ')}, or choose place by place with --choose.`,
      { path: conflict.path },
    );
  });
}

/** Returns the sides at each place; of a conflict without lines, those of the whole. */
function placesOf(conflict: Conflict): readonly Layers[] {
  const disputes = disputesOf(conflict).map(({ layers }) => layers);
  return disputes.length === 0 ? [conflict.layers] : disputes;
}

function isTurned([ours, theirs]: Layers, { comes, isOwners }: Roles): boolean {
  const all = (layer: string, has: (name: string) => boolean) => namesIn(layer).every(has);
  if (all(ours, isOwners)) return false;
  return all(theirs, isOwners) || (all(ours, comes) && !all(theirs, comes));
}

function isNamed(layer: string, given: string, { isOwners }: Roles): boolean {
  const names = namesIn(layer);
  if (layer === given || names.some((name) => namesIn(given).includes(name))) return true;
  if (given === WORDS.release) return names.some(isRelease);
  return given === WORDS.mine && names.every(isOwners);
}

/** Returns the shortest word that names a side and not the other one. */
function takeWord(layer: string, layers: Layers, roles: Roles): string {
  const words = isRelease(layer) ? [WORDS.release] : [WORDS.mine];
  const fits = words.find((word) => {
    const named = layers.filter((one) => isNamed(one, word, roles));
    return named.length === 1 && named[0] === layer;
  });
  return fits ?? layer;
}

function described(layer: string, { isOwners }: Roles): string {
  if (isRelease(layer)) return 'the release’s';
  if (layer === OWNER) return 'yours';
  return namesIn(layer).every(isOwners) ? `yours (${layer})` : `${layer}’s`;
}

function namesIn(layer: string): readonly string[] {
  return layer.split(', ');
}

function isRelease(layer: string): boolean {
  return layer === 'core' || layer.startsWith('core without ');
}
