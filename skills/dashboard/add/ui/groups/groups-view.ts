import { Command } from '../command.ts';
import { whenLooked } from '../lazy-view.ts';
import { epoch, onLive } from '../live.ts';
import { count, get, linkTo, may, money, quoted, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';
import type { Group } from './rules.ts';

const t = wordsOf('groups');

/** Parts of a card. */
const PARTS = {
  rules: whenLooked(async () => (await import('./rules.ts')).Rules),
  memory: whenLooked(async () => (await import('./memory.ts')).Memory),
} as const;

export function GroupsView(): VNode {
  const [groups, setGroups] = useState<readonly Group[]>([]);
  useEffect(() => {
    const read = () => void get<readonly Group[]>('groups/all').then(setGroups);
    read();
    return onLive((event) => event.kind === 'ended' && read());
  }, [epoch.value]);
  return html`<h1>${t('title')}</h1>
    <div class="row"><${Command} line="groups" label=${t('known')} /><${Command} line="allow" label=${t('allow')} /></div>
    ${groups.map((group) => html`<${Card} key=${group.jid} group=${group} />`)}
    ${may('admin') ? html`<article class="card"><div class="row"><h3>${t('everybody')}</h3><span class="tag">groups/global</span></div><${Part} part="memory" folder="global" name="global" /></article>` : null}`;
}

function Card({ group }: { readonly group: Group }): VNode {
  const { jid, name, folder, isMain, needsTrigger, triggerWord, today, callers } = group;
  return html`<article class="card"><div class="row"><h3>${name}</h3><span class="tag">groups/${folder}</span>
    <a class="push" href=${linkTo('chat', jid)}>${t('chat')}</a></div>
    <p>${isMain ? t('main') : needsTrigger ? t('triggered', { word: triggerWord ?? t('its-name') }) : t('always')}
      ${callers.length === 0 ? '' : ` ${t('callers', { names: callers.join(', ') })}`}</p>
    <p class="hint">${t('today', { tokens: count(today.tokens), money: money(today.microUsd) })}; ${limitsOf(group)}</p>
    ${
      may('admin')
        ? (['rules', 'memory'] as const).map(
            (part) =>
              html`<${Part} key=${part} part=${part} folder=${folder} name=${quoted(group)} group=${group} />`,
          )
        : null
    }
  </article>`;
}

function Part({
  part,
  ...props
}: {
  readonly part: keyof typeof PARTS;
  readonly folder: string;
  /** The chat as a command names it. */
  readonly name: string;
  readonly group?: Group;
}): VNode {
  const [isOpen, setOpen] = useState(false);
  const onToggle = ({ currentTarget }: { readonly currentTarget: HTMLDetailsElement }) =>
    setOpen(currentTarget.open);
  return html`<details class=${part} onToggle=${onToggle}><summary>${t(props.folder === 'global' ? 'memory-of-all' : part)}</summary>
    ${isOpen ? html`<${PARTS[part]} ...${props} />` : null}</details>`;
}

function limitsOf({ limits: { microUsd, tokens }, hasOwnBudget }: Group): string {
  const most = [
    ...(microUsd === null ? [] : [money(microUsd)]),
    ...(tokens === null ? [] : [t('tokens', { count: count(tokens) })]),
  ];
  const words = most.length === 0 ? t('no-limit') : t('limit', { most: most.join(', ') });
  return hasOwnBudget ? words : `${words} (${t('usual')})`;
}
