import { Command } from '../command.ts';
import { wordsOf } from '../page.ts';
import { html, useState, type VNode } from '../vendor.ts';

// Forms whose button is the command that they make.

const t = wordsOf('groups');

export type Group = {
  readonly jid: string;
  readonly name: string;
  readonly folder: string;
  readonly isMain: boolean;
  readonly needsTrigger: boolean;
  readonly triggerWord: string | null;
  readonly today: { readonly tokens: number; readonly microUsd: number };
  readonly limits: { readonly tokens: number | null; readonly microUsd: number | null };
  readonly hasOwnBudget: boolean;
  /** People who may call it, by name; empty where everybody may. */
  readonly callers: readonly string[];
  readonly tools: readonly string[];
  readonly toolsOff: readonly string[];
};

/** @param name the chat as a command names it */
export function Rules({
  group: { isMain, needsTrigger, tools, toolsOff },
  name,
}: {
  readonly group: Group;
  readonly name: string;
}): VNode {
  return html`${
    isMain
      ? null
      : html`<${Field} label=${t('trigger')} hint="@home" button=${t('set')}
            lineOf=${(typed: string) => (typed === '' || /["“”„]/.test(typed) ? null : `trigger ${name} "${typed}"`)} />
        <div class="row"><${Command} line=${`trigger ${name} ${needsTrigger ? 'always' : 'default'}`} label=${t(needsTrigger ? 'to-always' : 'to-trigger')} /></div>
        <${Field} label=${t('may-call')} hint="Ada, Bob" button=${t('set')}
          lineOf=${(typed: string) => (typed === '' ? null : `allow ${name} ${typed}`)} />
        <p class="hint">${t('may-call-hint')}</p>`
  }
    <${Field} label=${t('budget')} hint="10 usd" button=${t('set')}
      lineOf=${(typed: string) => (/^(\d[\d.,]* ?(usd|tokens?)|none|default)$/i.test(typed) ? `budget ${name} ${typed}` : null)} />
    <p class="hint">${t('budget-hint')}</p>
    <${Tools} name=${name} tools=${tools} off=${toolsOff} />`;
}

/** A field, and the command that its words make. */
function Field({
  label,
  hint,
  lineOf,
  button,
}: {
  readonly label: string;
  readonly hint: string;
  /** Returns null while the words make no command. */
  readonly lineOf: (typed: string) => string | null;
  readonly button: string;
}): VNode {
  const [typed, setTyped] = useState('');
  const line = lineOf(typed.trim());
  const onInput = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
    setTyped(currentTarget.value);
  return html`<div class="row"><label>${label} <input type="text" maxlength="200" placeholder=${hint} value=${typed} onInput=${onInput} /></label>
    ${line === null ? null : html`<${Command} line=${line} label=${button} />`}</div>`;
}

/** The tools of a chat's agent, each with the command that switches it. */
function Tools({
  name,
  tools,
  off,
}: {
  readonly name: string;
  readonly tools: readonly string[];
  readonly off: readonly string[];
}): VNode {
  const [chosen, setChosen] = useState('');
  const onChange = ({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) =>
    setChosen(currentTarget.value);
  const isOff = off.includes(chosen);
  const names = [...new Set([...off, ...tools])].sort();
  return html`<div class="row"><label>${t('tools')} <select value=${chosen} onChange=${onChange}>
      <option value="">${t('choose-tool', { on: names.length - off.length, off: off.length })}</option>
      ${names.map((tool) => html`<option key=${tool} value=${tool}>${tool}${off.includes(tool) ? ` (${t('off')})` : ''}</option>`)}
    </select></label>
    ${chosen === '' ? null : html`<${Command} line=${`tools ${isOff ? 'on' : 'off'} ${chosen} for ${name}`} label=${t(isOff ? 'switch-on' : 'switch-off')} />`}</div>`;
}
