import type { Shell, ShellEvents } from '../control/server.ts';
import type { Audience, Participant } from './audience.ts';
import type { Lines } from './lines.ts';

export type ShellParts = {
  readonly lines: Lines;
  readonly audience: Audience;
};

/** Lets a connected shell take part: what it says is said in the owner's chat, and answered there. */
export function admitShell(shell: Shell, { lines, audience }: ShellParts): ShellEvents {
  const participant: Participant = {
    isOneByOne: false,
    isWatching: false,
    print: (text) => shell.send({ kind: 'answer', text }),
    progress: (text) => shell.send({ kind: 'progress', text }),
    notice: (text) => shell.send({ kind: 'notice', text }),
    setActivity: (text) => shell.send({ kind: 'activity', text }),
    acknowledged() {
      if (lines.isIdle(participant)) shell.send({ kind: 'acknowledged' });
    },
  };
  shell.send({ kind: 'welcome', name: audience.name() });
  audience.join(participant);
  return {
    onMessage(message) {
      if (message.kind === 'watch') participant.isWatching = true;
      else lines.add(participant, message.text);
    },
    onEnd: () => audience.leave(participant),
  };
}
