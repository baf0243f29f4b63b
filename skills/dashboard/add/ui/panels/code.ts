import { isDrawerOpen } from '../command.ts';
import { whenLooked } from '../lazy-view.ts';
import { definePanel } from '../page.ts';
import { changes, Proof } from '../proof.ts';
import { html, type VNode } from '../vendor.ts';

export const panel = definePanel({
  name: 'code',
  order: 300,
  scope: 'read',
  icon: 'M8 7l-5 5 5 5M16 7l5 5-5 5M14 4l-4 16',
  view: View,
});

/** Views below this panel, each loaded when it is first looked at. */
const VIEWS: Readonly<Record<string, (props: { readonly rest: readonly string[] }) => VNode>> = {
  plan: whenLooked(async () => (await import('../code/plan.ts')).PlanView),
  edits: whenLooked(async () => (await import('../code/plan.ts')).EditsView),
  why: whenLooked(async () => (await import('../code/why.ts')).WhyView),
  files: whenLooked(async () => (await import('../code/files.ts')).FilesView),
  conflicts: whenLooked(async () => (await import('../code/conflicts.ts')).ConflictsView),
  updates: whenLooked(async () => (await import('../code/updates.ts')).UpdatesView),
  together: whenLooked(async () => (await import('../code/compatibility-grid.ts')).TogetherView),
};
const Overview = whenLooked(async () => (await import('../code/overview.ts')).OverviewView);

function View({ rest: [what = '', ...more] }: { readonly rest: readonly string[] }): VNode {
  // Below the panel as long as the drawer of its command does not show it.
  const [change] = isDrawerOpen.value ? [] : changes.value.slice(-1);
  const proof =
    change === undefined
      ? null
      : html`<article class="card"><${Proof} change=${change} /></article>`;
  return html`${proof}<${VIEWS[what] ?? Overview} key=${what} rest=${more} />`;
}
