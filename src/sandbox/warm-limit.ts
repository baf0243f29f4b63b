import type { GroupContainer } from './group.ts';

/** Returns the groups that give up their containers so that one more can start: those that idle longest. */
export function groupsToRetire(
  others: readonly GroupContainer[],
  maxContainers: number,
): readonly GroupContainer[] {
  const warm = others.filter((group) => group.isWarm);
  const surplus = warm.length + 1 - maxContainers;
  return warm
    .flatMap((group) => (group.idleSince === null ? [] : [{ group, since: group.idleSince }]))
    .sort((one, other) => one.since - other.since)
    .slice(0, Math.max(0, surplus))
    .map(({ group }) => group);
}
