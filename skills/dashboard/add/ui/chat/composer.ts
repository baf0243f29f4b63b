import { turns } from '../live.ts';
import { may, post, wordsOf } from '../page.ts';
import { html, signal, type VNode } from '../vendor.ts';

const t = wordsOf('chat');

/** The same as of every channel. */
const MOST_BYTES = 20_000_000;
const MOST_FILES = 10;

/** What somebody is about to send to a chat. It is there again when they come back to the chat. */
type Draft = {
  readonly text: string;
  readonly files: readonly File[];
  readonly problem: string | null;
  /** The part of the files that was sent, while they are sent. */
  readonly share: number | null;
};

const drafts = signal<Readonly<Record<string, Draft>>>({});

/** The words outlive a reload of the page in this tab; the browser does not keep files. */
const storedAs = (jid: string): string => `draft ${jid}`;

function draftOf(jid: string): Draft {
  const known = drafts.value[jid];
  if (known !== undefined) return known;
  return {
    text: sessionStorage.getItem(storedAs(jid)) ?? '',
    files: [],
    problem: null,
    share: null,
  };
}

function change(jid: string, by: Partial<Draft>): void {
  drafts.value = { ...drafts.value, [jid]: { ...draftOf(jid), ...by } };
  const { text } = draftOf(jid);
  if (text === '') sessionStorage.removeItem(storedAs(jid));
  else sessionStorage.setItem(storedAs(jid), text);
}

async function say(jid: string, text: string, files: readonly File[] = []): Promise<boolean> {
  try {
    change(jid, { problem: null });
    if (files.length === 0) await post('chat/say', { jid, text });
    else {
      const { sendFiles } = await import('./send-files.ts');
      await sendFiles({ jid, text, files }, (share) => change(jid, { share }));
    }
    return true;
  } catch (error) {
    change(jid, { problem: error instanceof Error ? error.message : String(error) });
    return false;
  } finally {
    change(jid, { share: null });
  }
}

async function send(jid: string): Promise<void> {
  const { text, files, share } = draftOf(jid);
  if ((text.trim() === '' && files.length === 0) || share !== null) return;
  change(jid, { text: '', files: [] });
  if (await say(jid, text.trim(), files)) return;
  // Nothing is lost, neither of what was to be sent nor of what was written meanwhile.
  const since = draftOf(jid);
  change(jid, { text: since.text === '' ? text : since.text, files: [...files, ...since.files] });
}

function add(jid: string, list: FileList | null | undefined): void {
  const chosen = [...(list ?? [])];
  const tooLarge = chosen.find(({ size }) => size === 0 || size > MOST_BYTES);
  if (tooLarge !== undefined) change(jid, { problem: t('too-large', { name: tooLarge.name }) });
  else {
    const files = [...draftOf(jid).files, ...chosen].slice(0, MOST_FILES);
    change(jid, { problem: null, files });
  }
}

/** The field for a message to a chat, its files, and what stops the answer that is being written. */
export function Composer({ jid }: { readonly jid: string }): VNode | null {
  if (!may('talk')) return null;
  const { text, files, problem, share } = draftOf(jid);
  const isAtWork = turns.value.some((turn) => turn.jid === jid && turn.work === 'agent');
  const onInput = ({ currentTarget }: { readonly currentTarget: HTMLTextAreaElement }) => {
    change(jid, { text: currentTarget.value });
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    void send(jid);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) onSubmit(event);
  };
  const onChosen = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
    add(jid, currentTarget.files);
    currentTarget.value = '';
  };
  const onPaste = (event: ClipboardEvent) => {
    if ((event.clipboardData?.files.length ?? 0) === 0) return;
    event.preventDefault();
    add(jid, event.clipboardData?.files);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    add(jid, event.dataTransfer?.files);
  };
  return html`<form class="composer" onSubmit=${onSubmit} onDrop=${onDrop} onDragOver=${(event: Event) => event.preventDefault()}>
    ${problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`}
    ${
      files.length === 0
        ? null
        : html`<ul class="row chosen" aria-label=${t('chosen-files')}>${files.map(
            (file, at) => html`<li key=${`${at}${file.name}`} class="tag">${file.name}
        <button type="button" aria-label=${t('leave-out', { name: file.name })} onClick=${() => change(jid, { files: files.filter((one) => one !== file) })}>✕</button></li>`,
          )}</ul>`
    }
    ${share === null ? null : html`<p class="busy" role="status">${t('sending', { share: Math.round(share * 100) })}</p>`}
    <label class="attach" title=${t('add-files')}><input class="attach-field" type="file" multiple aria-label=${t('add-files')} onChange=${onChosen} />
      <svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="M20 11l-8 8a5 5 0 0 1-7-7l9-9a3.3 3.3 0 0 1 5 5l-9 9a1.7 1.7 0 0 1-2.4-2.4L15 7" /></svg></label>
    <textarea rows="2" value=${text} aria-label=${t('message')} placeholder=${t('message')} maxlength="20000" onInput=${onInput} onKeyDown=${onKeyDown} onPaste=${onPaste}></textarea>
    ${isAtWork && may('admin') ? html`<button type="button" title="/stop" onClick=${() => say(jid, '/stop')}>${t('stop')} <code>/stop</code></button>` : null}
    <button type="submit" class="main">${t('send')}</button>
  </form>`;
}
