import { Command } from '../command.ts';
import { epoch, onLive } from '../live.ts';
import { Markdown } from '../markdown.ts';
import { get, linkTo, may, moment, post, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';
import type { Overview } from './overview.ts';

// What is newer than what is in the code, and what can be taken back: each as a plan first.

const t = wordsOf('code');

type Release =
  | { readonly kind: 'found'; readonly ref: string }
  | { readonly kind: 'none'; readonly text: string };

export function UpdatesView(): VNode {
  const [overview, setOverview] = useState<Overview | null>(null);
  useEffect(() => {
    const read = () => void get<Overview>('code/overview').then(setOverview);
    read();
    return onLive((event) => event.kind === 'ended' && read());
  }, [epoch.value]);
  const newer = overview?.skills.filter((skill) => skill.newer !== null) ?? [];
  const version = overview?.status?.core?.version ?? overview?.status?.release?.version ?? null;
  const [last] = overview?.log ?? [];
  return html`<p><a href=${linkTo('code')}>‹ ${t('all')}</a></p><h1>${t('updates')}</h1>
    ${overview === null ? html`<p class="hint" role="status">${t('reading')}</p>` : null}
    <h2>${t('release')}</h2>
    ${overview === null ? null : html`<p>${version === null ? `${t('release')} ${t('no-core')}.` : t('release-here', { version })}</p>`}
    <${ReleaseSearch} />
    <h2>${t('skills')}</h2>
    ${overview !== null && newer.length === 0 ? html`<p class="hint">${t('none-newer')}</p>` : null}
    ${newer.map(
      ({ name, version, newer }) => html`<article class="card row" key=${name}><h3>${name}</h3>
        <span class="tag">${version} → ${newer}</span>
        <a class="push" href=${linkTo('code', 'plan', 'upgrade', name)}>${t('look-upgrade')}</a></article>`,
    )}
    ${
      newer.length > 1
        ? html`<p class="row"><a href=${linkTo('code', 'plan', 'upgrade')}>${t('look-all')}</a><${Command} line="upgrade" label=${t('do-upgrade')} /></p>`
        : null
    }
    <h2>${t('undo')}</h2>
    ${
      last === undefined
        ? html`<p class="hint">${t('none-undo')}</p>`
        : html`<p class="row"><a href=${linkTo('code', 'plan', 'undo')}>${t('look-undo', { command: last.summary })}</a></p>
      <table><thead><tr><th>${t('when')}</th><th>${t('command')}</th></tr></thead>
        <tbody>${overview?.log.map(({ time, summary }) => html`<tr><td>${moment(Date.parse(time))}</td><td><code>${summary}</code></td></tr>`)}</tbody></table>`
    }`;
}

/** Asks the remote of the project only where it is told to. */
function ReleaseSearch(): VNode | null {
  const [release, setRelease] = useState<Release | null>(null);
  const [state, setState] = useState<'idle' | 'asking' | string>('idle');
  if (!may('admin')) return null;
  const ask = () => {
    setState('asking');
    void post<Release>('code/release', {}).then(
      (found) => {
        setRelease(found);
        setState('idle');
      },
      ({ message }) => setState(message),
    );
  };
  return html`<p class="row"><button type="button" disabled=${state === 'asking'} onClick=${ask}>${t('look-release')}</button>
      <span role="status">${state === 'asking' ? t('asking') : state === 'idle' ? '' : state}</span></p>
    ${release?.kind === 'none' ? html`<${Markdown} text=${release.text} />` : null}
    ${
      release?.kind === 'found'
        ? html`<article class="card row"><h3>${release.ref}</h3>
      <a class="push" href=${linkTo('code', 'plan', 'update', ...release.ref.split('/'))}>${t('look-update')}</a></article>`
        : null
    }`;
}
