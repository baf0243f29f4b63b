import type { Shell, ShellEvents } from '../control/server.ts';
import type { Client, Clients } from './clients.ts';
import type { Lines } from './lines.ts';

export type ShellParts = {
  readonly lines: Lines;
  readonly clients: Clients;
};

/** Lets a connected shell take part: what it says is said in the owner's chat, and answered there. */
export function admitShell(shell: Shell, { lines, clients }: ShellParts): ShellEvents {
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
    acknowledged() {
      if (lines.isIdle(client)) shell.send({ kind: 'acknowledged' });
    },
  };
  shell.send({ kind: 'welcome', name: clients.name() });
  clients.join(client);
  return {
    onMessage(message) {
      if (message.kind === 'watch') client.isWatching = true;
      else lines.add(client, message.text);
    },
    onEnd: () => clients.leave(client),
  };
}
