import type { ConsoleDraft, ConsoleLine, ConsolePort } from '../channels/console-port.ts';
import { type ChildFrame, parseSupervisorFrame, type StartFrame } from './frames.ts';

/** The assistant's end of the channel to its supervisor. */
export interface SupervisorLink {
  /** Resolves with the first frame. */
  readonly started: Promise<StartFrame>;
  readonly ownerConsole: ConsolePort;
  send(frame: ChildFrame): void;
  /** From here on `complete` answers what the beginning of a command can become. */
  onComplete(complete: (typed: string) => readonly string[]): void;
  /** Registers a listener that is called once: when the supervisor asks for the end, or is gone. */
  onStop(listener: () => Promise<void>): void;
}

/** A process that was started with a channel for frames. */
export type ProcessWithChannel = Pick<NodeJS.Process, 'on' | 'send'>;

/** Connects with the supervisor that started this process. */
export function connectSupervisor(process: ProcessWithChannel): SupervisorLink {
  const { promise: started, resolve: onStart } = Promise.withResolvers<StartFrame>();
  const { promise: stopped, resolve: onStop } = Promise.withResolvers<void>();
  let start: StartFrame | null = null;
  let onLine: ((line: ConsoleLine) => void) | null = null;

  let complete: (typed: string) => readonly string[] = () => [];

  process.on('message', (value: unknown) => {
    const frame = parseSupervisorFrame(value);
    if (frame?.kind === 'start') {
      start = frame;
      onStart(frame);
    } else if (frame?.kind === 'line') onLine?.(frame);
    else if (frame?.kind === 'complete') {
      tell({ kind: 'completions', id: frame.id, lines: [...complete(frame.typed)] });
    } else if (frame?.kind === 'stop') onStop();
    else if (frame?.kind === 'ping') tell({ kind: 'pong' });
  });
  process.on('disconnect', () => onStop());
  process.on('SIGTERM', () => onStop());

  /** Resolves when the frame is with the supervisor; one that cannot be sent any more is dropped. */
  function send(frame: ChildFrame): Promise<void> {
    return new Promise((resolve, reject) => {
      if (process.send === undefined) return reject(new Error('the terminal is gone'));
      process.send(frame, undefined, undefined, (error) => (error ? reject(error) : resolve()));
    });
  }
  /** The draft that was sent last: of the next one, only what is new is sent. */
  let drafted = { id: '', text: '' };

  async function sendDraft({ id, text, activity, answersTo }: ConsoleDraft): Promise<void> {
    const from = drafted.id === id && text.startsWith(drafted.text) ? drafted.text.length : 0;
    drafted = { id, text };
    const added = text.slice(from);
    await send({ kind: 'draft', id, from, text: added, activity, answersTo: [...answersTo] });
  }

  const tell = (frame: ChildFrame): void => {
    // Only a supervisor that is gone takes no frames, and then `disconnect` has ended this process.
    send(frame).catch(() => {});
  };

  return {
    started,
    send: tell,
    onComplete(listener) {
      complete = listener;
    },
    onStop: (listener) => void stopped.then(listener),
    ownerConsole: {
      get awaiting() {
        return start?.awaiting ?? null;
      },
      print: (text, { answersTo, isProgress, replaces = null }) =>
        send({ kind: 'print', text, answersTo: [...answersTo], isProgress, replaces }),
      draft: sendDraft,
      dropDraft: (id) => send({ kind: 'draft-dropped', id }),
      open(prompt, listener) {
        onLine = listener;
        tell({ kind: 'prompt', text: prompt });
      },
      close() {
        onLine = null;
      },
      stored: (number) => tell({ kind: 'stored', number }),
      answered: (ids, end) => tell({ kind: 'answered', ids: [...ids], end }),
      asking: (ids, isOpen) => tell({ kind: 'asking', ids: [...ids], isOpen }),
      acknowledged: (number) => tell({ kind: 'acknowledged', number }),
    },
  };
}
