import { Command } from '../command.ts';
import { wordsOf } from '../page.ts';
import { html, useState, type VNode } from '../vendor.ts';

// Forms whose button is the command that they make.

const t = wordsOf('groups');

/** A field, and the command that its words make. */
export function Field({
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
export function Tools({
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
