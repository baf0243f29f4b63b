import { Command } from '../command.ts';
import { epoch } from '../live.ts';
import { count, definePanel, get, money, wordsOf } from '../page.ts';
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
  readonly names: Readonly<Record<string, string>>;
};

export const panel = definePanel({
  name: 'costs',
  order: 700,
  scope: 'read',
  icon: 'M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6',
  view: View,
});

function View(): VNode {
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
    <div class="row"><${Command} line="budget" label=${t('budgets')} /></div>
    <h2>${t('by-chat')}</h2>
    <${Table} rows=${[...chats].map(([folder, one]) => [costs.names[folder] ?? folder, one])} />
    <h2>${t('by-model')}</h2>
    <${Table} rows=${costs.models.map((one) => [one.model, one])} />`;
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
  return html`<div class="scroll"><table><thead><tr><th>${t('name')}</th><th class="number">${t('tokens')}</th><th class="number">${t('cost')}</th></tr></thead>
    <tbody>${sorted.map(
      ([
        name,
        { tokens, microUsd, unpricedCalls },
      ]) => html`<tr><td>${name}</td><td class="number">${count(tokens)}</td>
      <td class="number">${money(microUsd)}${unpricedCalls > 0 ? ` ${t('unpriced', { count: unpricedCalls })}` : ''}</td></tr>`,
    )}</tbody></table></div>`;
}

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
            axis,
            {
              ...axis,
              size: 64,
              values: (_self, values) => values.map((value) => `$${value.toFixed(2)}`),
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
