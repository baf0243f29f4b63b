import { Command } from '../command.ts';
import { keepFresh } from '../live.ts';
import { definePanel, get, moment, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';

const t = wordsOf('tasks');

type Run = {
  readonly firedAt: number;
  readonly outcome: string | null;
  readonly summary: string | null;
};
type Task = {
  readonly id: number;
  readonly folder: string;
  readonly name: string | null;
  readonly prompt: string;
  readonly state: string;
  readonly when: string;
  readonly next: readonly number[];
  readonly last: Run | null;
};

export const panel = definePanel({
  name: 'tasks',
  order: 600,
  scope: 'read',
  icon: 'M5 5h14v15H5zM8 3v4M16 3v4M5 10h14M9 14h6',
  view: View,
});

function View(): VNode {
  const [tasks, setTasks] = useState<readonly Task[] | null>(null);
  useEffect(
    () =>
      keepFresh(
        ({ kind }) => kind === 'ended' || kind === 'hello',
        async () => setTasks(await get<readonly Task[]>('tasks/open')),
      ),
    [],
  );
  const coming = (tasks ?? [])
    .flatMap((task) => task.next.map((at) => ({ at, task })))
    .sort((one, other) => one.at - other.at)
    .slice(0, 10);
  return html`<h1>${t('title')}</h1>
    ${tasks?.length === 0 ? html`<p class="hint">${t('none')}</p>` : null}
    ${coming.length === 0 ? null : html`<h2>${t('coming')}</h2><ol class="coming">${coming.map(({ at, task }) => html`<li><time>${moment(at)}</time> ${titleOf(task)}</li>`)}</ol>`}
    ${tasks?.map((task) => html`<${Card} key=${task.id} task=${task} />`)}`;
}

const titleOf = ({ id, name, prompt }: Task) => name ?? `${id}: ${prompt.slice(0, 60)}`;

function Card({ task }: { readonly task: Task }): VNode {
  const { id, folder, prompt, state, when, next, last } = task;
  const [runs, setRuns] = useState<readonly Run[] | null>(null);
  const onToggle = ({ currentTarget }: { readonly currentTarget: HTMLDetailsElement }) => {
    if (currentTarget.open) void get<readonly Run[]>('tasks/runs', { id }).then(setRuns);
  };
  return html`<article class="card"><div class="row"><h3>${titleOf(task)}</h3><span class="tag">${folder}</span><span class="tag">${t(state)}</span></div>
    <p>${when}${next[0] === undefined ? '' : ` · ${t('next', { at: moment(next[0]) })}`}</p>
    <p class="hint">${prompt}</p>
    ${last === null ? null : html`<p class=${last.outcome === 'failed' ? 'bad' : ''}>${moment(last.firedAt)}: ${t(last.outcome ?? 'open')}</p>`}
    <div class="row"><${Command} line=${`tasks run ${id} now`} label=${t('run')} />
      <${Command} line=${`tasks ${state === 'paused' ? 'resume' : 'pause'} ${id}`} label=${t(state === 'paused' ? 'resume' : 'pause')} />
      <${Command} line=${`tasks cancel ${id}`} label=${t('cancel')} /></div>
    <details onToggle=${onToggle}><summary>${t('log')}</summary>
      <ul>${runs?.map((run) => html`<li>${moment(run.firedAt)}: ${t(run.outcome ?? 'open')}${run.summary === null ? '' : ` – ${run.summary}`}</li>`)}</ul></details>
  </article>`;
}
