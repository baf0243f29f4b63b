import { epoch } from '../live.ts';
import { get, linkTo, moment, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';

// Which skills go together: a grid of all pairs, as `claw matrix` finds it.

const t = wordsOf('code');

type Cell = {
  readonly skills: readonly string[];
  readonly shares: readonly string[];
  readonly outcome: Outcome;
  readonly conflicts: readonly { readonly path: string; readonly reason: string }[];
  readonly failures: readonly { readonly name: string; readonly text: string }[];
  readonly refusal: { readonly message: string } | null;
};
type Outcome = 'clean' | 'resolved' | 'excluded' | 'conflict' | 'failing' | 'refused';
type Together = {
  readonly at: number;
  readonly data: { readonly skills: readonly string[]; readonly cells: readonly Cell[] };
};

const MARKS: Readonly<Record<Outcome, string>> = {
  clean: '✓',
  resolved: '≈',
  excluded: '–',
  conflict: '✗',
  failing: '!',
  refused: '?',
};

export function TogetherView(): VNode {
  const [together, setTogether] = useState<Together | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isWhole, setWhole] = useState(false);
  const [chosen, setChosen] = useState<Cell | null>(null);
  useEffect(() => {
    void get<Together>('code/together').then(setTogether, ({ message }) => setProblem(message));
  }, [epoch.value]);
  const back = html`<p><a href=${linkTo('code')}>‹ ${t('all')}</a></p><h1>${t('together')}</h1>`;
  if (problem !== null) return html`${back}<p class="problem" role="alert">${problem}</p>`;
  if (together === null) return html`${back}<p class="hint" role="status">${t('composing')}</p>`;
  const { skills, cells } = together.data;
  const byNames = new Map(cells.map((cell) => [cell.skills.join(' '), cell]));
  const meeting = new Set(
    cells
      .filter((cell) => cell.skills.length > 1 || cell.outcome !== 'clean')
      .flatMap((cell) => cell.skills),
  );
  const shown = isWhole ? skills : skills.filter((name) => meeting.has(name));
  const pairs = cells.filter((cell) => cell.skills.length === 2);
  return html`${back}
    <p>${t('together-note', { pairs: pairs.length, skills: skills.length })} <span class="hint">${t('found', { when: moment(together.at) })}</span></p>
    <p><label><input type="checkbox" checked=${isWhole} onChange=${() => setWhole(!isWhole)} /> ${t('whole-grid')}</label></p>
    <div class="scroll" tabindex="0" role="group" aria-label=${t('together')}><table class="grid">
      <thead><tr><td></td>${shown.map((name) => html`<th scope="col"><span>${name}</span></th>`)}</tr></thead>
      <tbody>${shown.map(
        (name, row) =>
          html`<tr><th scope="row">${name}</th>${shown.slice(0, row + 1).map((other) => {
            const cell = byNames.get([...new Set([other, name])].join(' '));
            if (cell === undefined) return html`<td title=${t('apart')}>·</td>`;
            return html`<td><button type="button" class=${cell.outcome} aria-pressed=${cell === chosen}
            aria-label=${`${cell.skills.join(' + ')}: ${t(`cell-${cell.outcome}`)}`} title=${cell.skills.join(' + ')}
            onClick=${() => setChosen(cell)}>${MARKS[cell.outcome]}</button></td>`;
          })}</tr>`,
      )}</tbody>
    </table></div>
    ${
      shown.length === 0
        ? null
        : html`<ul class="row legend">${(Object.keys(MARKS) as Outcome[])
            .filter((outcome) => cells.some((cell) => cell.outcome === outcome))
            .map(
              (outcome) =>
                html`<li><span class=${outcome}>${MARKS[outcome]}</span> ${t(`cell-${outcome}`)}</li>`,
            )}<li>· ${t('apart')}</li></ul>`
    }
    <div aria-live="polite">${chosen === null ? null : html`<${Detail} cell=${chosen} />`}</div>`;
}

function Detail({
  cell: { skills, shares, outcome, conflicts, failures, refusal },
}: {
  readonly cell: Cell;
}): VNode {
  return html`<article class="card"><div class="row"><h3>${skills.join(' + ')}</h3><span class="tag">${t(`cell-${outcome}`)}</span></div>
    ${shares.length === 0 ? null : html`<p>${t('shares')}: ${shares.map((one) => html`<code class="tag">${one}</code> `)}</p>`}
    ${conflicts.map(({ path, reason }) => html`<p><code>${path}</code>: ${reason}</p>`)}
    ${failures.map(({ name, text }) => html`<p>${name}</p><pre tabindex="0">${text}</pre>`)}
    ${refusal === null ? null : html`<p class="problem">${refusal.message}</p>`}
    <p class="hint"><code>npx claw matrix ${skills.join(' ')}</code></p></article>`;
}
