import { get, linkTo, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';

// The folders of the code, one at a time; a file leads to the owners of its lines.

const t = wordsOf('code');

type Listed = { readonly folders: readonly string[]; readonly files: readonly string[] };

export function FilesView({ rest }: { readonly rest: readonly string[] }): VNode {
  const [listed, setListed] = useState<Listed | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const folder = rest.join('/');
  useEffect(() => {
    setListed(null);
    setProblem(null);
    void get<Listed>('code/files', { folder }).then(setListed, ({ message }) =>
      setProblem(message),
    );
  }, [folder]);
  return html`<p><a href=${linkTo('code')}>‹ ${t('all')}</a></p>
    <h1>${t('file-tree')}</h1>
    <nav class="crumbs" aria-label=${t('folders-above')}><a href=${linkTo('code', 'files')}>${t('top')}</a>${rest.map(
      (name, at) =>
        html` / <a href=${linkTo('code', 'files', ...rest.slice(0, at + 1))} aria-current=${at === rest.length - 1 ? 'page' : null}>${name}</a>`,
    )}</nav>
    ${problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`}
    ${listed === null && problem === null ? html`<p class="hint" role="status">${t('reading')}</p>` : null}
    <ul class="tree">${listed?.folders.map((name) => html`<li key=${name}><a href=${linkTo('code', 'files', ...rest, name)}><strong>${name}/</strong></a></li>`)}
      ${listed?.files.map((name) => html`<li key=${name}><a href=${linkTo('code', 'why', ...rest, name)}>${name}</a></li>`)}</ul>`;
}
