import { Command } from '../command.ts';
import { keepFresh } from '../live.ts';
import { duration, get, moment, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';
import { type Schedule, scheduleInWords } from './schedule-words.ts';

const t = wordsOf('tasks');

type Run = {
  readonly firedAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly outcome: string | null;
  readonly summary: string | null;
};
type Task = {
  readonly id: number;
  readonly folder: string;
  readonly name: string | null;
  readonly prompt: string;
  readonly state: string;
  readonly schedule: Schedule;
  /** The runs that are known; with `isMore` it goes on after the last of them. */
  readonly next: readonly number[];
  readonly isMore: boolean;
  readonly last: Run | null;
};

export function TasksView(): VNode {
  const [tasks, setTasks] = useState<readonly Task[] | null>(null);
  useEffect(
    () =>
      keepFresh(
        ({ kind }) => kind === 'ended' || kind === 'hello',
        async () => setTasks(await get<readonly Task[]>('tasks/open')),
      ),
    [],
  );
  return html`<h1>${t('title')}</h1>
    ${tasks?.length === 0 ? html`<p class="hint">${t('none')}</p>` : null}
    ${tasks?.some(({ next }) => next.length > 0) ? html`<h2>${t('coming')}</h2><${Calendar} tasks=${tasks} />` : null}
    ${tasks?.map((task) => html`<${Card} key=${task.id} task=${task} />`)}`;
}

const DAYS = 14;
/** Tasks that a day shows. */
const SHOWN = 6;
const CLOCK = new Intl.DateTimeFormat(navigator.language, { timeStyle: 'short' });
const DAY = new Intl.DateTimeFormat(navigator.language, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
});

/** The runs of two weeks, day by day; a task that is due again and again stands once a day. */
function Calendar({ tasks }: { readonly tasks: readonly Task[] }): VNode {
  const today = new Date();
  const days = Array.from(
    { length: DAYS },
    (_, ahead) => new Date(today.getFullYear(), today.getMonth(), today.getDate() + ahead),
  );
  return html`<ol class="calendar">${days.map((day) => {
    const ofDay = tasks
      .map((task) => ({
        task,
        runs: task.next.filter((at) => isOn(at, day)),
        // Of this day not all runs are known, or none.
        goesOn: task.isMore && !isAfter(task.next.at(-1), day),
      }))
      .filter(({ runs, goesOn }) => runs.length > 0 || goesOn)
      .sort((one, other) => (one.runs[0] ?? 0) - (other.runs[0] ?? 0));
    return html`<li key=${day.getTime()} class=${ofDay.length === 0 ? 'empty' : ''}><h3><time>${DAY.format(day)}</time></h3>
      <ul>${ofDay
        .slice(0, SHOWN)
        .map(
          ({ task, runs: [first, ...others], goesOn }) =>
            html`<li>${first === undefined ? null : html`<time>${CLOCK.format(first)}</time> `}${titleOf(task)}${
              goesOn
                ? html`<span class="hint">, ${scheduleInWords(task.schedule)}</span>`
                : others.length === 0
                  ? null
                  : html`<span class="hint">, ${t('times', { count: others.length + 1, last: CLOCK.format(others.at(-1)) })}</span>`
            }</li>`,
        )}</ul>
      ${ofDay.length > SHOWN ? html`<p class="hint">${t('more', { count: ofDay.length - SHOWN })}</p>` : null}</li>`;
  })}</ol>`;
}

/** Whether a moment is on a later day. */
const isAfter = (at: number | undefined, day: Date) =>
  at !== undefined &&
  at >= new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).getTime();

const isOn = (at: number, day: Date) => new Date(at).toDateString() === day.toDateString();

const titleOf = ({ id, name, prompt }: Task) => name ?? `${id}: ${prompt.slice(0, 60)}`;

function Card({ task }: { readonly task: Task }): VNode {
  const { id, folder, prompt, state, schedule, next, last } = task;
  const [runs, setRuns] = useState<readonly Run[] | null>(null);
  const onToggle = ({ currentTarget }: { readonly currentTarget: HTMLDetailsElement }) => {
    if (currentTarget.open) void get<readonly Run[]>('tasks/runs', { id }).then(setRuns);
  };
  return html`<article class="card"><div class="row"><h3>${titleOf(task)}</h3><span class="tag">${folder}</span><span class="tag">${t(state)}</span></div>
    <p>${scheduleInWords(schedule)}${next[0] === undefined ? '' : ` · ${t('next', { at: moment(next[0]) })}`}</p>
    <p class="hint">${prompt}</p>
    ${last === null ? null : html`<p class=${isBad(last) ? 'bad' : ''}>${moment(last.firedAt)}: ${t(last.outcome ?? 'open')}</p>`}
    <div class="row"><${Command} line=${`tasks run ${id} now`} label=${t('run')} />
      <${Command} line=${`tasks ${state === 'paused' ? 'resume' : 'pause'} ${id}`} label=${t(state === 'paused' ? 'resume' : 'pause')} />
      <${Command} line=${`tasks cancel ${id}`} label=${t('cancel')} /></div>
    <details onToggle=${onToggle}><summary>${t('log')}</summary>
      ${runs?.length === 0 ? html`<p class="hint">${t('no-runs')}</p>` : null}
      ${
        runs === null || runs.length === 0
          ? null
          : html`<div class="scroll" tabindex="0"><table><thead><tr><th>${t('at')}</th><th>${t('outcome')}</th><th class="number">${t('took')}</th><th>${t('said')}</th></tr></thead>
        <tbody>${runs.map(
          (
            run,
          ) => html`<tr><td>${moment(run.firedAt)}</td><td class=${isBad(run) ? 'bad' : ''}>${t(run.outcome ?? 'open')}</td>
          <td class="number">${run.startedAt === null || run.finishedAt === null ? '–' : duration(run.finishedAt - run.startedAt)}</td><td>${run.summary ?? ''}</td></tr>`,
        )}</tbody></table></div>`
      }</details>
  </article>`;
}

const isBad = ({ outcome }: Run) => outcome === 'failed' || outcome === 'gave_up';
