import { limitsInWords, spentOf } from '../host/budget/amount.ts';
import { OWN_CHATS } from '../host/budget/budget-report.ts';
import { type CommandContext, defineCommand } from '../host/contracts/command.ts';
import { joined, wordsOf } from '../host/groups/command-words.ts';
import { answerOrRefusal, groupAndRest } from '../host/groups/group-command.ts';
import { GroupRefused } from '../host/groups/group-refused.ts';
import { priceText } from '../host/models/model-text.ts';
import type { Group, Limits } from '../store/store.ts';

const USAGE =
  'Say `/budget 2 10 usd` or `/budget 2 500000 tokens` for what the chat may spend in a day, `none` for no limit, `default` for the usual limit.';

export const command = defineCommand({
  scope: 'owner',
  name: 'budget',
  topic: 'work',
  help: 'show what was spent today; `/budget 2 10 usd` sets what chat 2 may spend in a day; also `500000 tokens`, `none`, `default`',
  complete: ({ store }) =>
    store.groups
      .all()
      .flatMap(({ name }) => ['', 'default', 'none'].map((word) => `${name.trim()} ${word}`)),
  isQuick: true,
  run: (context, argument) =>
    answerOrRefusal(async () => {
      const words = wordsOf(argument);
      if (words.length === 0) return { kind: 'answer', text: await listOf(context) };
      const { group, rest } = groupAndRest(context, words);
      const { budgets } = context;
      if (rest.length > 0) {
        const limits = readLimits(joined(rest), budgets.limitsOf(group.folder));
        const wasUsedUp = budgets.isUsedUp(group.folder);
        budgets.set(group.folder, limits === 'default' ? null : limits);
        const isBack = wasUsedUp && !budgets.isUsedUp(group.folder);
        const retry = isBack
          ? ` Say \`${retryLine(context, group)}\` for what was not answered.`
          : '';
        return { kind: 'answer', text: `${lineOf(context, group.folder)}${retry}` };
      }
      return { kind: 'answer', text: lineOf(context, group.folder) };
    }),
});

/** The command that asks again in a chat; just `/retry` where that is the chat in which it is said. */
function retryLine({ group: here }: CommandContext, { jid, name }: Group): string {
  if (jid === here.jid) return '/retry';
  return `/retry ${/^[\p{L}\d]+$/u.test(name) ? name : `"${name}"`}`;
}

/**
 * Parses a limit; a limit of the other kind stays as it is.
 *
 * @throws GroupRefused with the usage
 */
function readLimits(typed: string, before: Limits): Limits | 'default' {
  const said = typed.toLowerCase();
  if (said === 'default') return 'default';
  if (said === 'none') return { microUsd: null, tokens: null };
  const [, usd] = /^\$?(\d{1,6}(?:[.,]\d{1,2})?) ?(?:usd|dollars?|\$)$/.exec(said) ?? [];
  if (usd !== undefined) {
    return { ...before, microUsd: Math.round(Number(usd.replace(',', '.')) * 1_000_000) };
  }
  const [, tokens] = /^(\d[\d,_]{0,14}) ?tokens?$/.exec(said) ?? [];
  if (tokens !== undefined) return { ...before, tokens: Number(tokens.replace(/[,_]/g, '')) };
  throw new GroupRefused(USAGE);
}

function lineOf({ budgets }: CommandContext, folder: string): string {
  const found = budgets.report().folders.find((each) => each.folder === folder);
  const { name, spent, limits, isOwn } = found ?? {
    name: folder === 'main' ? OWN_CHATS : folder,
    spent: { tokens: 0, microUsd: 0, unpricedCalls: 0 },
    limits: budgets.limitsOf(folder),
    isOwn: false,
  };
  const may = `${limitsInWords(limits)}${isOwn ? '' : ' (default)'}`;
  return `${name}: ${spentOf(spent, limits)} today; ${may}.`;
}

async function listOf(context: CommandContext): Promise<string> {
  const { day, total, totalLimits, folders } = context.budgets.report();
  const prices = (await modelsOf(context)).map((name) => priceLine(context, name));
  const lines = [
    `Spent on ${day}:`,
    '',
    ...folders.map(({ folder }) => `- ${lineOf(context, folder)}`),
    `- all together: ${spentOf(total, totalLimits)} today; ${limitsInWords(totalLimits)}.`,
    '',
    'Prices for a million tokens:',
    '',
    ...prices,
  ];
  return [...lines, '', USAGE].join('\n');
}

/** Returns the models that chats are answered by now, that of the settings first where it is among them. */
async function modelsOf({ models, model, store }: CommandContext): Promise<readonly string[]> {
  const groups = store.groups.all();
  const named = groups.map(async (group) => {
    const inTurn = await models.inTurn(group);
    return inTurn.length === 0 ? [models.of(group.folder).name] : inTurn;
  });
  const all = new Set((await Promise.all(named)).flat());
  return [...all].toSorted(
    (one, other) => Number(other === model.name) - Number(one === model.name),
  );
}

function priceLine({ models, model }: CommandContext, name: string): string {
  const numbers = models.numbersOf(name);
  if (numbers === null || numbers.price === null) {
    const remedy = name === model.name ? '; `MODEL_PRICE` in `.env` sets it' : '';
    return `- \`${name}\`: not known, so only tokens count${remedy}`;
  }
  const { price, pricesAsOf } = numbers;
  const source = pricesAsOf === null ? '' : `, as of ${pricesAsOf}`;
  return `- \`${name}\`: ${priceText(price)}${source}`;
}
