import type { Overview, Skill } from '../code/overview.ts';
import { isDrawerOpen } from '../command.ts';
import { epoch, onLive } from '../live.ts';
import { definePanel, get, linkTo, wordsOf } from '../page.ts';
import { changes, Proof } from '../proof.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';

const t = wordsOf('code');

export const panel = definePanel({
  name: 'code',
  order: 300,
  scope: 'read',
  icon: 'M8 7l-5 5 5 5M16 7l5 5-5 5M14 4l-4 16',
  view: View,
});

type Shown = (props: { readonly rest: readonly string[] }) => VNode;

/** Views below this panel, each loaded when it is first looked at. */
const VIEWS: Readonly<Record<string, () => Promise<Shown>>> = {
  plan: async () => (await import('../code/plan.ts')).PlanView,
  edits: async () => (await import('../code/plan.ts')).EditsView,
  why: async () => (await import('../code/why.ts')).WhyView,
  conflicts: async () => (await import('../code/conflicts.ts')).ConflictsView,
  updates: async () => (await import('../code/updates.ts')).UpdatesView,
  together: async () => (await import('../code/together.ts')).TogetherView,
};

function View({ rest: [what = '', ...more] }: { readonly rest: readonly string[] }): VNode {
  const load = VIEWS[what];
  const [loaded, setLoaded] = useState<{ readonly what: string; readonly view: Shown } | null>(
    null,
  );
  useEffect(() => void load?.().then((view) => setLoaded({ what, view })), [what]);
  // Below the panel as long as the drawer of its command does not show it.
  const [change] = isDrawerOpen.value ? [] : changes.value.slice(-1);
  const proof =
    change === undefined
      ? null
      : html`<article class="card"><${Proof} change=${change} /></article>`;
  if (load === undefined) return html`${proof}<${OverviewView} />`;
  const view = loaded?.what === what ? html`<${loaded.view} rest=${more} />` : null;
  return html`${proof}${view ?? html`<p class="hint" role="status">${t('reading')}</p>`}`;
}

function OverviewView(): VNode {
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
  </form>`;
}
