import { epoch, onLive } from '../live.ts';
import { get, linkTo, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';

// Which skills are in the code and which could be, and the ways to what else the panel shows.

const t = wordsOf('code');

/** A skill that is in the code, or could be. */
type Skill = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly applied: boolean;
  /** A version that is newer than the one in the code. */
  readonly newer: string | null;
};
/** What the panel shows first. */
export type Overview = {
  readonly skills: readonly Skill[];
  readonly status: {
    readonly core: { readonly version: string | null } | null;
    readonly release?: { readonly version: string | null };
    readonly edits: readonly { readonly path: string; readonly kind: string }[];
    readonly pending: { readonly verb: string; readonly arguments: readonly string[] } | null;
  } | null;
  /** Commands that can be taken back, the newest first. */
  readonly log: readonly { readonly time: string; readonly summary: string }[];
};

export function OverviewView(): VNode {
  const [overview, setOverview] = useState<Overview | null>(null);
  useEffect(() => {
    const read = () => void get<Overview>('code/overview').then(setOverview);
    read();
    return onLive((event) => {
      if (event.kind === 'ended' || event.kind === 'hello') read();
    });
  }, [epoch.value]);
  if (overview === null)
    return html`<h1>${t('title')}</h1><p class="hint" role="status">${t('reading')}</p>`;
  const { skills, status, log } = overview;
  const applied = skills.filter((skill) => skill.applied);
  const newer = applied.filter((skill) => skill.newer !== null).length;
  const edits = status?.edits ?? [];
  return html`<h1>${t('title')}</h1>
    <p>${t('release')} ${status?.core?.version ?? t('no-core')}, ${t('skills-in', { count: applied.length })},${' '}
      ${edits.length === 0 ? t('no-edits') : html`<a href=${linkTo('code', 'edits')}>${t('edits', { count: edits.length })}</a>`}</p>
    ${
      status?.pending
        ? html`<div class="card"><h3 class="bad">${t('blocked')}</h3>
      <p><code>${[status.pending.verb, ...status.pending.arguments].join(' ')}</code></p>
      <a href=${linkTo('code', 'conflicts')}>${t('resolve')}</a></div>`
        : null
    }
    <${Asker} />
    <p class="row views">
      <a href=${linkTo('code', 'updates')}>${newer > 0 ? t('updates-of', { count: newer }) : t('updates')}</a>
      ${log.length === 0 ? null : html`<a href=${linkTo('code', 'plan', 'undo')}>${t('look-undo', { command: log[0]?.summary ?? '' })}</a>`}
      <a href=${linkTo('code', 'together')}>${t('together')}</a>
    </p>
    <h2>${t('in')}</h2>
    ${applied.length === 0 ? html`<p class="hint">${t('none-in')}</p>` : null}
    ${applied.map((skill) => html`<${Card} key=${skill.name} skill=${skill} />`)}
    <h2>${t('out')}</h2>
    ${skills.filter((skill) => !skill.applied).map((skill) => html`<${Card} key=${skill.name} skill=${skill} />`)}`;
}

function Card({
  skill: { name, version, description, applied, newer },
}: {
  readonly skill: Skill;
}): VNode {
  const verb = applied ? 'remove' : 'apply';
  return html`<article class="card">
    <div class="row"><h3>${name}</h3><span class="tag">${version}${newer === null ? '' : ` → ${newer}`}</span>
      <span class="row push">
        ${newer === null ? null : html`<a href=${linkTo('code', 'plan', 'upgrade', name)}>${t('look-upgrade')}</a>`}
        <a href=${linkTo('code', 'plan', verb, name)}>${t(`look-${verb}`)}</a></span></div>
    <p>${description}</p>
  </article>`;
}

function Asker(): VNode {
  const ask = (event: Event) => {
    event.preventDefault();
    const path = String(new FormData(event.target as HTMLFormElement).get('path')).trim();
    if (path !== '') location.hash = linkTo('code', 'why', ...path.split('/'));
  };
  return html`<form class="row" onSubmit=${ask}>
    <label for="why-path">${t('why')}</label>
    <input id="why-path" name="path" placeholder="src/host/host.ts" maxlength="400" />
    <button type="submit">${t('ask')}</button>
    <a href=${linkTo('code', 'files')}>${t('browse')}</a>
  </form>`;
}
