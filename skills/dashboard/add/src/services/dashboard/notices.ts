import type { ServiceContext } from '../../host/contracts/service.ts';
import type { Notice, Push } from './push.ts';

/** A notification shows about so much. */
const SHOWN = 160;

/** Tells browsers that want it when a turn in a chat of the owner's is done, and when they are asked something. */
export function sendNotices(context: ServiceContext, push: Push): void {
  const { watch, store, owner, devices, log, now } = context;
  const turns = new Set<string>();

  watch((event) => {
    if (event.kind === 'began' && event.work === 'agent') turns.add(event.turn);
    if (event.kind === 'asked') {
      const question = owner.questions(event.jid).find(({ id }) => id === event.question);
      if (question?.isForOwner) tell(event.jid, `? ${question.text}`);
    }
    if (event.kind !== 'ended' || !turns.delete(event.turn)) return;
    const [last] = store.history.page(event.jid, null, 1);
    if (last?.kind === 'answer' && store.groups.byJid(event.jid)?.isMain)
      tell(event.jid, last.text);
  });

  function tell(jid: string, text: string): void {
    const title = store.groups.byJid(jid)?.name ?? context.assistantName;
    const notice: Notice = {
      title,
      body: text.slice(0, SHOWN),
      place: `/chat/${encodeURIComponent(jid)}`,
    };
    const allowed = devices.list().filter(({ scope }) => scope === 'admin');
    const ids = allowed.map(({ id }) => id);
    // What fails is in the log; the chat has what happened.
    void push.send(notice, ids, now()).then((failures) => {
      for (const failure of failures) log.warn('a browser was not told', { failure });
    });
  }
}
