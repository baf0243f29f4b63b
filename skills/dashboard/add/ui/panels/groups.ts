import { Command } from '../command.ts';
import type { Group } from '../groups/rules.ts';
import { epoch, onLive } from '../live.ts';
import { count, definePanel, get, linkTo, may, money, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';

const t = wordsOf('groups');

export const panel = definePanel({
  name: 'groups',
  order: 500,
  scope: 'read',
  icon: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6M16 11a3 3 0 1 0 0-6M2 20c0-4 2-6 6-6s6 2 6 6M16 14c4 0 6 2 6 6',
  view: View,
});

type Shown = (props: never) => VNode;

/** Parts of a card, each loaded when it is first opened. */
const PARTS = {
  rules: async (): Promise<Shown> => (await import('../groups/rules.ts')).Rules,
  memory: async (): Promise<Shown> => (await import('../groups/memory.ts')).Memory,
} as const;

function View(): VNode {
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
  // A name may have quotes and be another chat's too; the address is one chat's.
  const quoted = `"${/["“”„]/.test(name) ? jid : name}"`;
  return html`<article class="card"><div class="row"><h3>${name}</h3><span class="tag">groups/${folder}</span>
    <a class="push" href=${linkTo('chat', jid)}>${t('chat')}</a></div>
    <p>${isMain ? t('main') : needsTrigger ? t('triggered', { word: triggerWord ?? t('its-name') }) : t('always')}
      ${callers === 0 ? '' : ` ${t('callers', { count: callers })}`}</p>
    <p class="hint">${t('today', { tokens: count(today.tokens), money: money(today.microUsd) })}; ${limitsOf(group)}</p>
    ${
      may('admin')
        ? (['rules', 'memory'] as const).map(
            (part) =>
              html`<${Part} key=${part} part=${part} folder=${folder} name=${quoted} group=${group} />`,
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
  const [shown, setShown] = useState<{ readonly view: Shown } | null>(null);
  const onToggle = ({ currentTarget }: { readonly currentTarget: HTMLDetailsElement }) =>
    setOpen(currentTarget.open);
  useEffect(() => {
    if (isOpen && shown === null) void PARTS[part]().then((view) => setShown({ view }));
  }, [isOpen]);
  const content =
    shown === null
      ? html`<p class="hint" role="status">${t('reading')}</p>`
      : html`<${shown.view} ...${props} />`;
  return html`<details class=${part} onToggle=${onToggle}><summary>${t(props.folder === 'global' ? 'memory-of-all' : part)}</summary>
    ${isOpen ? content : null}</details>`;
}

function limitsOf({ limits: { microUsd, tokens }, hasOwnBudget }: Group): string {
  const most = [
    ...(microUsd === null ? [] : [money(microUsd)]),
    ...(tokens === null ? [] : [t('tokens', { count: count(tokens) })]),
  ];
  const words = most.length === 0 ? t('no-limit') : t('limit', { most: most.join(', ') });
  return hasOwnBudget ? words : `${words} (${t('usual')})`;
}
