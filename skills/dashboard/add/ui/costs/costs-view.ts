import { Command } from '../command.ts';
import { epoch } from '../live.ts';
import { count, get, money, wordsOf } from '../page.ts';
import { html, useEffect, useRef, useState, type VNode } from '../vendor.ts';

const t = wordsOf('costs');

type Spending = {
  readonly tokens: number;
  readonly microUsd: number;
  readonly unpricedCalls: number;
};
type Costs = {
  readonly days: readonly {
    readonly day: string;
    readonly total: Spending;
    readonly folders: readonly (Spending & { readonly folder: string })[];
  }[];
  readonly models: readonly (Spending & { readonly model: string; readonly calls: number })[];
  readonly tasks: readonly (Spending & {
    readonly taskId: number;
    readonly runs: number;
    readonly name: string | null;
  })[];
  readonly budgets: {
    readonly total: Spending;
    readonly totalLimits: Limits;
    readonly folders: readonly {
      readonly folder: string;
      readonly name: string;
      readonly spent: Spending;
      readonly limits: Limits;
    }[];
  };
  readonly names: Readonly<Record<string, string>>;
};
type Limits = { readonly tokens: number | null; readonly microUsd: number | null };

export function CostsView(): VNode {
  const [costs, setCosts] = useState<Costs | null>(null);
  useEffect(() => void get<Costs>('costs/days').then(setCosts), [epoch.value]);
  if (costs === null) return html`<h1>${t('title')}</h1>`;
  const today = costs.days.at(-1);
  const sum = costs.days.reduce((all, { total }) => all + total.microUsd, 0);
  const chats = new Map<string, Spending>();
  for (const { folders } of costs.days) {
    for (const { folder, ...one } of folders) chats.set(folder, added(chats.get(folder), one));
  }
  return html`<h1>${t('title')}</h1>
    <p>${t('today')} <strong>${money(today?.total.microUsd ?? 0)}</strong>, ${t('month')} <strong>${money(sum)}</strong></p>
    <${Chart} days=${costs.days} />
    <${Budgets} budgets=${costs.budgets} />
    <h2>${t('by-chat')}</h2>
    <${Table} rows=${[...chats].map(([folder, one]) => [costs.names[folder] ?? folder, one])} />
    <h2>${t('by-model')}</h2>
    <${Table} rows=${costs.models.map((one) => [one.model, one])} />
    <h2>${t('by-task')}</h2>
    <${Table} rows=${costs.tasks.map((one) => [`${one.taskId}: ${one.name ?? t('gone')} (${t('runs', { count: one.runs })})`, one])} />`;
}

/** What was spent today of what may be, for all chats together and for each that has a limit. */
function Budgets({
  budgets: { total, totalLimits, folders },
}: {
  readonly budgets: Costs['budgets'];
}): VNode {
  const named = folders.map((one) =>
    one.folder === 'main' ? { ...one, name: t('own-chats') } : one,
  );
  const rows = [{ name: t('all-chats'), spent: total, limits: totalLimits }, ...named].filter(
    ({ spent, limits }) => spent.tokens > 0 || limits.microUsd !== null,
  );
  return html`<div class="row"><h2>${t('of-budgets')}</h2><span class="push"></span><${Command} line="budget" label=${t('budgets')} /></div>
    <div class="scroll budgets" tabindex="0"><table><thead><tr><th>${t('name')}</th><th>${t('used')}</th><th class="number">${t('spent')}</th></tr></thead>
      <tbody>${rows.map(({ name, spent, limits }) => {
        const share = shareOf(spent, limits);
        return html`<tr><td class="name">${name}</td><td>${
          share === null
            ? html`<span class="hint">${t('no-limit')}</span>`
            : html`<progress max="1" value=${Math.min(1, share)} aria-label=${name} class=${share >= 1 ? 'full' : ''}></progress> ${Math.round(share * 100)}\u00a0%`
        }</td><td class="number">${spentOf(spent, limits)}</td></tr>`;
      })}</tbody></table></div>`;
}

/** Whichever of money and tokens is nearer to its limit; null without a limit. */
function shareOf(spent: Spending, { microUsd, tokens }: Limits): number | null {
  const shares = [
    ...(microUsd === null ? [] : [microUsd === 0 ? 1 : spent.microUsd / microUsd]),
    ...(tokens === null ? [] : [tokens === 0 ? 1 : spent.tokens / tokens]),
  ];
  return shares.length === 0 ? null : Math.max(...shares);
}

function spentOf(spent: Spending, { microUsd, tokens }: Limits): string {
  const parts = [
    microUsd === null ? money(spent.microUsd) : `${money(spent.microUsd)} / ${money(microUsd)}`,
    ...(tokens === null
      ? []
      : [t('tokens-of', { spent: count(spent.tokens), most: count(tokens) })]),
  ];
  return parts.join(', ');
}

function added(one: Spending | undefined, other: Spending): Spending {
  return {
    tokens: (one?.tokens ?? 0) + other.tokens,
    microUsd: (one?.microUsd ?? 0) + other.microUsd,
    unpricedCalls: (one?.unpricedCalls ?? 0) + other.unpricedCalls,
  };
}

function Table({ rows }: { readonly rows: readonly (readonly [string, Spending])[] }): VNode {
  if (rows.length === 0) return html`<p class="hint">${t('nothing')}</p>`;
  const sorted = rows.toSorted(
    ([, one], [, other]) => other.microUsd - one.microUsd || other.tokens - one.tokens,
  );
  return html`<div class="scroll" tabindex="0"><table><thead><tr><th>${t('name')}</th><th class="number">${t('tokens')}</th><th class="number">${t('cost')}</th></tr></thead>
    <tbody>${sorted.map(
      ([
        name,
        { tokens, microUsd, unpricedCalls },
      ]) => html`<tr><td class="name">${name}</td><td class="number">${count(tokens)}</td>
      <td class="number">${money(microUsd)}${unpricedCalls > 0 ? ` ${t('unpriced', { count: unpricedCalls })}` : ''}</td></tr>`,
    )}</tbody></table></div>`;
}

/** Writes an amount with as many digits as it takes to tell the marks of an axis apart. */
function dollars(value: number, marks: readonly number[]): string {
  const step = Math.abs((marks[1] ?? 1) - (marks[0] ?? 0));
  const digits = step > 0 ? Math.min(6, Math.max(2, Math.ceil(-Math.log10(step)))) : 2;
  return value === 0 ? '$0' : `$${value.toFixed(digits)}`;
}

const DAY = new Intl.DateTimeFormat(navigator.language, { day: 'numeric', month: 'numeric' });

/** Dollars and tokens by day. The table below it has the numbers for those who see no picture. */
function Chart({ days }: { readonly days: Costs['days'] }): VNode {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let end = () => {};
    void import('../charts.ts').then(({ uPlot }) => {
      const target = place.current;
      if (target === null) return;
      const style = getComputedStyle(document.documentElement);
      const probe = document.createElement('span');
      target.append(probe);
      const colour = (name: string) => {
        probe.style.color = `var(${name})`;
        return getComputedStyle(probe).color || style.color;
      };
      const [accent, soft, line] = ['--accent', '--soft', '--line'].map(colour) as [
        string,
        string,
        string,
      ];
      probe.remove();
      const width = () => Math.max(240, target.clientWidth);
      const axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
      const chart = new uPlot(
        {
          width: width(),
          height: 220,
          legend: { show: false },
          cursor: { drag: { x: false, y: false } },
          scales: {
            x: { time: true, range: (_self, first, last) => [first - 43_200, last + 43_200] },
            y: { range: (_self, _least, most) => [0, most > 0 ? most * 1.1 : 1] },
          },
          axes: [
            {
              ...axis,
              values: (_self, values) => values.map((value) => DAY.format(value * 1_000)),
            },
            {
              ...axis,
              size: 72,
              values: (_self, values) => values.map((value) => dollars(value, values)),
            },
          ],
          series: [
            {},
            {
              label: t('cost'),
              stroke: accent,
              fill: accent,
              points: { show: false },
              paths: uPlot.paths.bars?.({ size: [0.7, 40] }) ?? null,
            },
          ],
        } as ConstructorParameters<typeof uPlot>[0],
        [
          days.map(({ day }) => Date.parse(`${day}T12:00:00`) / 1000),
          days.map(({ total }) => total.microUsd / 1e6),
        ],
        target,
      );
      const resize = () => chart.setSize({ width: width(), height: 220 });
      addEventListener('resize', resize);
      end = () => {
        removeEventListener('resize', resize);
        chart.destroy();
      };
    });
    return () => end();
  }, [days]);
  return html`<div class="chart" ref=${place} role="img" aria-label=${t('chart')}></div>`;
}
