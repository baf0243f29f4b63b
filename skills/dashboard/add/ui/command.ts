import { epoch, keepFresh, turns } from './live.ts';
import { Markdown } from './markdown.ts';
import { get, may, Problem, post, wordsOf } from './page.ts';
import { changes, Proof } from './proof.ts';
import {
  computed,
  html,
  signal,
  useEffect,
  useLayoutEffect,
  useRef,
  type VNode,
} from './vendor.ts';

const t = wordsOf('main');

/** A question that is open in a chat. */
export type Question = {
  readonly id: string;
  readonly jid: string;
  readonly text: string;
  readonly options: readonly { readonly word: string; readonly label: string }[];
  readonly isForOwner: boolean;
};

/** Something that was said, as the history has it. */
export type Entry = {
  readonly kind: 'message' | 'answer';
  readonly seq: number;
  readonly sender: string | null;
  readonly isOwner: boolean;
  readonly at: number;
  readonly text: string;
  readonly length: number;
  readonly files: readonly {
    readonly name: string | null;
    readonly kind: string | null;
    readonly sizeBytes: number | null;
  }[];
};

export type Page = {
  readonly entries: readonly Entry[];
  readonly isAll: boolean;
  readonly questions: readonly Question[];
};

type Running = { readonly line: string; readonly jid: string; readonly after: number };

const running = signal<Running | null>(null);
const shown = signal<Page | null>(null);
const problem = signal<string | null>(null);
/** The chat of the command that the drawer shows: its questions are asked there, and not in the chat as well. */
export const jidOfDrawer = computed(() => running.value?.jid ?? null);
/** Whether a command of the page is shown with what comes of it. */
export const isDrawerOpen = computed(() => running.value !== null);

/** A button that says which command it runs. The command is said in the owner's own chat, with its plan and question. */
export function Command({
  line,
  label,
}: {
  readonly line: string;
  readonly label: string;
}): VNode | null {
  if (!may('admin')) return null;
  return html`<button type="button" class="command" title=${`/${headOf(line)}`} onClick=${() => run(line)}>
    ${label} <code>/${headOf(line)}</code>
  </button>`;
}

/** The first line of a command: below it a text may follow. */
function headOf(line: string): string {
  return line.split('\n', 1)[0] ?? line;
}

/** Runs an owner's command, and shows what comes of it below the panel. */
export async function run(line: string): Promise<void> {
  problem.value = null;
  shown.value = null;
  // What is in the drawer itself goes with it.
  const { activeElement } = document;
  if (activeElement?.closest('.drawer') === null) opener = activeElement as HTMLElement;
  try {
    const { jid } = await post<{ jid: string }>('chat/command', { text: line });
    const page = await get<Page>('chat/history', { jid });
    const said = page.entries.findLast(
      ({ kind, text }) =>
        kind === 'message' && text.startsWith(`/${headOf(line)}`) && `/${line}`.startsWith(text),
    );
    running.value = { line, jid, after: said?.at ?? 0 };
    shown.value = page;
  } catch (error) {
    running.value = { line, jid: '', after: 0 };
    problem.value = error instanceof Problem ? error.message : String(error);
  }
}

export async function answerQuestion({ jid, id }: Question, word: string): Promise<void> {
  await post('chat/answer', { jid, id, word });
}

/** The choices of a question, as buttons. */
export function Choices({ question }: { readonly question: Question }): VNode {
  return html`<div class="choices" role="group" aria-label=${t('your-answer')}>
    ${question.options.map(
      ({ word, label }) => html`<button type="button" key=${word} disabled=${!may('admin')}
        class=${word === 'yes' ? 'main' : ''}
        onClick=${() => answerQuestion(question, word)}>${label}</button>`,
    )}
  </div>`;
}

export function CommandDrawer(): VNode | null {
  const dialog = useRef<HTMLElement>(null);
  const command = running.value;
  // Whoever sees it can already close it by its key.
  useLayoutEffect(() => {
    if (command !== null) dialog.current?.focus();
  }, [command]);
  useEffect(() => {
    if (command === null || command.jid === '') return;
    const { jid } = command;
    return keepFresh(
      (event) => event.kind === 'hello' || (event.kind === 'chat' && event.jid === jid),
      async () => {
        shown.value = await get<Page>('chat/history', { jid });
      },
    );
  }, [command, epoch.value]);
  if (command === null) return null;
  const page = shown.value;
  const answers = page?.entries.filter(({ kind, at }) => kind === 'answer' && at >= command.after);
  const proofs = changes.value.filter(
    ({ jid, startedAt }) => jid === command.jid && startedAt >= command.after,
  );
  const isAtWork = turns.value.some(({ jid, work }) => jid === command.jid && work === 'command');
  return html`<section class="drawer" aria-label=${`/${headOf(command.line)}`} tabindex="-1" ref=${dialog}
    onKeyDown=${(event: KeyboardEvent) => event.key === 'Escape' && close()}>
    <header>
      <code>/${headOf(command.line)}</code>
      ${isAtWork ? html`<span class="busy" role="status">${t('at-work')}</span>` : null}
      <button type="button" onClick=${close} aria-label=${t('close')}>✕</button>
    </header>
    ${problem.value === null ? null : html`<p class="problem" role="alert">${problem.value}</p>`}
    ${proofs.map((change) => html`<${Proof} key=${change.turn} change=${change} />`)}
    <div class="outcome" aria-live="polite">
      ${answers?.map(({ seq, text }) => html`<${Markdown} key=${seq} text=${text} />`)}
      ${page?.questions.map((question) => html`<${Choices} key=${question.id} question=${question} />`)}
    </div>
  </section>`;
}

/** The button that has opened the drawer: it has the focus again when the drawer is closed. */
let opener: HTMLElement | null = null;

function close(): void {
  running.value = null;
  const place = opener?.isConnected ? opener : document.getElementById('content');
  place?.focus();
}
