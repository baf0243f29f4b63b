import { printable } from '../../supervisor/console/printable.ts';
import type { ExportFacts, ExportFormat } from './format.ts';

/**
 * Returns a page for people: a heading for each day, and an item for each message. Its further lines are
 * indented, so that no message can pass for another person's.
 */
export const markdownLines: ExportFormat = function* markdown(said, facts) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone });
  const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone });
  const isOne = facts.chats.length === 1;
  yield `# ${oneLine(facts.chats.map(({ name }) => name).join(', '))}`;
  yield '';
  yield `Times are of ${timeZone}.`;
  let last = '';
  let isEmpty = true;
  for (const { jid, at, sender, senderName, text } of said) {
    isEmpty = false;
    const today = day.format(at);
    if (today !== last) yield* ['', `## ${today}`, ''];
    last = today;
    const name = sender === null ? facts.assistantName : oneLine(senderName ?? sender);
    const where = isOne ? '' : ` in ${nameOf(facts, jid)}`;
    const [first = '', ...more] = printable(text).split('\n');
    yield `- **${time.format(at)} ${name}${where}:** ${first}`;
    yield* more.map((line) => (line === '' ? '' : `  ${line}`));
  }
  if (isEmpty) yield* ['', 'Nothing has been said here.'];
};

/** Returns an object for each message, for programs; times are of ISO 8601. */
export const jsonLines: ExportFormat = function* objects(said, facts) {
  for (const { jid, at, sender, senderName, isOwner, text } of said) {
    const isAssistant = sender === null;
    const line = JSON.stringify({
      at: new Date(at).toISOString(),
      chat: nameOf(facts, jid),
      jid,
      sender,
      name: isAssistant ? facts.assistantName : senderName,
      isOwner,
      isAssistant,
      text,
    });
    // JSON lets these through, and a terminal would obey them.
    yield line.replace(/[\u007f-\u009f]/g, (sign) => {
      return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
    });
  }
};

function nameOf({ chats }: ExportFacts, jid: string): string {
  return oneLine(chats.find((chat) => chat.jid === jid)?.name ?? jid);
}

function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}
