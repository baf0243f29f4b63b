import type { PoolModel } from '../../../lib/pipeline/calls.ts';
import { drawBeta } from '../random-draws.ts';
import { type Choice, type Decision, defineStage, type Evidence } from '../stage.ts';

/**
 * Chooses by Thompson sampling: for each model the share of good answers is drawn from its Beta posterior, and the
 * model is asked for which share times worth, less the cost of a turn, is the most. So what is little known is tried
 * now and then, and what is known to be worse ever less. Hard work makes an answer worth up to three times as much as
 * easy work does.
 *
 * Turns that nobody rated count a quarter where their shape and tools could be checked.
 *
 * Until the first rating of a type the order of the pool holds.
 *
 * Source: Chapelle, Li: An Empirical Evaluation of Thompson Sampling (2011)
 */
export const stage = defineStage({ name: 'thompson', stage: 'route', run: decide });

/** An answer of the right shape may still be wrong. */
const CHECK_WEIGHT = 0.25;

function decide(choice: Choice): Decision {
  const { profile, evidence, worthUsd, random } = choice;
  const models = ableOnes(choice);
  const [top = choice.models[0], second] = models;
  if (top === undefined) throw new Error('There is no model to choose.');
  if (second === undefined)
    return { first: top.name, why: 'It is the only one of its pool that can do this.' };
  const known = models.map(({ name }) => evidence.find(({ model }) => model === name));
  if (known.every((one) => one === undefined || one.rated === 0)) {
    return {
      first: top.name,
      why: `No ${profile.type} answer has been rated yet, so the pool's order holds.`,
    };
  }
  const worth = worthUsd * (0.5 + profile.complexity);
  const costs = known.flatMap((one) => one?.costUsd ?? []);
  // What has not answered yet counts as cheap: it is tried, and then its cost is known.
  const unknownCost = costs.length === 0 ? 0 : Math.min(...costs);
  const drawn = models.map(({ name }, at) => {
    const one = known[at];
    const { rated = 0, good = 0, checked = 0, passed = 0 } = one ?? {};
    const isGood = good + CHECK_WEIGHT * passed;
    const isBad = rated - good + CHECK_WEIGHT * (checked - passed);
    const share = drawBeta(1 + isGood, 1 + isBad, random);
    const cost = one?.costUsd ?? unknownCost;
    return { name, share, one, value: share * worth - cost };
  });
  const best = drawn.reduce((one, other) => (other.value > one.value ? other : one));
  const lines = drawn.map(
    ({ name, share, one, value }) =>
      `\`${name}\` drew ${share.toFixed(2)} (${knowledge(one)}), worth ${usd(value)}`,
  );
  return {
    first: best.name,
    why: `A good answer counts ${usd(worth)} here. ${lines.join('; ')}.`,
  };
}

/** Leaves out models that cannot see what came along, or have no tools, where others can and have. */
function ableOnes({ models, hasPictures }: Choice): readonly PoolModel[] {
  const keep = (some: readonly PoolModel[], able: (model: PoolModel) => boolean) =>
    some.some(able) ? some.filter(able) : some;
  const handy = keep(models, ({ hasTools }) => hasTools);
  return hasPictures ? keep(handy, ({ seesPictures }) => seesPictures) : handy;
}

function knowledge(one: Evidence | undefined): string {
  if (one === undefined || one.turns === 0) return 'new here';
  const cost = one.costUsd === null ? 'price unknown' : `${usd(one.costUsd)} a turn`;
  return `${Number(one.good.toFixed(1))} of ${one.rated} good, ${checksOf(one)}${cost}`;
}

function checksOf({ checked = 0, passed = 0 }: Evidence): string {
  return checked === 0 ? '' : `${Math.round((passed / checked) * 100)} % of ${checked} checked, `;
}

function usd(amount: number): string {
  return `${amount < 0 ? '-' : ''}$${Math.abs(amount).toFixed(3)}`;
}
