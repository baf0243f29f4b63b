import { Command } from '../command.ts';
import { epoch } from '../live.ts';
import { Markdown } from '../markdown.ts';
import { count, definePanel, get, linkTo, may, money, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';

const t = wordsOf('groups');

type Group = {
  readonly jid: string;
  readonly name: string;
  readonly folder: string;
  readonly isMain: boolean;
  readonly needsTrigger: boolean;
  readonly triggerWord: string | null;
  readonly today: { readonly tokens: number; readonly microUsd: number };
};

export const panel = definePanel({
  name: 'groups',
  order: 500,
  scope: 'read',
  icon: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6M16 11a3 3 0 1 0 0-6M2 20c0-4 2-6 6-6s6 2 6 6M16 14c4 0 6 2 6 6',
  view: View,
});

function View(): VNode {
  const [groups, setGroups] = useState<readonly Group[]>([]);
  useEffect(() => void get<readonly Group[]>('groups/all').then(setGroups), [epoch.value]);
  return html`<h1>${t('title')}</h1>
    <div class="row"><${Command} line="groups" label=${t('known')} /><${Command} line="allow" label=${t('allow')} />
      <${Command} line="budget" label=${t('budget')} /><${Command} line="tools" label=${t('tools')} /></div>
    ${groups.map((group) => html`<${Card} key=${group.jid} group=${group} />`)}`;
}

function Card({ group }: { readonly group: Group }): VNode {
  const { jid, name, folder, isMain, needsTrigger, triggerWord, today } = group;
  const quoted = JSON.stringify(name);
  return html`<article class="card"><div class="row"><h3>${name}</h3><span class="tag">groups/${folder}</span>
    <a class="push" href=${linkTo('chat', jid)}>${t('chat')}</a></div>
    <p>${isMain ? t('main') : needsTrigger ? t('triggered', { word: triggerWord ?? t('its-name') }) : t('always')}</p>
    <p class="hint">${t('today', { tokens: count(today.tokens), money: money(today.microUsd) })}</p>
    ${
      isMain
        ? null
        : html`<div class="row">
            <${Command} line=${`trigger ${quoted} ${needsTrigger ? 'always' : 'default'}`} label=${t(needsTrigger ? 'to-always' : 'to-trigger')} />
          </div>`
    }
    ${may('admin') ? html`<${Memory} folder=${folder} />` : null}
  </article>`;
}

function Memory({ folder }: { readonly folder: string }): VNode {
  const [text, setText] = useState<string | null | undefined>(undefined);
  const onToggle = ({ currentTarget }: { readonly currentTarget: HTMLDetailsElement }) => {
    if (currentTarget.open && text === undefined)
      void get<string | null>('groups/memory', { folder }).then(setText);
  };
  return html`<details onToggle=${onToggle}><summary>${t('memory')}</summary>
    ${text === null ? html`<p class="hint">${t('no-memory')}</p>` : text === undefined ? null : html`<${Markdown} text=${text} />`}</details>`;
}
