import { satisfies } from 'semver';
import { ClawError } from '../errors.ts';
import type { Manifest } from './manifest/manifest.ts';
import type { SkillPackage } from './package.ts';

/**
 * Puts layers into the one canonical order: what is depended on first, then by name; customisations
 * last, in the order in which they were made. The order in which skills come in does not count, so
 * every installation of the same set composes the same tree.
 *
 * A dependence that is not in the set is left to `checkRelations`.
 *
 * @throws ClawError GRAPH_INVALID for a cycle, naming it, and for one name given twice
 */
export function orderLayers(packages: readonly SkillPackage[]): readonly SkillPackage[] {
  const waiting = byName(packages.filter(({ kind }) => kind === 'skill'));
  const ordered: SkillPackage[] = [];
  while (waiting.size > 0) {
    const next = [...waiting.values()].find((skill) => neededOf(skill, waiting).length === 0);
    if (next === undefined) throw cycleError(findCycle(waiting));
    waiting.delete(next.manifest.skill);
    ordered.push(next);
  }
  return [...ordered, ...packages.filter(({ kind }) => kind === 'customisation')];
}

/**
 * Returns everything that skills depend on, directly or not, each once and none of the skills themselves.
 *
 * @param find returns a package by its name; undefined leaves it out, with what it alone needs
 */
export function dependencesOf(
  skills: readonly SkillPackage[],
  find: (name: string) => SkillPackage | undefined,
): readonly SkillPackage[] {
  const seen = new Set(skills.map(({ manifest }) => manifest.skill));
  const found: SkillPackage[] = [];
  for (const { manifest } of skills) collect(manifest);
  return found;

  function collect({ depends }: Manifest): void {
    for (const { name } of depends) {
      if (seen.has(name)) continue;
      seen.add(name);
      const needed = find(name);
      if (needed === undefined) continue;
      found.push(needed);
      collect(needed.manifest);
    }
  }
}

/**
 * Checks that skills can be applied together: every dependence is there in a fitting version, and no two
 * exclude each other, whichever of them says so.
 *
 * @throws ClawError SKILL_NEEDED, then SKILL_CONFLICT, with the names in `data`
 */
export function checkRelations(packages: readonly SkillPackage[]): void {
  const manifests = new Map(packages.map(({ manifest }) => [manifest.skill, manifest]));
  for (const manifest of manifests.values()) checkNeeds(manifest, manifests);
  for (const manifest of manifests.values()) {
    const other = manifest.conflicts.find((name) => manifests.has(name));
    if (other === undefined) continue;
    throw new ClawError(
      'SKILL_CONFLICT',
      `${manifest.skill} cannot be installed together with ${other}: remove one of them first.`,
      { data: { skill: manifest.skill, other } },
    );
  }
}

function byName(packages: readonly SkillPackage[]): Map<string, SkillPackage> {
  const named = packages.map((skill) => [skill.manifest.skill, skill] as const);
  const sorted = new Map(named.sort(([one], [other]) => (one < other ? -1 : 1)));
  const twice = named.find(([name], at) => named[at + 1]?.[0] === name);
  if (twice !== undefined) {
    throw new ClawError('GRAPH_INVALID', `The skill ${twice[0]} is given twice. Name it once.`, {
      data: { skill: twice[0] },
    });
  }
  return sorted;
}

function neededOf(
  skill: SkillPackage,
  waiting: ReadonlyMap<string, SkillPackage>,
): readonly string[] {
  return skill.manifest.depends.map(({ name }) => name).filter((name) => waiting.has(name));
}

/**
 * Finds a cycle: every waiting skill waits for another one here, so following any of them must come round.
 */
function findCycle(waiting: ReadonlyMap<string, SkillPackage>): readonly string[] {
  const trail: string[] = [];
  let [name] = waiting.keys();
  while (name !== undefined && !trail.includes(name)) {
    trail.push(name);
    const skill = waiting.get(name);
    name = skill === undefined ? undefined : neededOf(skill, waiting)[0];
  }
  return name === undefined ? trail : [...trail.slice(trail.indexOf(name)), name];
}

function cycleError(cycle: readonly string[]): ClawError {
  return new ClawError(
    'GRAPH_INVALID',
    `These skills depend on each other in a cycle: ${cycle.join(' → ')}. None can come first.`,
    { data: { cycle } },
  );
}

function checkNeeds(manifest: Manifest, present: ReadonlyMap<string, Manifest>): void {
  for (const { name, range } of manifest.depends) {
    const found = present.get(name)?.version ?? null;
    if (found !== null && satisfies(found, range, { includePrerelease: true })) continue;
    const data = { skill: manifest.skill, needed: name, range, found };
    throw new ClawError(
      'SKILL_NEEDED',
      found === null
        ? `${manifest.skill} needs the skill ${name}: apply it as well.`
        : `${manifest.skill} needs ${name}@${range}, but ${found} is here: upgrade ${name}.`,
      { data },
    );
  }
}
