import type { AnswerEnd } from '../lib/answer-end.ts';
import type { Client, Clients } from './clients.ts';
import type { Shell, ShellEvents } from './control/server.ts';
import type { Lines } from './lines.ts';

export type ShellParts = {
  readonly lines: Lines;
  readonly clients: Clients;
  readonly complete: (typed: string) => Promise<readonly string[]>;
};

/** Lets a connected shell take part: what it says is said in the owner's chat, and answered there. */
export function admitShell(shell: Shell, { lines, clients, complete }: ShellParts): ShellEvents {
  /** Of all that it waits for; one without an answer is not hidden by later ones. */
  let end: AnswerEnd = 'answered';
  const client: Client = {
    isOneByOne: false,
    isWatching: false,
    print: (text, replaces = null) => shell.send({ kind: 'answer', text, replaces }),
    grow: (piece) =>
      shell.send(piece === null ? { kind: 'dropped' } : { kind: 'growing', ...piece }),
    progress: (text) => shell.send({ kind: 'progress', text }),
    notice: (text) => shell.send({ kind: 'notice', text }),
    setActivity: (text) => shell.send({ kind: 'activity', text }),
    asked: () => shell.send({ kind: 'asking' }),
    acknowledged(last) {
      if (last !== 'answered') end = last;
      if (!lines.isIdle(client)) return;
      shell.send({ kind: 'acknowledged', end });
      end = 'answered';
    },
  };
  shell.send({ kind: 'welcome', name: clients.name(), completes: true });
  clients.join(client);
  return {
    onMessage(message) {
      if (message.kind === 'watch') client.isWatching = true;
      else if (message.kind === 'complete') {
        const { id, typed } = message;
        void complete(typed).then((found) =>
          shell.send({ kind: 'completions', id, lines: [...found] }),
        );
      } else lines.add(client, message.text);
    },
    onEnd: () => clients.leave(client),
  };
}
