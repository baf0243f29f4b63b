import { asMessages, type Message, withoutFileLines } from '../chat/one-message.ts';
import { Choices, type Entry, jidOfDrawer, type Page, type Question } from '../command.ts';
import { useFirst, useGrowing } from '../growing-list.ts';
import { epoch, keepFresh, turns } from '../live.ts';
import { whenLooked } from '../loaded.ts';
import { Markdown } from '../markdown.ts';
import { definePanel, get, linkTo, may, moment, post, wordsOf } from '../page.ts';
import { html, useEffect, useMemo, useRef, useState, type VNode } from '../vendor.ts';

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
    ${jid === null || !isKnown ? html`<p class="hint">${t('choose')}</p>` : html`<${Talk} key=${jid} jid=${jid} name=${name} />`}
  </div>`;
}

type LinkFacts = {
  readonly chat: Chat;
  readonly isShown: boolean;
  readonly isAtWork: boolean;
};

/** A chat of the list; only those that change are drawn anew. */
function ChatLink({ chat, isShown, isAtWork }: LinkFacts): VNode {
  const { jid, name, isMain, folder } = chat;
  return useMemo(
    () => html`<li>
      <a href=${linkTo('chat', jid)} aria-current=${isShown ? 'true' : null}>
        <span>${name}</span>
        ${isAtWork ? html`<span class="dot" title=${t('at-work')}></span>` : null}
        <span class="tag">${isMain ? t('yours') : folder}</span>
      </a>
    </li>`,
    [chat, isShown, isAtWork],
  );
}

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
          <small>${hit.chat} · ${hit.sender ?? t('assistant')} · ${moment(hit.saidAt)}</small>
          <span class="excerpt">${hit.text}</span>
        </a>
      </li>`,
    )}
  </ul>`;
}

/** The entries of a chat that were read so far: pages of the past are put before them. */
function Talk({ jid, name }: { readonly jid: string; readonly name: string }): VNode {
  const [past, setPast] = useState<readonly Entry[]>([]);
  const [page, setPage] = useState<Page | null>(null);
  const [isAll, setIsAll] = useState(false);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    let isGone = false;
    const read = async () => {
      const next = await get<Page>('chat/history', { jid }).catch(() => null);
      if (isGone || next === null) return;
      setPage((before) => {
        if (before === null) setIsAll(next.isAll);
        else setPast((older) => joined(older, before.entries, next.entries));
        return next;
      });
    };
    const end = keepFresh(
      (event) => event.kind === 'hello' || (event.kind === 'chat' && event.jid === jid),
      read,
    );
    return () => {
      isGone = true;
      end();
    };
  }, [jid]);
  const live = turns.value.filter((turn) => turn.jid === jid);
  const entries = page === null ? [] : joined(past, [], page.entries).concat(page.entries);
  const drawn = useGrowing(entries.length);
  const older = async () => {
    const before = { message: lowest(entries, 'message'), answer: lowest(entries, 'answer') };
    const more = await get<Page>('chat/history', { jid, ...before });
    setIsAll(more.isAll);
    setPast([...more.entries, ...past]);
  };
  return html`<section class="talk" aria-label=${name || t('history')}>
    <header class="row">
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
    </div></div>
    <${Composer} jid=${jid} isAtWork=${live.some(({ work }) => work === 'agent')} />
  </section>`;
}

/** Returns what was read before and is older than the newest page. */
function joined(
  older: readonly Entry[],
  before: readonly Entry[],
  page: readonly Entry[],
): Entry[] {
  const known = new Set(page.map(({ kind, seq }) => `${kind}${seq}`));
  const from = { message: lowest(page, 'message'), answer: lowest(page, 'answer') };
  return [...older, ...before].filter(
    ({ kind, seq }) => !known.has(`${kind}${seq}`) && seq < from[kind],
  );
}

function lowest(entries: readonly Entry[], kind: Entry['kind']): number {
  const seqs = entries.filter((entry) => entry.kind === kind).map(({ seq }) => seq);
  return seqs.length === 0 ? Number.MAX_SAFE_INTEGER : Math.min(...seqs);
}

/** A message is the same one when more of its files come. */
function keyOf({ parts: [first] }: Message): string {
  return `${first?.kind}${first?.seq}`;
}

/** Characters that the assistant sends at a time; longer texts are shown as they are. */
const PART = 100_000;

function Said({ jid, message }: { readonly jid: string; readonly message: Message }): VNode {
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
  // It is drawn once, however often the answer below it grows.
  return useMemo(
    () => html`<article class=${`said ${isOwner ? 'mine' : 'theirs'}`}>
    <small>${isOwner ? t('you') : (sender ?? t('assistant'))} · <time>${moment(at)}</time></small>
    ${kind === 'answer' && known.length <= PART ? html`<${Markdown} text=${known} />` : known === '' ? null : html`<p class="words">${known}</p>`}
    ${hasFiles ? html`<${EntryFiles} jid=${jid} parts=${parts} />` : null}
    ${!isAllHere ? html`<button type="button" onClick=${more}>${t('whole', { length })}</button>` : null}
  </article>`,
    [seq, text, whole, isAllHere, parts.length],
  );
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

/** The same as of every channel. */
const MOST_BYTES = 20_000_000;
const MOST_FILES = 10;

function Composer({
  jid,
  isAtWork,
}: {
  readonly jid: string;
  readonly isAtWork: boolean;
}): VNode | null {
  const [problem, setProblem] = useState<string | null>(null);
  const [files, setFiles] = useState<readonly File[]>([]);
  const [share, setShare] = useState<number | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  if (!may('talk')) return null;
  const say = async (text: string, sent: readonly File[] = []) => {
    try {
      setProblem(null);
      if (sent.length === 0) await post('chat/say', { jid, text });
      else {
        const { sendFiles } = await import('../chat/send-files.ts');
        await sendFiles({ jid, text, files: sent }, setShare);
      }
      return true;
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      return false;
    } finally {
      setShare(null);
    }
  };
  const send = async (event?: Event) => {
    event?.preventDefault();
    const text = field.current?.value.trim() ?? '';
    if ((text === '' && files.length === 0) || field.current === null || share !== null) return;
    field.current.value = '';
    setFiles([]);
    if (await say(text, files)) return;
    setFiles(files);
    if (field.current.value === '') field.current.value = text;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) void send(event);
  };
  const add = (list: FileList | null | undefined) => {
    const chosen = [...(list ?? [])];
    const tooLarge = chosen.find(({ size }) => size === 0 || size > MOST_BYTES);
    setProblem(tooLarge === undefined ? null : t('too-large', { name: tooLarge.name }));
    if (tooLarge === undefined) setFiles([...files, ...chosen].slice(0, MOST_FILES));
  };
  const onChosen = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
    add(currentTarget.files);
    currentTarget.value = '';
  };
  const onPaste = (event: ClipboardEvent) => {
    if ((event.clipboardData?.files.length ?? 0) === 0) return;
    event.preventDefault();
    add(event.clipboardData?.files);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    add(event.dataTransfer?.files);
  };
  return html`<form class="composer" onSubmit=${send} onDrop=${onDrop} onDragOver=${(event: Event) => event.preventDefault()}>
    ${problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`}
    ${
      files.length === 0
        ? null
        : html`<ul class="row chosen" aria-label=${t('chosen-files')}>${files.map(
            (file, at) => html`<li key=${`${at}${file.name}`} class="tag">${file.name}
        <button type="button" aria-label=${t('leave-out', { name: file.name })} onClick=${() => setFiles(files.filter((one) => one !== file))}>✕</button></li>`,
          )}</ul>`
    }
    ${share === null ? null : html`<p class="busy" role="status">${t('sending', { share: Math.round(share * 100) })}</p>`}
    <label class="attach" title=${t('add-files')}><input class="attach-field" type="file" multiple aria-label=${t('add-files')} onChange=${onChosen} />
      <svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="M20 11l-8 8a5 5 0 0 1-7-7l9-9a3.3 3.3 0 0 1 5 5l-9 9a1.7 1.7 0 0 1-2.4-2.4L15 7" /></svg></label>
    <textarea rows="2" ref=${field} aria-label=${t('message')} placeholder=${t('message')} maxlength="20000" onKeyDown=${onKeyDown} onPaste=${onPaste}></textarea>
    ${isAtWork && may('admin') ? html`<button type="button" title="/stop" onClick=${() => say('/stop')}>${t('stop')} <code>/stop</code></button>` : null}
    <button type="submit" class="main">${t('send')}</button>
  </form>`;
}
