import { definePanel, get, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';

const t = wordsOf('reactions');

export const panel = definePanel({
  name: 'reactions',
  order: 250,
  scope: 'read',
  icon: 'M12 20s-7-4.4-7-9.5A3.9 3.9 0 0 1 12 8a3.9 3.9 0 0 1 7 2.5c0 5.1-7 9.5-7 9.5z',
  view: View,
});

function View(): VNode {
  const [counts, setCounts] = useState<Readonly<Record<string, number>>>({});
  useEffect(
    () => void get<Readonly<Record<string, number>>>('reactions/counts').then(setCounts),
    [],
  );
  const entries = Object.entries(counts);
  return html`<h1>${t('title')}</h1>
    ${entries.length === 0 ? html`<p class="hint">${t('none')}</p>` : null}
    <ul>${entries.map(([emoji, count]) => html`<li>${emoji} ${count}</li>`)}</ul>`;
}
