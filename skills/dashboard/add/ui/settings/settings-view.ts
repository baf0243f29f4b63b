import { Command } from '../command.ts';
import { epoch } from '../live.ts';
import { get, moment, post, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';
import { NotificationsView } from './notifications.ts';

const t = wordsOf('settings');

type Setting = {
  readonly name: string;
  readonly help: string;
  readonly isSet: boolean;
  readonly line: number | null;
};
type Device = {
  readonly id: string;
  readonly name: string;
  readonly scope: string;
  readonly origin: string;
  readonly madeAt: number;
  readonly seenAt: number;
};
type Invitation = { readonly links: readonly string[]; readonly until: number };

export function SettingsView(): VNode {
  return html`<h1>${t('title')}</h1><${Devices} /><${NotificationsView} /><${Names} />`;
}

function Devices(): VNode {
  const [devices, setDevices] = useState<readonly Device[]>([]);
  const [me, setMe] = useState<string | null>(null);
  const [invitation, setInvitation] = useState<Invitation | null>(null);
  const read = () => void get<readonly Device[]>('settings/devices').then(setDevices);
  useEffect(() => {
    read();
    void get<{ device: string | null }>('settings/me').then(({ device }) => setMe(device));
  }, [epoch.value]);
  const invite = async (event: Event) => {
    event.preventDefault();
    const scope = new FormData(event.target as HTMLFormElement).get('scope');
    setInvitation(await post<Invitation>('settings/invite', { scope }));
  };
  const revoke = async (id: string) => {
    if (!confirm(t('sure'))) return;
    await post('settings/revoke', { id });
    read();
  };
  return html`<section><h2>${t('devices')}</h2>
    <div class="scroll devices" tabindex="0"><table><thead><tr><th>${t('browser')}</th><th>${t('may')}</th><th class="wide">${t('at')}</th><th>${t('seen')}</th><th></th></tr></thead>
      <tbody>${devices.map(
        (
          one,
        ) => html`<tr key=${one.id}><td>${one.name}${one.id === me ? html` <span class="tag">${t('this')}</span>` : null}</td>
        <td>${t(one.scope)}</td><td class="wide">${one.origin}</td><td>${moment(one.seenAt)}</td>
        <td class="number"><button type="button" onClick=${() => revoke(one.id)}>${t('revoke')}</button></td></tr>`,
      )}</tbody></table></div>
    <form class="row" onSubmit=${invite}><label>${t('new')} <select name="scope"><option value="read">${t('read')}</option><option value="talk">${t('talk')}</option><option value="admin">${t('admin')}</option></select></label>
      <button type="submit">${t('invite')}</button></form>
    ${invitation === null ? null : html`<div class="card" role="status"><p>${t('once')}</p>${invitation.links.map((link) => html`<p><code>${link}</code></p>`)}</div>`}
  </section>`;
}

function Names(): VNode {
  const [names, setNames] = useState<readonly Setting[]>([]);
  useEffect(() => void get<readonly Setting[]>('settings/names').then(setNames), [epoch.value]);
  return html`<section><div class="row"><h2>${t('names')}</h2><span class="push"></span><${Command} line="model" label=${t('model')} /><${Command} line="setup" label=${t('setup')} /></div>
    <p class="hint">${t('no-values')}</p>
    <div class="scroll" tabindex="0"><table><thead><tr><th>${t('name')}</th><th>${t('state')}</th><th>${t('for')}</th></tr></thead>
      <tbody>${names.map(
        ({ name, help, isSet, line }) => html`<tr key=${name}><td><code>${name}</code></td>
        <td>${isSet ? html`<span class="good">${t('set', { line: line ?? '' })}</span>` : html`<span class="hint">${t('default')}</span>`}</td><td lang="en">${help}</td></tr>`,
      )}</tbody></table></div></section>`;
}
