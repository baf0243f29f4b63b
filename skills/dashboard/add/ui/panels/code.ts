import { isDrawerOpen } from '../command.ts';
import { definePanel, wordsOf } from '../page.ts';
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
const overview = async () => (await import('../code/overview.ts')).OverviewView;

function View({ rest: [what = '', ...more] }: { readonly rest: readonly string[] }): VNode {
  const load = VIEWS[what] ?? overview;
  const [loaded, setLoaded] = useState<{ readonly what: string; readonly view: Shown } | null>(
    null,
  );
  useEffect(() => void load().then((view) => setLoaded({ what, view })), [what]);
  // Below the panel as long as the drawer of its command does not show it.
  const [change] = isDrawerOpen.value ? [] : changes.value.slice(-1);
  const proof =
    change === undefined
      ? null
      : html`<article class="card"><${Proof} change=${change} /></article>`;
  const view = loaded?.what === what ? html`<${loaded.view} rest=${more} />` : null;
  return html`${proof}${view ?? html`<p class="hint" role="status">${t('reading')}</p>`}`;
}
