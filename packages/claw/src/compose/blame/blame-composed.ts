import { splitLines } from '@patchclaw/merge';
import type { Resolution } from '../../installed/resolution.ts';
import type { SkillPackage } from '../../package/package.ts';
import { declarersOf, type KeyPath } from '../../structured/json/line-keys.ts';
import { structuredKind } from '../../structured/structured-kind.ts';
import type { ComposedFile, Composition } from '../composition.ts';
import type { ResolvedConflict } from '../resolve-conflict.ts';
import type { Touch } from './attribution.ts';
import {
  type Blamed,
  type BlameStep,
  blameStep,
  blameWhole,
  CORE_OWNER,
  type Owner,
} from './blame.ts';

/** A composition and what it was made from. */
export type Account = {
  readonly composition: Composition;
  readonly layers: readonly SkillPackage[];
  readonly resolutions: readonly Resolution[];
};

/**
 * Attributes each line of a composed file: carries the release's lines through the work of every layer that
 * touched it.
 */
export function blameComposed(account: Account, path: string, composed: ComposedFile): Blamed {
  const { touches } = composed;
  const first = touches[0] ? touches[0].before : composed.file;
  const naming = createNaming(account, path, composed);
  let blamed = blameWhole(first, CORE_OWNER);
  const kind = structuredKind(path, account.composition.ownStructured);
  for (const touch of touches) blamed = blameStep(kind, blamed, naming(touch));
  return blamed;
}

/** Returns the owner of the file as a whole, for example of its deletion. */
export function lastOwner({ resolutions }: Account, { touches, file }: ComposedFile): Owner {
  const last = touches.findLast(({ before }) => (before === null) !== (file === null));
  const touch = last ?? touches.at(-1);
  if (touch === undefined) return CORE_OWNER;
  return touch.resolved === null
    ? { kind: 'layers', names: [touch.layer] }
    : resolutionOwner(touch.resolved, resolutions, null);
}

type Naming = (touch: Touch) => BlameStep;

function createNaming(account: Account, path: string, { touches, origin }: ComposedFile): Naming {
  const { layers, resolutions, composition } = account;
  const kind = structuredKind(path, composition.ownStructured);
  const one = sameOwners();
  const skills = new Set(
    layers.filter(({ kind }) => kind === 'skill').map(({ manifest }) => manifest.skill),
  );
  const declarations = layers
    .filter(({ manifest }) => skills.has(manifest.skill))
    .map(({ manifest }) => ({ layer: manifest.skill, structured: manifest.structured }));
  const declaring = touches.map(({ layer }) => layer).filter((layer) => skills.has(layer));
  const resolved = composition.resolvedConflicts.filter(({ conflict }) =>
    conflict.path.startsWith(`${path}#`),
  );
  return (touch) => {
    // Declarations of skills are composed in one go: the first skill carries the lines of all.
    const isDeclared = kind !== null && skills.has(touch.layer);
    const party = isDeclared ? declaring : [touch.layer];
    const ofParty = resolved.filter(({ conflict }) => party.includes(conflict.layers[1]));
    const authors = authorsOf(touch, layers, [path, origin]);
    const answered = answeredLines(touch, { resolutions, authors, one });
    return {
      after: touch.after,
      claim: (line, keys) => {
        const resolved = keys === null ? undefined : ofParty.find(speaksOf(path, keys));
        return resolved
          ? one(resolutionOwner(resolved, resolutions, null))
          : (answered.get(line) ?? null);
      },
      owner: (_, keys) => {
        if (touch.resolved !== null && touch.resolved.answer.kind === 'file') {
          return one(resolutionOwner(touch.resolved, resolutions, null));
        }
        const names = isDeclared && keys !== null ? declarersOf(kind, keys, declarations) : [];
        return one({ kind: 'layers', names: names.length > 0 ? names : party });
      },
    };
  };
}

/**
 * Returns, where one conflict was about several layers, the layer that alone brings a line, by the line as
 * latin1; null for a line that several bring.
 */
function authorsOf(
  { resolved }: Touch,
  layers: readonly SkillPackage[],
  paths: readonly string[],
): ReadonlyMap<string, string | null> {
  const authors = new Map<string, string | null>();
  const names = resolved?.conflict.layers[1].split(', ') ?? [];
  if (names.length < 2) return authors;
  for (const { manifest, files } of layers) {
    const file = paths.map((path) => files.get(`modify/${path}`)).find((one) => one !== undefined);
    if (file === undefined || !names.includes(manifest.skill)) continue;
    for (const line of new Set(splitLines(file.bytes.toString('latin1')))) {
      authors.set(line, authors.has(line) ? null : manifest.skill);
    }
  }
  return authors;
}

type Answering = {
  readonly resolutions: readonly Resolution[];
  readonly authors: ReadonlyMap<string, string | null>;
  readonly one: (owner: Owner) => Owner;
};

/** Returns the lines that resolve the hunks of a conflict, in the text that they were put into. */
function answeredLines(
  { resolved }: Touch,
  { resolutions, authors, one }: Answering,
): ReadonlyMap<number, Owner> {
  const owners = new Map<number, Owner>();
  if (resolved === null || resolved.answer.kind !== 'hunks') return owners;
  const waiting = [...resolved.answer.hunks];
  let line = 0;
  for (const hunk of resolved.conflict.hunks) {
    const answer = hunk.kind === 'resolved' ? undefined : waiting.shift();
    const lines = hunk.kind === 'resolved' ? hunk.lines : (answer?.resolved ?? []);
    const text =
      answer === undefined ? null : JSON.stringify([answer.base, answer.ours, answer.theirs]);
    const owner = text === null ? null : one(resolutionOwner(resolved, resolutions, text));
    for (const words of lines) {
      const isOld = answer?.base.includes(words) || answer?.ours.includes(words);
      const author = isOld ? null : (authors.get(words) ?? null);
      const alone: Owner | null = author === null ? owner : { kind: 'layers', names: [author] };
      if (owner !== null && alone !== null) owners.set(line, one(alone));
      line += 1;
    }
  }
  return owners;
}

/** @param hunk the hunk in question, where several recordings resolved one conflict */
function resolutionOwner(
  { conflict, keys }: ResolvedConflict,
  resolutions: readonly Resolution[],
  hunk: string | null,
): Owner {
  const used = resolutions.filter(({ key }) => keys.includes(key));
  const speaking = used.find(
    ({ answer }) =>
      answer.kind === 'hunks' &&
      answer.hunks.some(({ base, ours, theirs }) => JSON.stringify([base, ours, theirs]) === hunk),
  );
  const recording = speaking ?? used[0];
  return {
    kind: 'resolution',
    key: recording?.key ?? '',
    layers: conflict.layers,
    origin: recording?.origin ?? null,
  };
}

function speaksOf(path: string, keys: KeyPath): (resolved: ResolvedConflict) => boolean {
  const place = `${path}#${keys.join('.')}`;
  return ({ conflict }) => place === conflict.path || place.startsWith(`${conflict.path}.`);
}

/** Makes equal owners one object, so that they can be compared by identity. */
function sameOwners(): (owner: Owner) => Owner {
  const known = new Map<string, Owner>();
  return (owner) => {
    const text = JSON.stringify(owner);
    const same = known.get(text) ?? owner;
    known.set(text, same);
    return same;
  };
}
