import { Command } from '../command.ts';
import { epoch, onLive } from '../live.ts';
import { Markdown } from '../markdown.ts';
import { count, get, moment, wordsOf } from '../page.ts';
import { html, signal, useEffect, useState, type VNode } from '../vendor.ts';
import { type LineChange, lineChanges } from './line-changes.ts';

// What is written down about a chat: its text, an editor, and each change with a way back.

const t = wordsOf('groups');

type Version = {
  readonly seq: number;
  readonly author: string;
  readonly at: number;
  readonly length: number;
};
type Known = {
  readonly now: { readonly seq: number; readonly text: string } | null;
  readonly versions: readonly Version[];
};
/** What is being written, and the version that it was made from. */
type Draft = { readonly from: number; readonly text: string };

/** By folder. What somebody writes stays while they look at something else. */
const drafts = signal<Readonly<Record<string, Draft>>>({});

/** A command takes no more. */
const LONGEST = 32_000;

/** @param name the chat as a command names it */
export function Memory({
  folder,
  name,
}: {
  readonly folder: string;
  readonly name: string;
}): VNode {
  const [memory, setMemory] = useState<Known | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const draft = drafts.value[folder] ?? null;
  const setDraft = (fresh: Draft | null) => {
    const { [folder]: _, ...others } = drafts.value;
    drafts.value = fresh === null ? others : { ...others, [folder]: fresh };
  };
  useEffect(() => {
    const read = () =>
      void get<Known>('groups/memory', { folder }).then(
        (found) => {
          setProblem(null);
          setMemory(found);
        },
        ({ message }) => setProblem(message),
      );
    read();
    return onLive((event) => event.kind === 'ended' && read());
  }, [folder, epoch.value]);
  if (problem !== null) return html`<p class="problem" role="alert">${problem}</p>`;
  if (memory === null) return html`<p class="hint" role="status">${t('reading')}</p>`;
  const { now, versions } = memory;
  const text = now?.text ?? '';
  const edit = () => setDraft({ from: now?.seq ?? 0, text });
  return html`${
    draft === null
      ? html`${text === '' ? html`<p class="hint">${t('no-memory')}</p>` : html`<${Markdown} text=${text} />`}
        <div class="row">${text.length > LONGEST ? html`<p class="hint">${t('too-long')}</p>` : html`<button type="button" onClick=${edit}>${t('edit')}</button>`}</div>`
      : html`<${Editor} name=${name} draft=${draft} now=${now} onDraft=${setDraft} />`
  }
    ${versions.length === 0 ? null : html`<h4>${t('history')}</h4>`}
    <ol class="versions">${versions.map(
      (version, at) =>
        html`<${Change} key=${version.seq} folder=${folder} name=${name} version=${version} isOldest=${at === versions.length - 1} />`,
    )}</ol>`;
}

function Editor({
  name,
  draft: { from, text },
  now,
  onDraft,
}: {
  readonly name: string;
  readonly draft: Draft;
  readonly now: Known['now'];
  readonly onDraft: (draft: Draft | null) => void;
}): VNode {
  const isWritten = now !== null && now.seq !== from && now.text.trim() === text.trim();
  useEffect(() => {
    if (isWritten) onDraft(null);
  }, [isWritten]);
  // A message ends with its last word: an empty text is a command of its own.
  const line =
    text.trim() === ''
      ? `memory ${name} empty ${from}`
      : `memory ${name} write ${from}\n${text.trimEnd()}`;
  const isOutdated = now !== null && now.seq !== from && !isWritten;
  const onInput = ({ currentTarget }: { readonly currentTarget: HTMLTextAreaElement }) =>
    onDraft({ from, text: currentTarget.value });
  return html`<div class="editor">
    ${
      isOutdated
        ? html`<div role="alert"><p class="problem">${t('outdated', { from, now: now.seq })}</p>
        <${Lines} changes=${lineChanges(now.text, text)} />
        <button type="button" onClick=${() => onDraft({ from: now.seq, text })}>${t('go-on', { now: now.seq })}</button></div>`
        : null
    }
    <textarea rows="12" maxlength=${LONGEST} aria-label=${t('memory')} value=${text} onInput=${onInput}></textarea>
    <div class="row">${isOutdated ? null : html`<${Command} line=${line} label=${t('save')} />`}
      <button type="button" onClick=${() => onDraft(null)}>${t('drop')}</button></div>
  </div>`;
}

function Change({
  folder,
  name,
  version: { seq, author, at, length },
  isOldest,
}: {
  readonly folder: string;
  readonly name: string;
  readonly version: Version;
  readonly isOldest: boolean;
}): VNode {
  const [changes, setChanges] = useState<readonly LineChange[] | null>(null);
  const onToggle = ({ currentTarget }: { readonly currentTarget: HTMLDetailsElement }) => {
    if (!currentTarget.open || changes !== null) return;
    void get<{ before: string; after: string } | null>('groups/version', { folder, seq }).then(
      (found) => found !== null && setChanges(lineChanges(found.before, found.after)),
    );
  };
  return html`<li><details onToggle=${onToggle}>
    <summary>${seq}: <time>${moment(at)}</time>, ${t(`by-${author}`)} <span class="tag">${t('characters', { count: count(length) })}</span></summary>
    ${changes === null ? null : html`<${Lines} changes=${changes} />`}
    ${isOldest ? null : html`<div class="row"><${Command} line=${`memory ${name} undo ${seq}`} label=${t('undo')} /></div>`}
  </details></li>`;
}

const SIGNS = { same: ' ', removed: '-', added: '+' } as const;

function Lines({ changes }: { readonly changes: readonly LineChange[] }): VNode {
  return html`<pre class="lines" tabindex="0">${changes.map(
    ({ kind, line }) => html`<span class=${kind}>${`${SIGNS[kind]} ${line}\n`}</span>`,
  )}</pre>`;
}
