import { epoch } from '../live.ts';
import { codeLine, get, linkTo, moment, wordsOf } from '../page.ts';
import { html, useEffect, useRef, useState, type VNode } from '../vendor.ts';
import { authorOf, nameOf } from './conflict-sides.ts';

// A file with the owner of every line: which release, skill, decision or edit each comes from.

const t = wordsOf('code');

type Owner = {
  readonly owner: string;
  readonly kind: string;
  readonly version?: string | null;
  readonly description?: string;
  readonly key?: string;
  readonly layers?: readonly string[];
  readonly origin?: string | null;
};
type LineRange = Owner & { readonly from: number; readonly to: number; readonly text: string };
type Why = {
  readonly path: string;
  readonly ranges: readonly LineRange[];
  readonly binary: boolean;
  readonly gone: (Owner & { readonly movedTo: string | null }) | null;
  readonly commands: readonly { readonly time: string; readonly summary: string }[];
};

const SHOWN = 1_000;

/** The end of the address may name a line, as `claw why` does: `src/a.ts:12`. */
export function WhyView({ rest }: { readonly rest: readonly string[] }): VNode {
  const [, path = '', line = ''] = /^(.*?)(?::(\d+))?$/.exec(rest.join('/')) ?? [];
  const [why, setWhy] = useState<Why | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    setProblem(null);
    setWhy(null);
    void get<Why>('code/why', { path }).then(setWhy, ({ message }) => setProblem(message));
  }, [path, epoch.value]);
  const owners = [...new Set(why?.ranges.map(({ owner }) => owner))];
  return html`<p><a href=${linkTo('code', 'files', ...path.split('/').slice(0, -1))}>‹ ${t('file-tree')}</a></p><h1><code>${path}</code></h1>
    ${problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`}
    ${why === null && problem === null ? html`<p class="hint" role="status">${t('reading')}</p>` : null}
    ${why === null ? null : html`<ul class="row owners">${owners.map((owner, at) => html`<li class=${`owner-${at % 6}`}>${nameOf(owner)}</li>`)}</ul>`}
    ${why?.binary ? html`<p class="hint">${t('binary')}</p>` : null}
    ${
      why?.gone
        ? html`<p>${t('gone', { owner: nameOf(why.gone.owner) })} ${why.gone.movedTo === null ? null : html`<a href=${linkTo('code', 'why', ...why.gone.movedTo.split('/'))}>${why.gone.movedTo}</a>`}</p>`
        : null
    }
    ${why === null || why.binary || why.ranges.length === 0 ? null : html`<${FileLines} why=${why} owners=${owners} line=${Number(line) || 0} />`}`;
}

function FileLines({
  why: { path, ranges, commands },
  owners,
  line,
}: {
  readonly why: Why;
  readonly owners: readonly string[];
  readonly line: number;
}): VNode {
  const [more, setMore] = useState(0);
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    const lines = place.current;
    lines?.querySelector(`[data-line="${line}"]`)?.scrollIntoView({ block: 'center' });
    // A long line is not scrolled to its end: the owners stand at the beginning.
    if (lines) lines.scrollLeft = 0;
  }, [line, path]);
  const last = ranges.at(-1)?.to ?? 0;
  const shown = Math.min(last, Math.max(SHOWN + more, line + 100));
  const chosen = ranges.find(({ from, to }) => from <= line && line <= to) ?? null;
  const to = (number: number) => linkTo('code', 'why', ...`${path}:${number}`.split('/'));
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    // The address is ahead of what is drawn, where keys come quickly.
    const now = Number(/:(\d+)$/.exec(decodeURIComponent(location.hash))?.[1] ?? line);
    const next = now + step;
    if (step === 0 || next < 1 || next > last) return;
    event.preventDefault();
    location.replace(to(next));
  };
  return html`<div class="file">
    <div class="why scroll" tabindex="0" role="group" aria-label=${t('lines-of', { path })} ref=${place} onKeyDown=${onKey}>
      ${ranges
        .filter(({ from }) => from <= shown)
        .map(
          ({
            from,
            owner,
            kind,
            version,
            text,
          }) => html`<div key=${from} class=${`range owner-${owners.indexOf(owner) % 6}`}>
        <span class="who" title=${`${t(kind)} ${version ?? ''}`}>${nameOf(owner)}</span>
        <pre>${text
          .replace(/\n$/, '')
          .split('\n')
          .slice(0, shown - from + 1)
          .map((words, at) => {
            const number = from + at;
            return html`<a key=${number} data-line=${number} class=${number === line ? 'line chosen' : 'line'} href=${to(number)} tabindex="-1"
              aria-current=${number === line ? 'true' : null}><span class="number">${number}</span>${codeLine(words)}\n</a>`;
          })}</pre>
      </div>`,
        )}
    </div>
    ${shown < last ? html`<button type="button" onClick=${() => setMore(more + 4_000)}>${t('more', { count: last - shown })}</button>` : null}
    <aside class="card" aria-live="polite">
      ${
        chosen === null
          ? html`<p class="hint">${t('choose-line')}</p>`
          : html`<h3>${t('line')} ${line}: ${nameOf(chosen.owner)}</h3>
      <p>${t(chosen.kind)} ${chosen.version ?? ''}</p>
      ${chosen.description ? html`<p>${chosen.description}</p>` : null}
      ${chosen.layers === undefined ? null : html`<p>${chosen.layers.map(nameOf).join(' ↔ ')}${chosen.origin ? `, ${t('decided-by', { who: authorOf(chosen.origin) })}` : ''}</p>`}
      ${chosen.kind === 'skill' ? html`<p><a href=${linkTo('code', 'plan', 'remove', chosen.owner)}>${t('look-remove')}</a></p>` : null}
      <p class="hint"><code>npx claw why ${path}:${line}</code></p>`
      }
      ${commands.length === 0 ? null : html`<h3>${t('changed-by')}</h3><ul>${commands.map(({ time, summary }) => html`<li><code>${summary}</code> <span class="hint">${moment(Date.parse(time))}</span></li>`)}</ul>`}
    </aside>
  </div>`;
}
