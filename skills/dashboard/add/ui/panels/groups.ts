import { Command } from '../command.ts';
import { MemoryOf } from '../groups/memory.ts';
import { Field, Tools } from '../groups/rules.ts';
import { epoch, onLive } from '../live.ts';
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
  readonly limits: { readonly tokens: number | null; readonly microUsd: number | null };
  readonly hasOwnBudget: boolean;
  readonly callers: number;
  readonly tools: readonly string[];
  readonly toolsOff: readonly string[];
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
  useEffect(() => {
    const read = () => void get<readonly Group[]>('groups/all').then(setGroups);
    read();
    return onLive((event) => event.kind === 'ended' && read());
  }, [epoch.value]);
  return html`<h1>${t('title')}</h1>
    <div class="row"><${Command} line="groups" label=${t('known')} /><${Command} line="allow" label=${t('allow')} /></div>
    ${groups.map((group) => html`<${Card} key=${group.jid} group=${group} />`)}
    ${may('admin') ? html`<article class="card"><div class="row"><h3>${t('everybody')}</h3><span class="tag">groups/global</span></div><${MemoryOf} folder="global" name="global" /></article>` : null}`;
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
    ${may('admin') ? html`<details class="rules"><summary>${t('rules')}</summary><${Rules} group=${group} quoted=${quoted} /></details>` : null}
    ${may('admin') ? html`<${MemoryOf} folder=${folder} name=${quoted} />` : null}
  </article>`;
}

function limitsOf({ limits: { microUsd, tokens }, hasOwnBudget }: Group): string {
  const most = [
    ...(microUsd === null ? [] : [money(microUsd)]),
    ...(tokens === null ? [] : [t('tokens', { count: count(tokens) })]),
  ];
  const words = most.length === 0 ? t('no-limit') : t('limit', { most: most.join(', ') });
  return hasOwnBudget ? words : `${words} (${t('usual')})`;
}

function Rules({
  group: { isMain, needsTrigger, tools, toolsOff },
  quoted,
}: {
  readonly group: Group;
  readonly quoted: string;
}): VNode {
  return html`${
    isMain
      ? null
      : html`<${Field} label=${t('trigger')} hint="@home" button=${t('set')}
            lineOf=${(typed: string) => (typed === '' || /["“”„]/.test(typed) ? null : `trigger ${quoted} "${typed}"`)} />
        <div class="row"><${Command} line=${`trigger ${quoted} ${needsTrigger ? 'always' : 'default'}`} label=${t(needsTrigger ? 'to-always' : 'to-trigger')} /></div>
        <${Field} label=${t('may-call')} hint="Ada, Bob" button=${t('set')}
          lineOf=${(typed: string) => (typed === '' ? null : `allow ${quoted} ${typed}`)} />`
  }
    <${Field} label=${t('budget')} hint="10 usd" button=${t('set')}
      lineOf=${(typed: string) => (/^(\d[\d.,]* ?(usd|tokens?)|none|default)$/i.test(typed) ? `budget ${quoted} ${typed}` : null)} />
    <p class="hint">${t('budget-hint')}</p>
    <${Tools} name=${quoted} tools=${tools} off=${toolsOff} />`;
}
