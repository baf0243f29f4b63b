import { counted } from '../../lib/pipeline/count-words.ts';
import { KEPT_DAYS, type KnownTurn } from './ledger.ts';
import { type Evidence, TASK_TYPES, type TaskType } from './stage.ts';

type Report = {
  readonly isLearning: boolean;
  readonly worthUsd: number;
  readonly ratings: number;
  readonly evidenceOf: (type: TaskType) => readonly Evidence[];
  /** The last turn of this chat. */
  readonly last: KnownTurn | null;
};

/** Writes for the owner what was learned, and why the last turn of a chat got its model. */
export function reportOf({ isLearning, worthUsd, ratings, evidenceOf, last }: Report): string {
  const types = TASK_TYPES.map((type) => [type, evidenceOf(type)] as const).filter(
    ([, evidence]) => evidence.length > 0,
  );
  const head = isLearning
    ? `Learned from ${counted(ratings, 'rating')} of the last ${KEPT_DAYS} days. A good answer counts $${worthUsd.toFixed(2)} against its cost.`
    : 'Learning is off (`PIPELINE_LEARNING=off`): the order of the pool holds, and nothing is kept.';
  const lists = types.map(([type, evidence]) => `**${type}**\n${evidence.map(line).join('\n')}`);
  const none =
    'No turn has been counted yet. React to an answer with 👍 or 👎, or say `/good` or `/bad` after it.';
  return [head, ...(lists.length === 0 ? [none] : lists), ...lastLines(last)].join('\n\n');
}

function line({ model, turns, rated, good, costUsd, checked = 0, passed = 0 }: Evidence): string {
  const rate = rated === 0 ? 'not rated' : `${Number(good.toFixed(1))} of ${rated} good`;
  const cost = costUsd === null ? 'price unknown' : `$${costUsd.toFixed(4)} a turn`;
  const checks =
    checked === 0
      ? ''
      : `, shape and tools right in ${Math.round((passed / checked) * 100)} % of ${counted(checked, 'other turn')}`;
  return `- \`${model}\`: ${rate}${checks}, ${cost}, ${counted(turns, 'turn')}`;
}

function lastLines(last: KnownTurn | null): readonly string[] {
  if (last === null) return [];
  const { type, complexity, why, model } = last;
  const who = model === null ? '' : ` \`${model}\` answered.`;
  return [`**The last turn here** was taken for ${type}, complexity ${complexity}.${who} ${why}`];
}
