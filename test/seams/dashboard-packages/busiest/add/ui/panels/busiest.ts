import { definePanel, get, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';

const t = wordsOf('busiest');

type Chat = { readonly name: string; readonly messages: number };

export const panel = definePanel({
  name: 'busiest',
  order: 650,
  scope: 'read',
  icon: 'M4 20V10M10 20V4M16 20v-8M22 20H2',
  view: View,
});

function View(): VNode {
  const [chats, setChats] = useState<readonly Chat[]>([]);
  useEffect(() => void get<readonly Chat[]>('busiest/chats').then(setChats), []);
  return html`<h1>${t('title')}</h1>
    <table><thead><tr><th>${t('chat')}</th><th class="number">${t('messages')}</th></tr></thead>
    <tbody>${chats.map(
      ({ name, messages }) => html`<tr><td>${name}</td><td class="number">${messages}</td></tr>`,
    )}</tbody></table>`;
}
