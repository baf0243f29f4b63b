import { Composer } from '../chat/composer.ts';
import { entriesOf, readAhead, useHistory } from '../chat/history.ts';
import { asMessages, type Message, withoutFileLines } from '../chat/one-message.ts';
import { Choices, jidOfDrawer, type Question } from '../command.ts';
import { useFirst, useGrowing } from '../growing-list.ts';
import { whenLooked } from '../lazy-view.ts';
import { epoch, turns } from '../live.ts';
import { Markdown } from '../markdown.ts';
import { memo } from '../memo.ts';
import { definePanel, get, linkTo, may, moment, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';

const t = wordsOf('chat');

type Chat = {
  readonly jid: string;
  readonly name: string;
  readonly folder: string;
  readonly isMain: boolean;
};
type Hit = {
  readonly jid: string;
  readonly chat: string;
  readonly sender: string | null;
  readonly saidAt: number;
  readonly text: string;
};

const EntryFiles = whenLooked(async () => (await import('../chat/entry-files.ts')).EntryFiles);
const ChatCommands = whenLooked(
  async () => (await import('../chat/chat-commands.ts')).ChatCommands,
);

export const panel = definePanel({
  name: 'chat',
  order: 100,
  scope: 'read',
  icon: 'M4 5h16v11H9l-5 4z',
  prepare: ([jid]) => (jid === undefined ? null : readAhead(jid)),
  view: View,
});

function View({ rest: [wanted] }: { readonly rest: readonly string[] }): VNode {
  const [chats, setChats] = useState<readonly Chat[]>([]);
  const [own, setOwn] = useState<string | null>(null);
  const [hits, setHits] = useState<readonly Hit[] | null>(null);
  useEffect(() => {
    void get<{ own: string | null; chats: readonly Chat[] }>('chat/chats').then((found) => {
      setChats(found.chats);
      setOwn(found.own);
    });
  }, [epoch.value]);
  const jid = wanted ?? own;
  // A chat that is named by the address is shown before the list of them is here.
  const isKnown = chats.length === 0 || chats.some((one) => one.jid === jid);
  const name = chats.find((one) => one.jid === jid)?.name ?? '';
  const [drawn, end] = useFirst(chats.length);
  return html`<div class=${`chat ${wanted === undefined ? 'at-list' : ''}`}>
    <aside>
      <${Search} onFound=${setHits} />
      ${
        hits === null
          ? html`<ul class="list">
            ${chats.slice(0, drawn).map(
              (one) => html`<${ChatLink} key=${one.jid} chat=${one} isShown=${one.jid === jid}
                isAtWork=${turns.value.some((turn) => turn.jid === one.jid)} />`,
            )}
            ${drawn < chats.length ? html`<li ref=${end} aria-hidden="true"></li>` : null}
          </ul>`
          : html`<${Hits} hits=${hits} />`
      }
    </aside>
    ${
      jid === null || !isKnown
        ? html`<p class="hint">${t('choose')}</p>`
        : html`<section class="talk" aria-label=${name || t('history')}>
          <${Talk} key=${jid} jid=${jid} name=${name} />
          <${Composer} jid=${jid} />
        </section>`
    }
  </div>`;
}

type LinkFacts = {
  readonly chat: Chat;
  readonly isShown: boolean;
  readonly isAtWork: boolean;
};

/** A chat of the list; only those that change are drawn anew. */
const ChatLink = memo(
  ({ chat: { jid, name, isMain, folder }, isShown, isAtWork }: LinkFacts): VNode => html`<li>
    <a href=${linkTo('chat', jid)} aria-current=${isShown ? 'true' : null}>
      <span class="own-side">${name}</span>
      ${isAtWork ? html`<span class="dot" title=${t('at-work')}></span>` : null}
      <span class="tag">${isMain ? t('yours') : folder}</span>
    </a>
  </li>`,
  ({ chat, isShown, isAtWork }) => [chat, isShown, isAtWork],
);

function Search({ onFound }: { readonly onFound: (hits: readonly Hit[] | null) => void }): VNode {
  const search = async (event: Event) => {
    event.preventDefault();
    const text = String(new FormData(event.target as HTMLFormElement).get('text')).trim();
    onFound(text === '' ? null : await get<readonly Hit[]>('chat/search', { text }));
  };
  return html`<form role="search" onSubmit=${search}>
    <input type="search" name="text" aria-label=${t('search')} placeholder=${t('search')} maxlength="200"
      onInput=${(event: Event) => (event.target as HTMLInputElement).value === '' && onFound(null)} />
  </form>`;
}

function Hits({ hits }: { readonly hits: readonly Hit[] }): VNode {
  if (hits.length === 0) return html`<p class="hint" role="status">${t('found-nothing')}</p>`;
  return html`<ul class="list" aria-label=${t('found')}>
    ${hits.map(
      (hit) => html`<li>
        <a href=${linkTo('chat', hit.jid)}>
          <small><bdi>${hit.chat}</bdi> · <bdi>${hit.sender ?? t('assistant')}</bdi> · ${moment(hit.saidAt)}</small>
          <span class="excerpt own-side">${hit.text}</span>
        </a>
      </li>`,
    )}
  </ul>`;
}

type TalkFacts = { readonly jid: string; readonly name: string };

/** The entries of a chat that were read so far: pages of the past are put before them. */
function Talk({ jid, name }: TalkFacts): VNode {
  const [isOpen, setOpen] = useState(false);
  const [history, older] = useHistory(jid);
  const { page, isAll } = history;
  const live = turns.value.filter((turn) => turn.jid === jid);
  const entries = entriesOf(history);
  const drawn = useGrowing(entries.length);
  return html`<header class="row">
      <a class="back" href=${linkTo('chat')} aria-label=${t('chats')}>‹</a>
      <h1>${name}</h1>
      ${may('admin') ? html`<button type="button" class="push" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${t('settings')}</button>` : null}
      ${isOpen && name !== '' ? html`<${ChatCommands} jid=${jid} name=${name} />` : null}
    </header>
    <div class="log" tabindex="0" role="log" aria-label=${t('history')}><div class="entries">
      ${page !== null && !isAll ? html`<button type="button" onClick=${older}>${t('older')}</button>` : null}
      ${page !== null && entries.length === 0 ? html`<p class="hint">${t('empty')}</p>` : null}
      ${asMessages(entries.slice(-drawn)).map((message) => html`<${Said} key=${keyOf(message)} jid=${jid} message=${message} />`)}
      ${live.map(
        (turn) => html`<article class="said theirs live" key=${turn.turn} aria-busy="true">
          ${turn.text === '' ? null : html`<${Markdown} text=${turn.text} />`}
          <p class="busy">${turn.lines.at(-1) ?? turn.title ?? t('thinking')} …</p>
        </article>`,
      )}
      ${jidOfDrawer.value === jid ? null : page?.questions.map((question) => html`<${Asked} key=${question.id} question=${question} />`)}
    </div></div>`;
}

/** A message is the same one when more of its files come. */
function keyOf({ parts: [first] }: Message): string {
  return `${first?.kind}${first?.seq}`;
}

/** Characters that the assistant sends at a time; longer texts are shown as they are. */
const PART = 100_000;

/** It is drawn once, however often the answer below it grows. */
const Said = memo(Words, ({ jid, message: { words, parts } }) => [
  jid,
  words.seq,
  words.text,
  parts.length,
]);

type SaidFacts = { readonly jid: string; readonly message: Message };

function Words({ jid, message }: SaidFacts): VNode {
  const [whole, setWhole] = useState<string | null>(null);
  const { parts, words } = message;
  const { kind, seq, sender, isOwner, at, text, length } = words;
  const hasFiles = parts.some(({ files }) => files.length > 0);
  const known = hasFiles ? withoutFileLines(whole ?? text) : (whole ?? text);
  const [isAllHere, setIsAllHere] = useState(length <= text.length);
  // A text of megabytes comes part by part, and from the second on without its formatting.
  const more = async () => {
    const from = whole?.length ?? 0;
    const part = await get<string | null>('chat/whole', { jid, kind, seq, from });
    setWhole(`${whole ?? ''}${part ?? ''}`);
    setIsAllHere((part?.length ?? 0) < PART);
  };
  return html`<article class=${`said ${isOwner ? 'mine' : 'theirs'}`}>
    <small><bdi>${isOwner ? t('you') : (sender ?? t('assistant'))}</bdi> · <time>${moment(at)}</time></small>
    ${kind === 'answer' && known.length <= PART ? html`<${Markdown} text=${known} />` : known === '' ? null : html`<p class="words own-side">${known}</p>`}
    ${hasFiles ? html`<${EntryFiles} jid=${jid} parts=${parts} />` : null}
    ${!isAllHere ? html`<button type="button" onClick=${more}>${t('whole', { length })}</button>` : null}
  </article>`;
}

function Asked({ question }: { readonly question: Question }): VNode {
  return html`<article class="asked" aria-label=${t('question')}>
    ${question.isForOwner ? null : html`<p class="hint">${t('not-yours')}</p>`}
    ${
      question.options.length === 0
        ? html`<p class="hint">${t('answer-below')}</p>`
        : html`<${Choices} question=${question} />`
    }
  </article>`;
}
