import fc from 'fast-check';
import { expect, test } from 'vitest';
import { partingPoint } from './cores.ts';

const RUNS = Number(process.env['CLAW_PARTING_RUNS'] ?? 3_000);

/** A random history: each commit has one or two earlier ones as parents, and upstream's or the owner's as its author. */
const Commit = fc.record({
  parents: fc.array(fc.nat(), { minLength: 1, maxLength: 2 }),
  isOwners: fc.boolean(),
});
const Case = fc.record({
  commits: fc.array(Commit, { minLength: 2, maxLength: 40 }),
  head: fc.nat(),
  release: fc.nat(),
  core: fc.option(fc.nat()),
});

/** Returns all ancestors of each commit, itself among them. What upstream releases has no commit of the owner's in it. */
function historyOf({ commits }: typeof Case extends fc.Arbitrary<infer T> ? T : never) {
  const ancestors: ReadonlySet<number>[] = [new Set([0])];
  const isOwners = [false];
  for (const [at, commit] of commits.entries()) {
    const parents = commit.parents.map((parent) => parent % (at + 1));
    ancestors.push(new Set([at + 1, ...parents.flatMap((one) => [...(ancestors[one] ?? [])])]));
    isOwners.push(commit.isOwners || parents.some((one) => isOwners[one]));
  }
  return { ancestors, isOwners };
}

test('the point where histories part is a part of the release, so it holds no commit of the owner’s', async () => {
  await fc.assert(
    fc.asyncProperty(Case, async (drawn) => {
      const { ancestors, isOwners } = historyOf(drawn);
      const upstream = isOwners.flatMap((owners, at) => (owners ? [] : [at]));
      const release = upstream[drawn.release % upstream.length] ?? 0;
      const [head, core] = [drawn.head % ancestors.length, drawn.core];
      const ancestorsOf = (id: string) => ancestors[Number(id)] ?? new Set<number>();
      // The newest of the common ones; any of several is as good.
      const mergeBase = async (one: string, other: string) =>
        String(Math.max(...[...ancestorsOf(one)].filter((at) => ancestorsOf(other).has(at))));
      const told = core === null ? null : core % ancestors.length;
      const parting = await partingPoint(
        { core: told === null ? null : String(told), head: String(head), release: String(release) },
        mergeBase,
      );
      const found = Number(parting);
      expect(ancestors[release]?.has(found)).toBe(true);
      expect(isOwners[found]).toBe(false);
      // What the tree was made from holds it too: nothing that is missing here counts as taken out.
      expect(ancestors[head]?.has(found) || (told !== null && ancestors[told]?.has(found))).toBe(
        true,
      );
    }),
    { numRuns: RUNS },
  );
});

test('histories without a common commit have no such point', async () => {
  const tips = { core: 'a', head: 'b', release: 'c' };
  expect(await partingPoint(tips, async () => null)).toBe(null);
});
