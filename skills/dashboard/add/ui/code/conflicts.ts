import { Command } from '../command.ts';
import { epoch, onLive } from '../live.ts';
import { get, linkTo, may, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';
import { authorOf, nameOf, Sides } from './conflict-sides.ts';

// A change that waits for decisions: all sides of each conflict, and the choices of the chat as buttons.

const t = wordsOf('code');

type Place = {
  readonly line: number;
  readonly declaration: string | null;
  readonly layers: readonly string[];
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
  readonly choices: readonly string[];
};
type Conflict = {
  readonly path: string;
  readonly kind: string;
  readonly layers: readonly string[];
  readonly reason: string;
  readonly decidable: boolean;
  readonly decision: { readonly origin: string; readonly patch: string | null } | null;
  readonly places: readonly Place[];
  readonly keeps: { readonly ours: string | null; readonly theirs: string | null };
  readonly values: {
    readonly base: unknown;
    readonly ours: unknown;
    readonly theirs: unknown;
  } | null;
  readonly sizes: { readonly ours: number | null; readonly theirs: number | null };
  readonly choices: readonly {
    readonly label: string;
    readonly line: string;
    readonly takesText: boolean;
  }[];
};
type Waiting = { readonly operation: string; readonly conflicts: readonly Conflict[] };

export function ConflictsView(): VNode {
  const [waiting, setWaiting] = useState<Waiting | null | 'reading'>('reading');
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const read = () =>
      void get<Waiting | null>('code/conflicts').then(setWaiting, ({ message }) =>
        setProblem(message),
      );
    read();
    return onLive((event) => {
      if (event.kind === 'ended' || event.kind === 'asked') read();
    });
  }, [epoch.value]);
  const back = html`<p><a href=${linkTo('code')}>‹ ${t('all')}</a></p>`;
  if (problem !== null) return html`${back}<p class="problem" role="alert">${problem}</p>`;
  if (waiting === 'reading') return html`${back}<p class="hint" role="status">${t('reading')}</p>`;
  if (waiting === null)
    return html`${back}<h1>${t('conflicts')}</h1><p class="hint">${t('none-waits')}</p>`;
  const open = waiting.conflicts.filter(({ decision }) => decision === null).length;
  return html`${back}<h1>${t('waits', { command: waiting.operation })}</h1>
    <p>${open === 0 ? t('all-decided') : t('open', { count: open })} ${t('nothing-changed')}</p>
    ${waiting.conflicts.map((conflict) => html`<${Card} key=${conflict.path} conflict=${conflict} />`)}
    <div class="row">
      ${open === 0 ? html`<${Command} line="conflicts" label=${t('prove')} />` : null}
      <${Command} line="conflicts give up" label=${t('give-up')} />
    </div>`;
}

function Card({ conflict }: { readonly conflict: Conflict }): VNode {
  const { path, kind, layers, reason, decision, places, keeps, values, sizes, choices } = conflict;
  return html`<article class="card conflict">
    <div class="row"><h3><code>${path}</code></h3><span class="tag">${kind}</span>
      <span class=${decision === null ? 'bad' : 'good'}>${decision === null ? t('undecided') : t('decided-by', { who: authorOf(decision.origin) })}</span></div>
    <p>${layers.map(nameOf).join(' ↔ ')}: ${reason}</p>
    ${places.map(
      (
        place,
      ) => html`<p class="hint">${t('line')} ${place.line}${place.declaration === null ? null : html` · <code>${place.declaration}</code>`}</p>
        <${Sides} ...${place} keeps=${keeps} />`,
    )}
    ${
      values === null
        ? null
        : html`<${Sides} layers=${layers} keeps=${keeps} base=${valueText(values.base)} ours=${valueText(values.ours)} theirs=${valueText(values.theirs)} />`
    }
    ${
      places.length === 0 && values === null
        ? html`<ul>${layers.map((layer, at) => html`<li>${nameOf(layer)}: ${sizeText(at === 0 ? sizes.ours : sizes.theirs)}</li>`)}</ul>`
        : null
    }
    ${decision?.patch ? html`<details><summary>${t('decided')}</summary><pre tabindex="0">${decision.patch}</pre></details>` : null}
    ${conflict.decidable ? null : html`<p>${t('move-away')}</p>`}
    <div class="choices" role="group" aria-label=${t('choices', { path })}>
      ${choices.map((choice) =>
        choice.takesText
          ? html`<${Value} key=${choice.line} line=${choice.line} />`
          : html`<${Command} key=${choice.line} line=${choice.line} label=${choice.label} />`,
      )}
    </div>
    ${places.length > 1 ? html`<${ByPlace} path=${path} places=${places} />` : null}
  </article>`;
}

/** A value that the owner writes. */
function Value({ line }: { readonly line: string }): VNode | null {
  const [value, setValue] = useState('');
  if (!may('admin')) return null;
  return html`<span class="row">
    <label>${t('value')} <input value=${value} maxlength="2000"
      onInput=${({ target }: { target: HTMLInputElement }) => setValue(target.value)} /></label>
    ${value.trim() === '' ? null : html`<${Command} line=${`${line} ${value.trim()}`} label=${t('take-value')} />`}
  </span>`;
}

/** A choice for each place of a file; all together are one command. */
function ByPlace({
  path,
  places,
}: {
  readonly path: string;
  readonly places: readonly Place[];
}): VNode | null {
  const [chosen, setChosen] = useState<readonly number[]>(places.map(() => 1));
  if (!may('admin')) return null;
  return html`<details><summary>${t('by-place')}</summary>
    ${places.map(
      ({ line, choices }, at) => html`<fieldset><legend>${t('line')} ${line}</legend>
        ${choices.map(
          (
            label,
            way,
          ) => html`<label class="way"><input type="radio" name=${`${path}:${line}`} checked=${chosen[at] === way + 1}
            onChange=${() => setChosen(chosen.map((one, place) => (place === at ? way + 1 : one)))} /> ${label}</label>`,
        )}</fieldset>`,
    )}
    <${Command} line=${`conflicts ${path} ${chosen.join(',')}`} label=${t('decide-places')} />
  </details>`;
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

function sizeText(size: number | null): string {
  return size === null ? t('no-file') : t('bytes', { count: size });
}
